/**
 * What labels and alarms cost. A notification without labels and one with eight of them: intake, processor time, memory, bytes. With
 * BENCH_BEFORE, the folder of a built checkout of an earlier version, the same of that version, in alternating rounds. Then the list of
 * 5,000 open alarms, and actions on many of them beside another tenant. Run: node bench/alarms.ts
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { environment } from '#test/support/environment.ts';
import { freePort } from '#test/support/free-port.ts';
import { root, ServerProcess } from '#test/support/server-process.ts';
import { bearer, loadTool, type MeasuredLoad, measureLoad } from './http-load.ts';
import { benchFolder, residentMiB } from './machine.ts';
import { notification } from './notification-sample.ts';
import type { Paced, PaceOrder } from './open-loop.ts';
import { addKey, addTenants, addToken, prepare } from './prepared.ts';
import { call, forkScript, notifyRequest } from './processes.ts';
import { type Published, type PublishOrder, stampPlace } from './publishing.ts';
import { median, micros, ms, percent, quantile, spread, table, whole } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 12);
const seconds = 3;
const connections = 64;
const stored = Number(process.env.BENCH_STORED ?? 200_000);
const before = process.env.BENCH_BEFORE;
const listed = 5_000;
const most = 10_000;
/** Reads of a list before those that are measured. */
const warmUp = 20;
/** The most that a neighbour's notifications may take, at the 99th percentile. */
const barMs = 250;

const plain = JSON.parse(notification) as object;
const labels = {
  ...{ env: 'prod', site: 'plant-2', cluster: 'eu-1', team: 'storage' },
  ...{ job: 'node', alertname: 'DiskAlmostFull', device: 'sda1', rack: 'r-12' },
};

/** A version with notifications of some kind. */
interface Contender {
  readonly name: string;
  readonly checkout: string;
  readonly fields: object;
  /** The contender that it is compared with. */
  readonly against?: string;
}

const contenders: readonly Contender[] = [
  ...(before ? [{ name: 'before, without labels', checkout: before, fields: plain }] : []),
  { name: 'without labels', checkout: root, fields: plain, against: 'before, without labels' },
  { name: 'with 8 labels', checkout: root, fields: { ...plain, labels }, against: 'without labels' },
];

interface Found {
  /** One for each round. */
  readonly loads: readonly MeasuredLoad[];
  /** MiB after {@link stored} notifications. */
  readonly memory: readonly number[];
  /** Of a notification in history, once it is on no panel, with its share of the indexes. */
  readonly bytes: number;
}

