import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseCursor } from '#contract/panels/sse.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw-http.ts';
import { TestServer } from '../support/server.ts';
import type { SseReader } from '../support/sse-client.ts';

let server: TestServer;
let token: string;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  [token, key] = [await server.token(), await server.key('admin')];
});
afterAll(() => server.stop());

/** A tenant of its own with a panel, so that its log begins at 1. */
async function newWall() {
  const { tenant, token: own, send } = await server.newTenant();
  const { json: panel } = await server.call('POST', '/api/panels', {
    token: own,
    json: { name: 'P', tags: ['noc'] },
  });
  const open = (cursor?: string, query = '') => server.stream(`${panel.events}${query}`, own, cursor);
  return { tenant, token: own, panel, open, send };
}
const ready = (stream: SseReader) => stream.next(({ event }) => event === 'ready');
/** Everything up to the first heartbeat, which closes what a stream begins with. */
async function opening(stream: SseReader) {
  await stream.next(({ event }) => event === 'heartbeat');
  return stream.messages.slice(0, stream.messages.findIndex(({ event }) => event === 'heartbeat') + 1);
}

test('the stream is one that no proxy holds back or keeps', async () => {
  const { open } = await newWall();
  const stream = await open();
  expect(stream.response.status).toBe(200);
  const { headers } = stream.response;
  expect(headers.get('content-type')).toMatch(/^text\/event-stream\b/);
  expect(headers.get('cache-control')).toBe('no-store, no-transform');
  expect(headers.get('x-accel-buffering')).toBe('no');
  expect(headers.get('content-encoding')).toBeNull();
  stream.close();
});

/** The chunks of a body in the chunked encoding, of which the last may still be missing. A character is a byte. */
function chunksOf(body: string): string[] {
  const chunks: string[] = [];
  for (let at = 0; at < body.length; ) {
    const [line = '', size = ''] = /^([0-9a-f]+)\r\n/.exec(body.slice(at, at + 20)) ?? [];
    const begin = at + line.length;
    at = begin + Number.parseInt(size, 16) + 2;
    // A heartbeat that has not arrived whole.
    if (!(at <= body.length)) break;
    expect(body.slice(at - 2, at)).toBe('\r\n');
    chunks.push(body.slice(begin, at - 2));
  }
  return chunks;
}

test('over HTTP/1.1 each write is a chunk of whole events, and the last chunk ends it', async () => {
  const { token: own, panel, tenant, send } = await newWall();
  const connection = await RawConnection.open(server.url);
  await connection.write(`GET ${panel.events} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${own}\r\n\r\n`);
  await expect.poll(() => connection.unread).toContain('event: heartbeat');
  const id = await send({ title: 'Žluťoučký 🔔' });
  await expect.poll(() => connection.unread).toContain(`"${id}"`);
  await send({ title: 'last' });
  await expect.poll(() => connection.unread).toMatch(/"last"[\s\S]*\n\n\r\n$/);
  const [head = '', ...rest] = connection.unread.split('\r\n\r\n');
  expect(head.toLowerCase()).toContain('\r\ntransfer-encoding: chunked');
  const chunks = chunksOf(rest.join('\r\n\r\n'));
  for (const chunk of chunks) expect(chunk).toMatch(/^(?:retry|id|event): [\s\S]*\n\n$/);
  expect(chunks[0]).toContain('event: ready');
  expect(Buffer.from(chunks.join(''), 'latin1').toString()).toContain('Žluťoučký 🔔');
  const admin = await server.key('admin', tenant);
  await server.call('DELETE', `/api/panels/${panel.id}`, { token: admin });
  const [answer] = await connection.next();
  expect(answer?.body).toContain('"last"');
  await connection.closed;
});

