/**
 * How long the notifications of one tenant take while a token of another sends the most expensive payloads within its limits: one kind
 * after the other, on four connections that send again as soon as they are answered. Run: node bench/neighbour.ts
 */
import { rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { ServerProcess } from '#test/support/server-process.ts';
import { benchFolder } from './machine.ts';
import { notification } from './notification-sample.ts';
import type { Paced, PaceOrder } from './open-loop.ts';
import { addKey, addTenants, addToken, prepare } from './prepared.ts';
import { call, forkScript, notifyRequest } from './processes.ts';
import { ms, table, whole } from './statistics.ts';

/** The most that a neighbour's notifications may take, at the 99th percentile. */
const barMs = 250;
const seconds = 5;
const perSecond = 20;
const attackers = 4;

interface Payload {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
  readonly isPacked?: boolean;
  /** Sent with the key of an admin. */
  readonly byAdmin?: boolean;
  /** Sent to the tenant whose rules have many regular expressions. */
  readonly toRegexes?: boolean;
}

const json = (path: string, value: unknown): Payload => ({
  path,
  type: 'application/json',
  body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
});
const events = (count: number, fields: object = { t: 'x' }) => Array.from({ length: count }, () => fields);
const mapping = { items: '/events', fields: { title: '{/t} {^/pad}', message: '{^/pad}'.repeat(20) } };
const custom = '/api/integrations/custom/hostile';
const alert = (i: number) => ({
  status: 'firing',
  labels: { alertname: `a${i}`, instance: `host-${i}`, severity: 'warning' },
  annotations: { summary: 'x'.repeat(2_000), description: 'y'.repeat(1_500) },
  startsAt: '2026-01-01T00:00:00Z',
});
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const kinds: Record<string, Payload | undefined> = {
  'nothing else': undefined,
  'a mapping that repeats blanks': json(custom, { pad: ' '.repeat(7_000), events: events(50) }),
  'a mapping with 1,000 items': json(custom, { pad: 'x', events: events(1_000, { t: 'y'.repeat(900) }) }),
  'a mapping that is refused': json(custom, { pad: ' '.repeat(900_000), events: events(1_000) }),
  'a preview of that mapping': {
    ...json('/api/mappings/preview', {
      mapping,
      payload: JSON.stringify({ pad: ' '.repeat(10_000), events: events(30) }),
    }),
    byAdmin: true,
  },
  'a form of percent signs': {
    path: '/api/integrations/slack',
    type: 'application/x-www-form-urlencoded',
    body: Buffer.from(`payload=${'%25'.repeat(340_000)}`),
  },
  'JSON of a million brackets': json('/api/integrations/alertmanager', '['.repeat(1_000_000)),
  'JSON of many short lists': json('/api/integrations/alertmanager', `[${'[],'.repeat(1_300_000)}0]`),
  'JSON of nested objects': json('/api/integrations/alertmanager', `[${`${nested(90)},`.repeat(4_000)}0]`),
  '4 MiB of alerts': json('/api/integrations/alertmanager', {
    version: '4',
    status: 'firing',
    alerts: Array.from({ length: 1_000 }, (_, i) => alert(i)),
  }),
  '4 MiB of zeros in gzip': {
    ...json('/api/integrations/alertmanager', ''),
    body: gzipSync(JSON.stringify({ alerts: [{ annotations: { summary: '0'.repeat(4_000_000) } }] })),
    isPacked: true,
  },
  'the slowest regular expressions': {
    ...json('/api/notify', {
      title: 'x',
      message: Array.from({ length: 16_384 }, (_, i) => 'ab'[(i * i * 7919) & 1]).join(''),
    }),
    toRegexes: true,
  },
};
/** As many of the slowest patterns as a tenant may have. */
const slowest = Array.from({ length: 750 }, (_, i) => `(?:[ab]+[ab]*)+a[ab]{100}[cd]${i}`);

const folder = benchFolder();
const { victim, attacker, admin, regexes, regexAdmin } = prepare(join(folder, 'belfry.db'), (db) => {
  const [a = 0, b = 0, c = 0] = addTenants(db, 3);
  return {
    victim: addToken(db, a),
    attacker: addToken(db, b),
    admin: addKey(db, b),
    regexes: addToken(db, c),
    regexAdmin: addKey(db, c),
  };
});
const server = await ServerProcess.start({ folder });
const sender = forkScript(new URL('./open-loop.ts', import.meta.url));
try {
  await put('PUT', '/api/mappings/hostile', admin, mapping);
  await put('POST', '/api/rules', regexAdmin, {
    name: 'slowest',
    when: { message: { regex: slowest } },
    then: { mute: true },
  });
  await pace(1);
  const rows = [];
  for (const [name, payload] of Object.entries(kinds)) rows.push(await measure(name, payload));
  console.log(
    table([
      [
        'beside',
        'p50',
        'p99',
        'most',
        `p99 within ${barMs} ms`,
        'refused',
        'answers to the other tenant, a second',
      ],
      ...rows,
    ]),
  );
} finally {
  sender.disconnect();
  await server.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

async function measure(name: string, payload: Payload | undefined): Promise<string[]> {
  const stop = attack(payload);
  await sleep(500);
  const { p50, p99, most, refused } = await pace(seconds).finally(stop);
  const answers = await stop();
  const told = Object.entries(answers).map(([status, count]) => `${status}: ${whole(count / seconds)}`);
  return [name, ms(p50), ms(p99), ms(most), p99 <= barMs ? 'yes' : 'no', String(refused), told.join(', ')];
}

/** The neighbour's notifications, at a fixed rate. */
function pace(lasting: number): Promise<Paced> {
  const request = notifyRequest(victim, JSON.parse(notification) as object);
  const order: PaceOrder = { port: server.port, request, perSecond, seconds: lasting, connections: 16 };
  return call<Paced>(sender, order);
}

/** Sends a payload again and again, and waits as long as a 429 says. The returned function ends it; answers by status. */
function attack(payload: Payload | undefined): () => Promise<Record<string, number>> {
  const ended = new AbortController();
  const answers: Record<string, number> = {};
  const loop = async () => {
    while (payload && !ended.signal.aborted) {
      const status = await post(payload);
      answers[status] = (answers[status] ?? 0) + 1;
      // A sender that does not wait is refused before its body is read.
      if (status === 429) await sleep(100);
    }
  };
  const loops = Promise.all(Array.from({ length: payload ? attackers : 0 }, loop));
  return async () => {
    ended.abort();
    await loops;
    return answers;
  };
}

function post({ path, type, body, isPacked, byAdmin, toRegexes }: Payload): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${toRegexes ? regexes : byAdmin ? admin : attacker}`,
      'content-type': type,
      'content-length': body.length,
      ...(isPacked && { 'content-encoding': 'gzip' }),
    };
    const request = httpRequest(`${server.url}${path}`, { method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    // A body that is refused before it is read ends with its connection.
    request.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' || error.code === 'ECONNRESET' ? resolve(429) : reject(error),
    );
    request.end(body);
  });
}

async function put(method: string, path: string, key: string, value: object): Promise<void> {
  const { ok, status } = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(value),
  });
  if (!ok) throw new Error(`${path} is answered ${status}`);
}
