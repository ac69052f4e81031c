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

test('nobody on another site may read an answer, and TRACE is not spoken', async () => {
  const { headers } = await server.call('GET', '/api/levels', {
    token: key,
    headers: { origin: 'https://evil.example' },
  });
  expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
});
