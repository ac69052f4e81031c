import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePerson, TestBrowser, type TestPerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';
import { openStream } from '../support/sse-client.ts';

let server: TestServer;
let anna: TestPerson;
let browser: TestBrowser;
beforeAll(async () => {
  server = await TestServer.start();
  anna = await makePerson(server, 'viewer', { tenant: 'first' });
  await server.running.directory.members.add(
    await server.tenant('second'),
    anna.id,
    'viewer',
    'test',
    Date.now(),
  );
  browser = await TestBrowser.of(server, anna);
  for (const tenant of ['first', 'second', 'foreign'])
    await server.notify(await server.token({ tenant }), { title: `of ${tenant}`, message: 'm' });
});
afterAll(() => server.stop());

/** As a link in a page opens it: a cookie, and no header of ours. */
const follow = (path: string) => server.call('GET', path, { headers: { cookie: browser.cookie } });

describe('a download that a link opens', () => {
  test.each(['csv', 'ndjson'])('has what the tenant in its address has: %s', async (format) => {
    for (const [tenant, other] of [
      ['first', 'second'],
      ['second', 'first'],
    ]) {
      const { status, text, headers } = await follow(`/api/history/export?format=${format}&tenant=${tenant}`);
      expect(status).toBe(200);
      expect(text).toContain(`of ${tenant}`);
      expect(text).not.toContain(`of ${other}`);
      expect(headers.get('content-disposition')).toContain(`belfry-history.${format}`);
    }
  });

  test('is refused for another tenant, for none where there are several, and without the cookie', async () => {
    expect((await follow('/api/history/export?tenant=foreign')).status).toBe(403);
    expect((await follow('/api/history/export?tenant=none')).status).toBe(403);
    expect((await follow('/api/history/export')).json.error).toContain('several tenants');
    expect((await server.call('GET', '/api/history/export?tenant=first')).status).toBe(401);
  });
});

test('figures, values and what a panel shows are of the tenant that the page names', async () => {
  const get = (path: string, tenant: string) =>
    browser.call('GET', path, { headers: { 'belfry-tenant': tenant } });
  for (const tenant of ['first', 'second']) {
    expect((await get('/api/overview', tenant)).json.received24h).toBe(1);
    expect((await get('/api/history/histogram?q=of', tenant)).json.total).toBe(1);
    expect((await get('/api/history/values?key=level&prefix=e', tenant)).json.values).toEqual(['error']);
  }
  expect((await get('/api/overview', 'foreign')).status).toBe(403);
});

test('a live tail goes on until its reader signs out', async () => {
  const tenant = 'first';
  const reader = await TestBrowser.of(server, anna);
  const stream = await openStream(`${server.url}/api/history/stream?q=of&tenant=${tenant}`, {
    cookie: reader.cookie,
  });
  await stream.next(({ event }) => event === 'ready');
  await server.notify(await server.token({ tenant: 'second' }), { title: 'of elsewhere', message: 'm' });
  await server.notify(await server.token({ tenant }), { title: 'of late', message: 'm' });
  await stream.next(({ event, data }) => event === 'notification' && data.title === 'of late');
  expect(JSON.stringify(stream.messages)).not.toContain('elsewhere');
  expect((await reader.call('DELETE', '/api/session')).status).toBe(204);
  await stream.ended;
});
