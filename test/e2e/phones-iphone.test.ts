import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { basic, parseStrictly } from '#test/support/ntfy-client.ts';
import { patienceMs } from '#test/support/patience.ts';
import { TestServer } from '#test/support/server.ts';
import { phoneWorld } from './phones-world.ts';

const base = 'https://belfry.example.org';

interface Asked {
  readonly url: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/** The requests that the upstream got, and how it answers the next ones. */
const asked: Asked[] = [];
const answers: { status: number; headers?: Record<string, string> }[] = [];
let upstream: Server;
let server: TestServer;

beforeAll(async () => {
  upstream = createServer((request, response) => {
    asked.push({ url: request.url ?? '', method: request.method ?? '', headers: request.headers });
    const { status, headers } = answers.shift() ?? { status: 200 };
    response.writeHead(status, headers).end('{}');
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  server = await TestServer.start({
    BELFRY_BASE_URL: base,
    BELFRY_NTFY_UPSTREAM: `http://127.0.0.1:${port}`,
    BELFRY_NTFY_UPSTREAM_TOKEN: 'tk_upstream',
    BELFRY_OUTBOUND_ALLOW: '127.0.0.1',
  });
});
afterAll(async () => {
  await server.stop();
  upstream.close();
});

const hashOf = (topic: string) => createHash('sha256').update(`${base}/ntfy/${topic}`).digest('hex');
const askedFor = (topic: string) => asked.filter(({ url }) => url === `/${hashOf(topic)}`);
const ids = (topic: string) => askedFor(topic).map(({ headers }) => headers['x-poll-id']);
const wakes = (topic: string, count: number) =>
  expect.poll(() => askedFor(topic).length, { timeout: patienceMs }).toBe(count);

/** Topics of each test are its own, as the upstream is the same for all. */
async function iphoneWorld() {
  const world = await phoneWorld(server);
  const headers = { ...basic(world.phone), 'user-agent': 'ntfy/1.8.0 (build 1; iOS 18.5.0)' };
  const poll = async (path: string) => {
    const { status, text } = await server.call('GET', `/ntfy/${path}`, { headers });
    expect(status).toBe(200);
    return text.split('\n').filter(Boolean).map(parseStrictly);
  };
  return { ...world, poll, android: world.poll };
}

test('an iPhone that has read a topic is woken for each of its messages, and fetches exactly that message', async () => {
  const { poll, send, panels } = await iphoneWorld();
  expect(await poll('Ada1/json?poll=1&since=all')).toEqual([]);
  await expect
    .poll(panels, { timeout: patienceMs })
    .toMatchObject([{ topic: 'Ada1', kind: 'phone', version: 'ntfy/1.8.0', lastSeenAt: expect.any(String) }]);
  await send({ title: 'one', key: 'k', level: 'error' });
  await wakes('Ada1', 1);
  await send({ title: 'two', key: 'k', level: 'error' });
  await wakes('Ada1', 2);
  const [first] = askedFor('Ada1');
  expect(first).toMatchObject({
    method: 'POST',
    headers: { authorization: 'Bearer tk_upstream', 'content-length': '0' },
  });
  const [one, two] = ids('Ada1');
  expect(await poll(`Ada1/json?poll=1&id=${two}`)).toMatchObject([
    { event: 'message', id: two, title: 'two' },
  ]);
  // Although the second one has taken its place.
  expect(await poll(`Ada1/json?poll=1&id=${one}`)).toMatchObject([
    { event: 'message', id: one, title: 'one' },
  ]);
});

test('nobody is woken for what is taken off, and an iPhone never gets it; for what comes back it is', async () => {
  const { poll, android, send, call } = await iphoneWorld();
  await poll('off1/json?poll=1&since=all');
  const id = await send({ title: 'disk', level: 'error' });
  await wakes('off1', 1);
  const after = ids('off1')[0];
  await call('POST', `/api/alarms/${id}/acknowledge`, {});
  expect(await android(`off1/json?poll=1&since=${after}`)).toMatchObject([{ event: 'message_clear' }]);
  expect(await poll(`off1/json?poll=1&since=${after}`)).toEqual([]);
  await call('DELETE', `/api/alarms/${id}/acknowledge`);
  await wakes('off1', 2);
  const back = ids('off1')[1];
  expect(await poll(`off1/json?poll=1&id=${back}`)).toMatchObject([{ event: 'message', title: 'disk' }]);
});

test('phones with Android, other panels, and levels that the panel leaves out wake nobody', async () => {
  const { poll, android, send, call, panels, register } = await iphoneWorld();
  const other = await register('elsewhere1');
  await android('elsewhere1/json?poll=1');
  await poll('few1/json?poll=1');
  const few = (await panels()).find(({ topic }: { topic: string }) => topic === 'few1');
  await call('PATCH', `/api/panels/${few.id}`, { display: { minLevel: 'error' } });
  await send({ title: 'quiet', level: 'info' });
  await send({ title: 'loud', level: 'error' });
  await wakes('few1', 1);
  expect(await poll(`few1/json?poll=1&id=${ids('few1')[0]}`)).toMatchObject([{ title: 'loud' }]);
  expect(other).toBeTypeOf('string');
  expect(askedFor('elsewhere1')).toEqual([]);
});

test('an upstream that asks for a pause is asked again after it, with nothing lost', async () => {
  const { poll, send } = await iphoneWorld();
  await poll('pause1/json?poll=1');
  answers.push({ status: 429, headers: { 'retry-after': '1' } });
  await send({ title: 'one' });
  await send({ title: 'two' });
  await wakes('pause1', 3);
  const [refused, ...sent] = ids('pause1');
  expect(sent[0]).toBe(refused);
  expect(new Set(sent).size).toBe(2);
});
