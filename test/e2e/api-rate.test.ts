import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makePerson, TestBrowser } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

/** The service's clock stands still unless a test moves it, so that buckets fill when the test says so. */
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

let server: TestServer;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  server = await TestServer.start({ BELFRY_RATE_API: '2:5' });
});
afterAll(async () => {
  await server.stop();
  vi.useRealTimers();
});

const ask = (token: string, path = '/api/levels') => server.call('GET', path, { token });

test('a credential has a burst of requests, then as many as its rate, and every answer says how many are left', async () => {
  const key = await server.key('viewer');
  const first = await ask(key);
  expect([first.headers.get('ratelimit-policy'), first.headers.get('ratelimit')]).toEqual([
    '"api";q=5;w=3',
    '"api";r=4;t=1',
  ]);
  for (const path of ['/api/panels', '/api/nowhere', '/api/panels/nobody']) await ask(key, path);
  // What its role forbids is counted too.
  const forbidden = await ask(key, '/api/tokens');
  expect([forbidden.status, forbidden.headers.get('ratelimit')]).toEqual([403, '"api";r=1;t=2']);
  const error = 'forbidden: requires the role admin (automation key or signed-in person)';
  expect(forbidden.json).toEqual({ error });
  expect((await ask(key)).status).toBe(200);
  const refused = await ask(key);
  expect([refused.status, refused.headers.get('retry-after'), refused.json]).toEqual([
    429,
    '1',
    { error: 'rate limit exceeded' },
  ]);
  expect(refused.headers.get('ratelimit')).toBe('"api";r=0;t=1');
  expect((await ask(await server.key('viewer'))).status).toBe(200);
  pass(1_000);
  expect([(await ask(key)).status, (await ask(key)).status, (await ask(key)).status]).toEqual([
    200, 200, 429,
  ]);
});

test('notifications have limits of their own', async () => {
  const token = await server.token();
  for (let i = 0; i < 7; i++) await ask(token, '/api/panels');
  expect((await ask(token, '/api/panels')).status).toBe(429);
  const { status, headers } = await server.notify(token, { title: 't', message: 'm' });
  expect([status, headers.get('ratelimit')]).toEqual([200, expect.stringContaining('"tenant"')]);
});

test('panels that share a token have a limit each for their stream and receipts', async () => {
  const token = await server.token({ tenant: 'walls' });
  const register = async (name: string) =>
    (await server.call('POST', '/api/panels', { token, json: { name } })).json.id as string;
  const [a, b] = [await register('A'), await register('B')];
  const confirm = async (id: string) =>
    (await server.call('POST', `/api/panels/${id}/receipts`, { token, json: [] })).status;
  for (let i = 0; i < 5; i++) expect(await confirm(a)).toBe(200);
  expect([await confirm(a), await confirm(b)]).toEqual([429, 200]);
  const refused = await fetch(`${server.url}/api/panels/${a}/events`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(refused.status).toBe(429);
  // One that does not exist has none.
  for (let i = 0; i < 3; i++) expect(await confirm(`nobody-${i}`)).toBe(404);
  expect(await confirm('nobody-4')).toBe(429);
  const stream = await fetch(`${server.url}/api/panels/${b}/events`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect([stream.status, stream.headers.get('ratelimit')]).toEqual([200, '"api";r=3;t=1']);
  await stream.body?.cancel();
});

test('all callers of a tenant together have twenty times that, whatever their number; another tenant has its own', async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 26; n++) {
    const key = await server.key('viewer', 'crowd');
    for (let i = 0; i < 4; i++) statuses.push((await ask(key)).status);
  }
  expect(statuses).toEqual([...Array(100).fill(200), ...Array(4).fill(429)]);
  const refused = await ask(await server.key('viewer', 'crowd'));
  expect([refused.headers.get('ratelimit-policy'), refused.headers.get('retry-after')]).toEqual([
    '"api-tenant";q=100;w=3',
    '1',
  ]);
  expect((await ask(await server.key('viewer', 'other'))).status).toBe(200);
  // A screen is not refused with them.
  const token = await server.token({ tenant: 'crowd' });
  expect((await server.call('POST', '/api/panels/none/receipts', { token, json: [] })).status).toBe(404);
});

test('a session has a limit of its own, and refusals are counted', async () => {
  const anna = await makePerson(server, 'admin');
  const [one, other] = [await TestBrowser.of(server, anna), await TestBrowser.of(server, anna)];
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push((await one.get('/api/levels')).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  expect((await other.get('/api/levels')).status).toBe(200);
  const metrics = await ask(await server.token(), '/tenant-metrics');
  expect(metrics.text).toMatch(/belfry_rate_limited_total\{scope="api"\} [1-9]/);
});