const folder = benchFolder();
try {
  console.log(
    `Load by ${loadTool} on ${connections} connections, servers in turn, ${rounds} rounds of ${seconds} s; processor time of one notification on each thread. Memory and bytes after ${whole(stored)} notifications.\n`,
  );
  console.log(table(await compare()));
  console.log(`\n${await many()}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function compare(): Promise<string[][]> {
  const loads = await takeTurns();
  const found = new Map<string, Found>();
  for (const each of contenders)
    found.set(each.name, { loads: loads.get(each) ?? [], ...(await fill(each)) });
  const head = ['notifications', 'a second', 'main thread', 'writer', 'memory', 'bytes'];
  return [head, ...contenders.map((each) => describe(each, found))];
}

function describe({ name, against }: Contender, found: ReadonlyMap<string, Found>): string[] {
  const own = found.get(name) as Found;
  const other = found.get(against ?? '');
  const cell = (of: (found: Found) => readonly number[], write: (value: number) => string) => {
    const value = write(median(of(own)));
    if (!other) return value;
    const others = of(other);
    return `${value}: ${spread(
      of(own).map((each, i) => each / (others[i] as number)),
      percent,
    )}`;
  };
  return [
    name + (other ? `, against ${against}` : ''),
    cell(({ loads }) => loads.map(({ perSecond }) => perSecond), whole),
    cell(({ loads }) => loads.map(({ mainMicros }) => mainMicros), micros),
    cell(({ loads }) => loads.map(({ writerMicros }) => writerMicros), micros),
    cell(
      ({ memory }) => memory,
      (value) => `${whole(value)} MiB`,
    ),
    cell(({ bytes }) => [bytes], whole),
  ];
}

/** All servers run at once and have the load in short turns: a machine that is slow for a while is slow for all of them. */
async function takeTurns(): Promise<ReadonlyMap<Contender, readonly MeasuredLoad[]>> {
  const turns: { contender: Contender; server: ServerProcess; token: string; loads: MeasuredLoad[] }[] = [];
  try {
    for (const [n, contender] of contenders.entries()) {
      const own = join(folder, `turns-${n}`);
      const token = fresh(contender.checkout, own);
      turns.push({ contender, server: await start(contender.checkout, own), token, loads: [] });
    }
    for (let round = -1; round < rounds; round++)
      for (const { contender, server, token, loads } of round % 2 === 0 ? turns : turns.toReversed()) {
        const load = { headers: [bearer(token)], body: JSON.stringify(contender.fields), connections };
        const result = await measureLoad(server, { ...load, seconds });
        // The first round warms up.
        if (round >= 0) loads.push(result);
      }
  } finally {
    for (const { server } of turns) await server.end('SIGTERM');
  }
  return new Map(turns.map(({ contender, loads }) => [contender, loads]));
}

/** What many notifications take, each of them another one, and on no panel soon. */
async function fill({ checkout, fields }: Contender): Promise<Omit<Found, 'loads'>> {
  const memory: number[] = [];
  let bytes = 0;
  for (let round = 0; round < 3; round++) {
    const own = join(folder, 'fill');
    const token = fresh(checkout, own);
    const empty = databaseBytes(join(own, 'belfry.db'));
    const server = await start(checkout, own);
    const publisher = forkScript(new URL('./publisher.ts', import.meta.url));
    const request = notifyRequest(token, { ...fields, title: `Disk ${stampPlace} almost full`, ttl: 1_000 });
    await call<Published>(publisher, {
      ...{ port: server.port, request, count: stored, connections, perSecond: null },
    } satisfies PublishOrder);
    publisher.disconnect();
    await sleep(5_000);
    memory.push(residentMiB(server.pid));
    await server.end('SIGTERM');
    bytes = (databaseBytes(join(own, 'belfry.db')) - empty) / stored;
  }
  return { memory, bytes };
}

/** A folder with an empty database, and a token for it. */
function fresh(checkout: string, own: string): string {
  const kept = join(folder, checkout === root ? 'fresh' : 'fresh-before');
  rmSync(own, { recursive: true, force: true });
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(kept, { recursive: true });
  const tenant = ['token', 'create', '--tenant', 'default', '--name', 'bench'];
  const main = join(checkout, 'dist/server/main.js');
  const text = execFileSync(process.execPath, [main, ...tenant], {
    env: environment(kept),
    encoding: 'utf8',
  });
  cpSync(kept, own, { recursive: true });
  return text.trim();
}

async function start(checkout: string, own: string): Promise<ServerProcess> {
  const options = ['--max-semi-space-size=12', '--no-parallel-scavenge'];
  const env = environment(own, { BELFRY_PORT: String(await freePort()) });
  return ServerProcess.run(
    [process.execPath, ...options, join(checkout, 'dist/server/main.js'), 'serve'],
    env,
  );
}

/** The size of what the database contains. */
function databaseBytes(path: string): number {
  const copy = `${path}.copy`;
  rmSync(copy, { force: true });
  const db = new DatabaseSync(path);
  db.exec(`VACUUM INTO '${copy}'`);
  db.close();
  return statSync(copy).size;
}

/** The list of open alarms, and what people do to many of them. */
async function many(): Promise<string> {
  const own = join(folder, 'many');
  mkdirSync(own);
  const { token, key, victim } = prepare(join(own, 'belfry.db'), (db) => {
    const [a = 0, b = 0] = addTenants(db, 2);
    return { token: addToken(db, a), key: addKey(db, a), victim: addToken(db, b) };
  });
  const server = await ServerProcess.start({ folder: own });
  const publisher = forkScript(new URL('./publisher.ts', import.meta.url));
  const neighbour = forkScript(new URL('./open-loop.ts', import.meta.url));
  const send = (count: number, host: string) =>
    call<Published>(publisher, {
      ...{ port: server.port, count, connections, perSecond: null },
      request: notifyRequest(token, { ...plain, host, title: `Disk ${stampPlace} almost full`, ttl: 0 }),
    } satisfies PublishOrder);
  const api = async (path: string, json?: object): Promise<{ took: number; answer: unknown }> => {
    const began = performance.now();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = json && { method: 'POST', body: JSON.stringify(json) };
    const response = await fetch(`${server.url}${path}`, { headers, ...body });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    return { took: performance.now() - began, answer };
  };
  const pace = (secondsLong: number) =>
    call<Paced>(neighbour, {
      ...{ port: server.port, perSecond: 20, seconds: secondsLong, connections: 16 },
      request: notifyRequest(victim, plain),
    } satisfies PaceOrder);
  try {
    await pace(1);
    await send(434, 'core-1');
    await send(listed - 434, 'edge-1');
    const rows = [['what', 'p50 or duration', 'p99', "a neighbour's p99", 'goal']];
    for (const [name, path] of [
      ['the first page of 5,000 open alarms', '/api/alarms?limit=100'],
      ['of those, one host', '/api/alarms?limit=100&q=host:core-1'],
      ['of those, a word', '/api/alarms?limit=100&q=almost'],
    ] as const) {
      for (let turn = 0; turn < warmUp; turn++) await api(path);
      const took: number[] = [];
      for (let turn = 0; turn < 200; turn++) took.push((await api(path)).took);
      const p99 = quantile(took, 0.99);
      rows.push([
        name,
        ms(quantile(took, 0.5)),
        ms(p99),
        '',
        `p99 ≤ 50 ms: ${p99 <= 50 ? 'reached' : 'missed'}`,
      ]);
    }
    const act = async (name: string, count: number, json: object, goal: number) => {
      const paced = pace(5);
      await sleep(500);
      const { took, answer } = await api('/api/alarms/actions', json);
      const { p99 } = await paced;
      const { done } = answer as { done: number };
      const isReached = done === count && took <= goal && p99 <= barMs;
      rows.push([
        `${name} ${whole(done)}`,
        ms(took),
        '',
        ms(p99),
        `≤ ${goal / 1_000} s, the neighbour's ≤ ${barMs} ms: ${isReached ? 'reached' : 'missed'}`,
      ]);
    };
    await act('acknowledge', 434, { action: 'acknowledge', q: 'host:core-1' }, 1_000);
    await send(most - listed, 'edge-2');
    const hour = 3_600_000;
    await act('acknowledge', most, { action: 'acknowledge', q: 'almost' }, 10_000);
    await act('shelve', most, { action: 'shelve', q: 'almost', forMs: hour }, 10_000);
    await act('clear', most, { action: 'clear', q: 'is:shelved' }, 10_000);
    return table(rows);
  } finally {
    publisher.disconnect();
    neighbour.disconnect();
    await server.end('SIGTERM');
  }
}
