import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseSecret } from '#core/people/secrets.ts';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';
import type { SseMessage } from '../support/sse-client.ts';
import { mibHeld, RawStream } from './streams-raw-client.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_TENANT: 'off', BELFRY_HEARTBEAT_MS: '400' });
});
afterAll(() => server.stop());

/** 48 kB on the way to a panel: this many are more than the system takes off the server's hands. */
const large = '漢'.repeat(16_000);
const many = 160;
async function newTenant() {
  const { tenant, token, send } = await server.newTenant();
  const path = async (name: string) =>
    (await server.call('POST', '/api/panels', { token, json: { name } })).json.events as string;
  const flood = async (): Promise<void> => {
    for (let i = 0; i < many; i += 20)
      await Promise.all(Array.from({ length: 20 }, () => send({ message: large })));
  };
  return { tenant, token, path, send, flood };
}
const positions = (messages: readonly SseMessage[]) =>
  messages.flatMap(({ event, data }) => (event === 'notification' ? [data.position as number] : []));
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

test('clients that do not read keep nobody from sending or being shown, hold one chunk, and get all when they do', async () => {
  const { tenant, token, path, flood, send } = await newTenant();
  const key = await server.key('viewer', tenant);
  const reader = await server.panel(token, 'Reads');
  const stalled = await Promise.all(
    upTo(10).map(async (i) => RawStream.open(server.url, await path(`Stalls ${i}`), token)),
  );
  const tail = await RawStream.open(server.url, '/api/history/stream', key);
  await flood();
  const last = await send();
  await reader.stream.next(({ data }) => data.id === last);
  expect(positions(reader.stream.messages)).toEqual(upTo(many + 1));
  reader.stream.close();
  // Of 7 MiB: some is the system's, one chunk of at most 64 KiB the server's, and the rest is in the log.
  await eventually(
    () => {
      for (const stream of stalled) expect(stream.bytesHeldByServer).toBeGreaterThan(0);
    },
    { timeout: 300_000 },
  );
  for (const stream of stalled) expect(stream.bytesHeldByServer).toBeLessThan(100_000);
  for (const [i, stream] of [...stalled.slice(0, 2), tail].entries()) {
    await stream.until(last);
    expect([i, positions(stream.events())]).toEqual([i, upTo(many + 1)]);
  }
  for (const each of [...stalled, tail]) each.close();
});

test('clients that do not read what a stream begins with hold little of it either, and get all of it when they do', async () => {
  const { tenant, token, path, flood, send } = await newTenant();
  await flood();
  const paths = await Promise.all(upTo(8).map((i) => path(`Stalls ${i}`)));
  const before = mibHeld();
  const stalled = await Promise.all(paths.map((each) => RawStream.open(server.url, each, token)));
  // Each is owed 7 MiB, of which no more is read at any time than it takes, until the system takes no more for it.
  let [mostMib, mostBytes] = [0, 0];
  do {
    // A second of its own for the server, which stands still during the look: on a busy machine that takes a second, too.
    await sleep(1_000);
    mostMib = Math.max(mostMib, mibHeld() - before);
    mostBytes = Math.max(mostBytes, ...stalled.map(({ bytesHeldByServer }) => bytesHeldByServer));
  } while (stalled.some(({ bytesHeldByServer }) => bytesHeldByServer === 0));
  expect(mostMib).toBeLessThan(30);
  expect(mostBytes).toBeLessThan(100_000);
  // Meanwhile one of those that are still to be sent is cleared, and one more comes.
  const cleared = (
    await server.call('GET', '/api/history?limit=1', {
      token: await server.key('viewer', tenant),
    })
  ).json.notifications[0];
  await server.call('POST', `/api/notifications/${cleared.id}/clear`, { token });
  const last = await send();
  const [stream] = stalled;
  await stream?.until(last);
  const messages = stream?.events() ?? [];
  expect(positions(messages)).toEqual([...upTo(many - 1), many + 2]);
  expect(messages.find(({ event }) => event === 'heartbeat')?.data.head).toBe(many);
  expect(messages.find(({ event }) => event === 'clear')?.data).toMatchObject({
    id: cleared.id,
    position: many + 1,
  });
  for (const each of stalled) each.close();
});

test('a client that lost its connection while it did not read resumes by its cursor', async () => {
  const { token, path, flood, send } = await newTenant();
  const events = await path('Breaks');
  const first = await RawStream.open(server.url, events, token);
  await flood();
  await first.until('"position":20,');
  first.close();
  await first.ended;
  const got = first.events().filter(({ event }) => event === 'notification');
  expect(got.length).toBeLessThan(many);
  const second = await server.stream(events, token, got.at(-1)?.id);
  const last = await send();
  await second.next(({ data }) => data.id === last);
  expect(positions([...got, ...second.messages])).toEqual(upTo(many + 1));
  second.close();
});

test('a client that reads on after its token was revoked gets no more than was under way, and the server goes on', async () => {
  const { tenant, path, flood } = await newTenant();
  const doomed = await server.token({ tenant, scopes: ['panel'] });
  const events = await path('Revoked');
  const stream = await RawStream.open(server.url, events, doomed);
  await flood();
  const key = await server.key('admin', tenant);
  expect((await server.call('DELETE', `/api/tokens/${parseSecret(doomed)?.id}`, { token: key })).status).toBe(
    204,
  );
  // Then the server has ended the stream, and still waits for this client to take what was under way.
  const panel = events.replace('/events', '');
  await eventually(async () =>
    expect((await server.call('GET', panel, { token: key })).json.online).toBe(false),
  );
  stream.resume();
  await stream.ended;
  expect(positions(stream.events()).length).toBeLessThan(many);
  expect((await server.call('GET', '/healthz')).status).toBe(200);
});
