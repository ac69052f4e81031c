import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { ApiError } from './call.ts';
import { createClient, createPairingCalls, sendUntil } from './client.ts';

interface Sent {
  method: string;
  path: string;
  headers: Headers;
  body: unknown;
}

/** A client whose server is a function. */
function clientOf(answer: () => Response | Promise<Response>) {
  const sent: Sent[] = [];
  const client = createClient({
    url: 'http://belfry.test/base/',
    token: 'bfy_x',
    fetch: async (input, init) => {
      const { method, url, headers } = new Request(input, init);
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
      sent.push({ method, path: url.replace('http://belfry.test', ''), headers, body });
      return answer();
    },
  });
  return { client, sent };
}

const json = (body: unknown, status = 200, headers = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });

test('sending posts the notification with its retry key', async () => {
  const { client, sent } = clientOf(() => json({ ok: true, id: 'i' }));
  expect(await client.send({ title: 'T', message: 'M', level: 'error' }, { idempotencyKey: 'k' })).toEqual({
    ok: true,
    id: 'i',
  });
  expect(sent[0]).toMatchObject({
    method: 'POST',
    path: '/base/api/notify',
    body: { title: 'T', message: 'M', level: 'error' },
  });
  expect(sent[0]?.headers.get('authorization')).toBe('Bearer bfy_x');
  expect(sent[0]?.headers.get('idempotency-key')).toBe('k');
});

test('each call has its method and path, with ids and queries escaped', async () => {
  const { client, sent } = clientOf(() =>
    json({ panels: [], cleared: true, recorded: 2, notifications: [], nextCursor: null }),
  );
  await client.registerPanel({ name: 'lobby' });
  expect(await client.listPanels()).toEqual([]);
  expect(await client.clear('a/b')).toBe(true);
  expect(await client.receipts('p/1', [])).toBe(2);
  await client.history();
  await client.history({ q: 'host:db-* & more', limit: 5, cursor: 'p9' });
  expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /base/api/panels',
    'GET /base/api/panels',
    'POST /base/api/notifications/a%2Fb/clear',
    'POST /base/api/panels/p%2F1/receipts',
    'GET /base/api/history',
    'GET /base/api/history?q=host%3Adb-*+%26+more&limit=5&cursor=p9',
  ]);
});

test('a refusal has the words of the server, and when to try again', async () => {
  const { client } = clientOf(() => json({ error: 'rate limit exceeded' }, 429, { 'retry-after': '3' }));
  await expect(client.listPanels()).rejects.toMatchObject({
    name: 'ApiError',
    status: 429,
    message: 'rate limit exceeded',
    retryAfterSeconds: 3,
  });
});

test('a refusal by something in between has its status', async () => {
  const { client } = clientOf(
    () => new Response('<h1>Bad Gateway</h1>', { status: 502, statusText: 'Bad Gateway' }),
  );
  await expect(client.listPanels()).rejects.toMatchObject({
    status: 502,
    message: 'the server answered 502 Bad Gateway',
  });
});

test('a success that is not JSON is no success', async () => {
  const { client } = clientOf(() => new Response('<h1>Welcome</h1>'));
  await expect(client.listPanels()).rejects.toMatchObject({
    status: 200,
    message: expect.stringContaining('not JSON'),
  });
});

test('no answer at all has status 0 and says why', async () => {
  const { client } = clientOf(() => {
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') });
  });
  await expect(client.listPanels()).rejects.toMatchObject({
    status: 0,
    message: 'no answer from http://belfry.test/base: connect ECONNREFUSED 127.0.0.1:1',
  });
});

test.each([
  ['says nothing', []],
  [
    'stops in the middle of an answer',
    ['HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"panels":'],
  ],
  ['stops in the middle of an error', ['HTTP/1.1 502 Bad Gateway\r\ncontent-length: 40\r\n\r\n{"err']],
])('a call to a server that %s ends by its time limit', async (_, answer) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    for (const part of answer) socket.write(part);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const noAnswer = { name: 'ApiError', status: 0, message: 'no answer within 0.05 s' };
  const client = createClient({ url, token: 't', timeoutMs: 50 });
  await expect(client.listPanels()).rejects.toMatchObject(noAnswer);
  await expect(client.receipts('p', [])).rejects.toMatchObject(noAnswer);
  const pairing = createPairingCalls(url, 50);
  await expect(pairing.open()).rejects.toMatchObject(noAnswer);
  await expect(pairing.collect('s')).rejects.toMatchObject(noAnswer);
  server.close();
});

const outgoing = { notification: { title: 'Backup', message: 'done' }, idempotencyKey: 'a' };

test.each([0, 408, 429, 503])('after a %i it is sent again with the same key', async (status) => {
  const keys: (string | undefined)[] = [];
  const send = async (_: unknown, { idempotencyKey }: { idempotencyKey?: string } = {}) => {
    if (keys.push(idempotencyKey) === 1) throw new ApiError(status, 'not now');
    return { ok: true as const, id: 'stored' };
  };
  expect(await sendUntil({ send }, outgoing, performance.now() + 60_000)).toEqual({ ok: true, id: 'stored' });
  expect(keys).toEqual(['a', 'a']);
});

test('what the server refuses for good is not sent again', async () => {
  const send = () => Promise.reject(new ApiError(400, 'title is required'));
  await expect(sendUntil({ send }, outgoing, performance.now() + 60_000)).rejects.toThrow('title');
});
