import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';
import type { SseReader } from '../support/sse-client.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

async function newTenant() {
  const made = await server.newTenant();
  const tail = async (q?: string) => {
    const stream = await server.stream(
      `/api/history/stream${q === undefined ? '' : `?q=${encodeURIComponent(q)}`}`,
      made.key,
    );
    await stream.next(({ event }) => event === 'ready');
    return stream;
  };
  return { ...made, tail };
}
const idsOf = ({ messages }: SseReader) =>
  messages.filter(({ event }) => event === 'notification').map(({ data }) => data.id);

test('a tail tells what is new, in order, as the page tells it, and nothing of before', async () => {
  const { send, tail, key } = await newTenant();
  await send({ title: 'before' });
  const stream = await tail();
  expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream\b/);
  expect(stream.response.headers.get('cache-control')).toBe('no-store, no-transform');
  expect(stream.messages[0]).toMatchObject({
    event: 'ready',
    data: { serverTime: expect.any(String), head: 1 },
  });
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) ids.push(await send({ title: `n${i}`, host: 'db' }));
  await stream.next(({ data }) => data.id === ids.at(-1));
  expect(idsOf(stream)).toEqual(ids);
  const { json } = await server.call('GET', '/api/history?limit=30', { token: key });
  expect(stream.messages.flatMap(({ event, data }) => (event === 'notification' ? [data] : []))).toEqual(
    json.notifications.toReversed(),
  );
  stream.close();
});

test('a tail of a query tells what the page of that query finds', async () => {
  const { send, tail, key } = await newTenant();
  await server.call('POST', '/api/rules', {
    token: key,
    json: { name: 'mute', when: { host: ['noisy'] }, then: { mute: true } },
  });
  const queries = ['host:db-* level:>=warning', '"is full"', 'is:muted', '-host:*', 'ip:10.0.0.0/8 OR key:k'];
  const streams = await Promise.all(queries.map((q) => tail(q)));
  for (const json of [
    { host: 'db-1', level: 'error' },
    { host: 'db-1' },
    { title: 'the disk is full' },
    { title: 'the disk is not full', key: 'k' },
    { host: 'noisy', ip: '10.0.0.1' },
    { host: 'web', level: 'critical' },
  ]) {
    await send(json);
  }
  for (const [i, q] of queries.entries()) {
    const { json } = await server.call('GET', `/api/history?q=${encodeURIComponent(q)}`, { token: key });
    const expected = json.notifications.map(({ id }: { id: string }) => id).toReversed();
    expect([q, expected.length]).not.toEqual([q, 0]);
    const stream = streams[i] as SseReader;
    await stream.next(({ data }) => data.id === expected.at(-1));
    expect([q, idsOf(stream)]).toEqual([q, expected]);
    stream.close();
  }
});

test('a tail keeps up with many at once, each once and in order', async () => {
  const { send, tail } = await newTenant();
  const stream = await tail();
  await Promise.all(Array.from({ length: 300 }, () => send()));
  const last = await send();
  await stream.next(({ data }) => data.id === last);
  const positions = stream.messages.flatMap(({ event, data }) =>
    event === 'notification' ? [data.position] : [],
  );
  expect(positions).toEqual(Array.from({ length: 301 }, (_, i) => i + 1));
  stream.close();
});

test('a level made after the tail began is known to it', async () => {
  const { send, tail, key } = await newTenant();
  const stream = await tail('level:>=warning');
  await server.call('PUT', '/api/levels/deploy', { token: key, json: { rank: 45 } });
  const id = await send({ level: 'deploy' });
  await stream.next(({ data }) => data.id === id);
  expect(idsOf(stream)).toEqual([id]);
  stream.close();
});

test('tails of two tenants show their own notifications only', async () => {
  const [a, b] = [await newTenant(), await newTenant()];
  const [ofA, ofB] = [await a.tail(), await b.tail()];
  const toA = await a.send();
  const toB = await b.send();
  await ofA.next(({ data }) => data.id === toA);
  await ofB.next(({ data }) => data.id === toB);
  expect([idsOf(ofA), idsOf(ofB)]).toEqual([[toA], [toB]]);
  for (const stream of [ofA, ofB]) stream.close();
});

test('a tenant has at most 500 streams of history open; one that ends or never begins leaves room', async () => {
  const [own, other] = [await newTenant(), await newTenant()];
  const path = '/api/history/stream';
  const ask = (q = '') => server.call('HEAD', path + q, { token: own.key });
  for (let i = 0; i < 510; i++) expect((await ask('?q=is:nonsense')).status).toBe(400);
  const open: SseReader[] = [];
  while (open.length < 500) open.push(...(await Promise.all(Array.from({ length: 50 }, () => own.tail()))));
  const refused = await server.call('GET', path, { token: own.key });
  expect([refused.status, refused.headers.get('retry-after'), refused.json.error]).toEqual([
    429,
    '30',
    'this tenant has 500 streams of history running, the most at once: try again when one has ended',
  ]);
  (await other.tail()).close();
  open.pop()?.close();
  await eventually(async () => expect((await ask()).status).toBe(200));
  for (const stream of open) stream.close();
});
