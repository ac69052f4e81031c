import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, TestBrowser } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

test('a person has sixty requests at their account at once, whatever they are and from whichever session', async () => {
  const anna = await makePerson(server, 'owner');
  const browsers = [await TestBrowser.of(server, anna), await TestBrowser.of(server, anna)];
  const ask = (i: number) => {
    const browser = browsers[i % 2] as TestBrowser;
    return i % 3 === 0
      ? browser.call('PATCH', '/api/account', { json: { name: 'Anna' } })
      : browser.get(i % 3 === 1 ? '/api/account/sessions' : '/api/account/passkeys');
  };
  const answers = await Promise.all(Array.from({ length: 120 }, (_, i) => ask(i)));
  const refused = answers.filter(({ status }) => status === 429);
  // One more is had back each second.
  expect(refused.length).toBeGreaterThan(20);
  expect(refused.length).toBeLessThanOrEqual(60);
  expect(refused[0]?.json).toEqual({ error: 'rate limit exceeded' });
  expect(refused[0]?.headers.get('retry-after')).toMatch(/^[1-9]$/);
  // What is a tenant's goes on, and so does everybody else.
  expect((await browsers[0]?.get('/api/tenant'))?.status).toBe(200);
  const bea = await TestBrowser.of(server, await makePerson(server, 'viewer'));
  expect((await bea.get('/api/account/sessions')).status).toBe(200);
});