test('over HTTP/1.0 the body is the events alone, and ends with the connection', async () => {
  const { token: own, panel, tenant, send } = await newWall();
  const connection = await RawConnection.open(server.url);
  await connection.write(
    `GET ${panel.events} HTTP/1.0\r\nTE: chunked\r\nAuthorization: Bearer ${own}\r\n\r\n`,
  );
  await expect.poll(() => connection.unread).toContain('event: heartbeat');
  const id = await send();
  await expect.poll(() => connection.unread).toContain(`"${id}"`);
  const [head = '', body = ''] = connection.unread.split('\r\n\r\n');
  expect(head.toLowerCase()).not.toContain('transfer-encoding');
  expect(body).toMatch(/^retry: /);
  expect(body).not.toContain('\r');
  const admin = await server.key('admin', tenant);
  await server.call('DELETE', `/api/panels/${panel.id}`, { token: admin });
  await connection.closed;
});

test('ready comes first and has panel, levels, time, heartbeat, head and how the stream goes on', async () => {
  const { open, panel, tenant, send } = await newWall();
  await server.call('PATCH', `/api/panels/${panel.id}`, {
    token: await server.key('admin', tenant),
    json: { display: { scheme: 'dark' } },
  });
  await send();
  const before = Date.now();
  const stream = await open();
  await ready(stream);
  const [first] = stream.messages;
  expect(first).toMatchObject({
    event: 'ready',
    id: undefined,
    data: {
      panel: { id: panel.id, name: 'P', tags: ['noc'], location: null, display: { scheme: 'dark' } },
      tenant: { name: tenant, title: tenant, timeZone: 'UTC' },
      heartbeatMs: 15_000,
      head: 1,
      resume: 'live',
      epoch: expect.stringMatching(/^[0-9a-z]+$/),
    },
  });
  const { levels } = (await server.call('GET', '/api/levels', { token: await server.key('viewer', tenant) }))
    .json;
  expect(first?.data.levels).toEqual(levels);
  expect(Date.parse(first?.data.serverTime)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(first?.data.serverTime)).toBeLessThanOrEqual(Date.now());
  stream.close();
});

test('each connection is given its own time to wait before it comes back, of 2 to 8 seconds', async () => {
  const { panel, token: own } = await newWall();
  const waits = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const abort = new AbortController();
      const response = await fetch(server.url + panel.events, {
        headers: { authorization: `Bearer ${own}` },
        signal: abort.signal,
      });
      let text = '';
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.includes('\n\n')) break;
      }
      abort.abort();
      return Number(/^retry: (\d+)$/m.exec(text)?.[1]);
    }),
  );
  for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(2_000);
  for (const wait of waits) expect(wait).toBeLessThanOrEqual(8_000);
  expect(new Set(waits).size).toBeGreaterThan(1);
});

test('without a cursor it begins with what the panel should be showing, in order, each with its own id, closed by the head', async () => {
  const { open, send, token: own } = await newWall();
  const [cleared, error, short, critical] = [
    await send(),
    await send({ ttl: 3_600_000 }),
    await send({ ttl: 1 }),
    await send({ level: 'critical' }),
  ];
  await server.call('POST', `/api/notifications/${cleared}/clear`, { token: own });
  const state = async () =>
    (await server.call('GET', `/api/notifications/${short}`, { token: own })).json.state;
  await eventually(async () => expect(await state()).toBe('expired'), { interval: 5 });
  const stream = await open();
  const messages = await opening(stream);
  const epoch = messages[0]?.data.epoch;
  expect(messages.map(({ event, id }) => [event, id])).toEqual([
    ['ready', undefined],
    ['notification', `${epoch}-2`],
    ['notification', `${epoch}-4`],
    ['heartbeat', `${epoch}-5`],
  ]);
  const [, shown, stays] = messages.map(({ data }) => data);
  expect(shown).toMatchObject({ id: error, ttl: 3_600_000 });
  expect(shown.remainingMs).toBeGreaterThan(3_000_000);
  expect(shown.remainingMs).toBeLessThanOrEqual(3_600_000);
  expect(stays).toMatchObject({ id: critical, remainingMs: null, expiresAt: null });
  expect(messages[3]?.data.head).toBe(5);
  const next = await send({ title: 'live' });
  expect(await stream.next(({ data }) => data.id === next)).toMatchObject({
    event: 'notification',
    id: `${epoch}-6`,
  });
  stream.close();
});

