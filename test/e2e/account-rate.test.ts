import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, TestBrowser } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

const ask = (browser: TestBrowser, i: number) =>
  i % 3 === 0
    ? browser.call('PATCH', '/api/account', { json: { name: 'Anna' } })
    : browser.get(i % 3 === 1 ? '/api/account/sessions' : '/api/account/passkeys');
const flood = (browser: TestBrowser, times: number) =>
  Promise.all(Array.from({ length: times }, (_, i) => ask(browser, i)));

test('a session has sixty requests at its person’s account at once, whatever they are', async () => {
  const browser = await TestBrowser.of(server, await makePerson(server, 'owner'));
  const refused = (await flood(browser, 120)).filter(({ status }) => status === 429);
  // One more is had back each second.
  expect(refused.length).toBeGreaterThan(20);
  expect(refused.length).toBeLessThanOrEqual(60);
  expect(refused[0]?.json).toEqual({ error: 'rate limit exceeded' });
  expect(refused[0]?.headers.get('retry-after')).toMatch(/^[1-9]$/);
  // What is a tenant's goes on, and so does everybody else.
  expect((await browser.get('/api/tenant')).status).toBe(200);
  const bea = await TestBrowser.of(server, await makePerson(server, 'viewer'));
  expect((await bea.get('/api/account/sessions')).status).toBe(200);
});

test('whoever spends what a stolen session has cannot keep its owner from ending it', async () => {
  const anna = await makePerson(server, 'owner');
  const [own, stolen] = [await TestBrowser.of(server, anna), await TestBrowser.of(server, anna)];
  const answers = await flood(stolen, 120);
  expect(answers.some(({ status }) => status === 429)).toBe(true);
  expect((await own.get('/api/account/sessions')).json.sessions).toHaveLength(2);
  expect((await own.call('DELETE', '/api/account/sessions')).status).toBe(204);
  expect((await stolen.get('/api/account/sessions')).status).toBe(401);
});

test('signing out is not counted', async () => {
  const browser = await TestBrowser.of(server, await makePerson(server, 'owner'));
  await flood(browser, 150);
  expect((await browser.call('DELETE', '/api/session')).status).toBe(204);
});
