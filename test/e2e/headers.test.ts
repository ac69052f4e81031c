import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  key = await server.key();
});
afterAll(() => server.stop());

test.each([
  ['an answer of the API', 'GET', '/api/levels'],
  ['a refusal of the API', 'GET', '/api/panels/nothing'],
  ['a path that is none', 'GET', '/nothing'],
  ['a method that is none', 'PUT', '/api/levels'],
  ['an export', 'GET', '/api/history/export?format=csv'],
  ['metrics', 'GET', '/tenant-metrics'],
  ['readiness', 'GET', '/readyz'],
])('%s is kept, framed, embedded and sniffed by no browser', async (_, method, path) => {
  const { headers } = await server.call(method, path, { token: key });
  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
});

test('each answer has the id of its request: the caller’s own, or a new one', async () => {
  const token = await server.token();
  const idOf = async (method: string, path: string, given?: string) => {
    const headers: Record<string, string> = given === undefined ? {} : { 'x-request-id': given };
    const json = method === 'POST' ? { title: 'T', message: 'M' } : undefined;
    return (await server.call(method, path, { token, headers, json })).headers.get('x-request-id');
  };
  for (const [method, path] of [
    ['POST', '/api/notify'],
    ['POST', '/api/integrations/nothing'],
    ['GET', '/api/levels'],
    ['GET', '/healthz'],
    ['GET', '/nothing'],
    ['GET', '/docs/'],
    ['PUT', '/api/notify'],
  ] as const) {
    expect([path, await idOf(method, path, 'trace-1.a:b/c=')]).toEqual([path, 'trace-1.a:b/c=']);
    const [first, second] = [await idOf(method, path), await idOf(method, path, 'two words')];
    expect([first, second]).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      expect.stringMatching(/^[0-9a-f-]{36}$/),
    ]);
    expect(first).not.toBe(second);
  }
});

test('nobody on another site may read an answer, and TRACE is not spoken', async () => {
  const { headers } = await server.call('GET', '/api/levels', {
    token: key,
    headers: { origin: 'https://evil.example' },
  });
  expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test('HEAD is answered wherever GET is, with the same status and type', async () => {
  const places: Record<string, string> = { ':id': 'none', ':secret': 'none', '*': 'x' };
  const gets = server.running.routes.filter(({ method, url }) => method === 'GET' && !url.includes('/oidc/'));
  for (const { url } of gets) {
    const path = url.replace(/:\w+|\*/g, (part) => places[part] ?? part);
    const read = async (method: string) => {
      const abort = new AbortController();
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(server.url + path, { method, headers, signal: abort.signal });
      abort.abort();
      return [path, answer.status, answer.headers.get('content-type'), answer.headers.get('belfry-error')];
    };
    const got = await read('GET');
    expect(got[1]).toBeLessThan(500);
    expect(await read('HEAD')).toEqual(got);
  }
  const { headers } = await server.call('PUT', '/api/levels', { token: key });
  expect(headers.get('allow')).toBe('GET, HEAD');
});

test('HEAD opens no stream, reads no export and collects no token', async () => {
  const token = await server.token();
  const { json } = await server.call('POST', '/api/panels', { token, json: { name: 'looked at' } });
  for (const path of [`/api/panels/${json.id}/events`, '/api/history/stream', '/api/history/export']) {
    const { status, text } = await server.call('HEAD', path, {
      token: path.includes('panels') ? token : key,
    });
    expect([path, status, text]).toEqual([path, 200, '']);
  }
  expect((await server.call('GET', `/api/panels/${json.id}`, { token })).json).toMatchObject({
    online: false,
    lastSeenAt: null,
  });
  const { json: pairing } = await server.call('POST', '/api/pairings');
  const admin = await server.key('admin');
  const approval = { token: admin, json: { panelId: json.id } };
  expect((await server.call('POST', `/api/pairings/${pairing.code}/approve`, approval)).status).toBe(200);
  expect((await server.call('HEAD', `/api/pairings/${pairing.secret}`)).status).toBe(200);
  const collected = await server.call('GET', `/api/pairings/${pairing.secret}`);
  expect(collected.json.token).toMatch(/^bfy_/);
});