test('a notification event holds all that the sender and the service said of it', async () => {
  const { open, send } = await newWall();
  const stream = await open();
  await ready(stream);
  const id = await send({
    title: 'Türe 🚪',
    message: 'zwei\nZeilen\r\nund\u2028mehr',
    level: 'warning',
    ttl: 5_000,
    ip: '10.0.0.5',
    host: 'DB-01',
    key: 'k',
    url: 'https://example.org/x',
    labels: { env: 'prod' },
  });
  const { data, id: cursor } = await stream.next(({ event }) => event === 'notification');
  expect(data).toEqual({
    id,
    position: 1,
    title: 'Türe 🚪',
    message: 'zwei\nZeilen\r\nund\u2028mehr',
    level: 'warning',
    rank: 30,
    ttl: 5_000,
    ip: '10.0.0.5',
    host: 'DB-01',
    key: 'k',
    url: 'https://example.org/x',
    labels: { env: 'prod' },
    sourceIp: '127.0.0.1',
    receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    expiresAt: new Date(Date.parse(data.receivedAt) + 5_000).toISOString(),
    remainingMs: expect.any(Number),
    count: 0,
    acknowledged: null,
    escalated: null,
  });
  expect(parseCursor(cursor as string)?.position).toBe(1);
  stream.close();
});

test('of a large live set, the 500 highest in rank and then newest are sent, in order, and one that says that there are more', async () => {
  const { open, send } = await newWall();
  await send({ level: 'info', ttl: 0, title: 'low' });
  const old = await send({ title: 'old error' });
  const first = await send({ title: 'first error' });
  const second = await send({ title: 'second error' });
  const critical = await send({ level: 'critical', title: 'critical' });
  for (let i = 0; i < 498; i += 83) await Promise.all(Array.from({ length: 83 }, () => send()));
  const stream = await open();
  const shown = (await opening(stream))
    .filter(({ event }) => event === 'notification')
    .map(({ data }) => data);
  expect(shown).toHaveLength(501);
  const ids = shown.map(({ id }) => id);
  expect(ids.slice(0, 2)).toEqual([first, second]);
  expect(ids).toContain(critical);
  expect(ids).not.toContain(old);
  expect(shown.map(({ position }) => position)).toEqual(
    shown.map(({ position }) => position).toSorted((a, b) => a - b),
  );
  stream.close();
});

test.each([
  'x',
  '1',
  '-1',
  'abc',
  'e1-',
  'e1--1',
  'e1-01',
  'e1-1.5',
  'e1-1e3',
  'E1-1',
  'e1-99999999999999999',
  'e1-1 2',
  'ä-1',
  `${'e'.repeat(33)}-1`,
])('the cursor %j is malformed and refused, in the header and in the query', async (cursor) => {
  const { json: panel } = await server.call('POST', '/api/panels', { token, json: { name: 'Malformed' } });
  const latin = Buffer.from(cursor).toString('latin1');
  for (const [path, headers] of [
    [panel.events, { 'last-event-id': latin }],
    [`${panel.events}?last_event_id=${encodeURIComponent(cursor)}`, {}],
  ] as const) {
    const { status, json } = await server.call('GET', path, { token, headers });
    expect([status, json.error]).toEqual([400, expect.stringContaining('Last-Event-ID')]);
  }
});

test("a token without the panel scope is refused, and a viewer's key is not", async () => {
  const { json: panel } = await server.call('POST', '/api/panels', { token, json: { name: 'Scopes' } });
  expect(
    (await server.call('GET', panel.events, { token: await server.token({ scopes: ['notify', 'metrics'] }) }))
      .status,
  ).toBe(403);
  expect((await server.call('GET', panel.events)).status).toBe(401);
  for (const who of [await server.token({ scopes: ['panel'] }), await server.key('viewer'), key]) {
    const stream = await server.stream(panel.events, who);
    await ready(stream);
    stream.close();
  }
});
