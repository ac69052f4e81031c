import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePerson, password, sessionCookie, TestBrowser, type TestPerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let anna: TestPerson;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off' });
  anna = await makePerson(server, 'owner', { email: 'anna@example.org' });
});
afterAll(() => server.stop());

const signIn = async (over: object = {}) => {
  const browser = new TestBrowser(server);
  return { browser, answer: await browser.post('/api/session', { email: anna.email, password, ...over }) };
};
const wrong = [401, { error: 'email or password is wrong' }];

describe('signing in', () => {
  test('gives a session that the next request comes with, in a cookie no script reads', async () => {
    const { browser, answer } = await signIn({ email: ' ANNA@example.org' });
    expect([answer.status, answer.json]).toEqual([200, { ok: true, twoFactor: false }]);
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^belfry\.session_token=[^;]{60,}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await browser.get('/api/session')).json.person).toMatchObject({ id: anna.id, email: anna.email });
  });

  test('a hundred times is kept: the next time ends the session that was not used for the longest time', async () => {
    const bea = await makePerson(server, 'viewer', { email: 'bea@example.org' });
    const { accounts } = server.running;
    const oldest = await sessionCookie(server, bea);
    const hers = [{ column: 'person', operator: '=', value: bea.id }] as const;
    await accounts.rows.update('sessions', hers, { last_seen_at: Date.now() - 30_000 });
    const others = await Promise.all(Array.from({ length: 99 }, () => sessionCookie(server, bea)));
    const { browser } = await signIn({ email: bea.email });
    const whoHas = async (cookie = '') =>
      (await server.call('GET', '/api/session', { headers: { cookie } })).json.person?.id;
    expect(await whoHas(oldest)).toBeUndefined();
    for (const cookie of [others[0], browser.cookie]) expect(await whoHas(cookie)).toBe(bea.id);
    expect(await accounts.sessionsOf(bea.id, Date.now())).toHaveLength(100);
  });

  test('remembered, the cookie lasts 30 days', async () => {
    const { answer } = await signIn({ remember: true });
    expect(answer.headers.getSetCookie()[0]).toContain(`; Max-Age=${30 * 86_400};`);
  });

  test('over https the cookie is bound to this host alone', async () => {
    const secure = await TestServer.start({
      BELFRY_BASE_URL: 'https://belfry.example.org',
      BELFRY_RATE_AUTH: 'off',
    });
    await makePerson(secure, 'owner', { email: 'anna@example.org' });
    const { headers, status } = await new TestBrowser(secure, { origin: 'https://belfry.example.org' }).post(
      '/api/session',
      { email: 'anna@example.org', password },
    );
    expect(status).toBe(200);
    for (const cookie of headers.getSetCookie())
      expect(cookie).toMatch(/^__Host-belfry\.[a-z_]+=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    await secure.stop();
  });

  test('behind a proxy that is trusted the cookie is what the proxy says, and else what the connection is', async () => {
    const behind = await TestServer.start({
      BELFRY_TRUSTED_PROXIES: '127.0.0.1',
      BELFRY_RATE_AUTH: 'off',
    });
    await makePerson(behind, 'owner', { email: 'anna@example.org' });
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'belfry.example.org' };
    const cookies = async (at: TestServer, origin: string) =>
      (
        await new TestBrowser(at, { origin, ...forwarded }).post('/api/session', {
          email: 'anna@example.org',
          password,
        })
      ).headers.getSetCookie();
    expect((await cookies(behind, 'https://belfry.example.org'))[0]).toMatch(/^__Host-belfry\..*; Secure/);
    expect(await cookies(behind, 'http://belfry.example.org')).toEqual([]);
    expect((await cookies(server, server.url))[0]).toMatch(/^belfry\./);
    await behind.stop();
  });

  test('with a wrong password, or as nobody, is the same 401', async () => {
    for (const over of [
      { password: `${password}x` },
      { email: 'nobody@example.org' },
      { email: 'no address' },
      { email: 'änna@example.org' },
      { email: "' or 1=1 --" },
    ]) {
      const { answer, browser } = await signIn(over);
      expect([over, answer.status, answer.json]).toEqual([over, ...wrong]);
      expect(browser.cookie).toBe('');
    }
  });

  test.each([
    [{ password: '' }],
    [{ password: { $ne: '' } }],
    [{ password: 'x'.repeat(257) }],
    [{ password: 'x'.repeat(900_000) }],
    [{ email: ['anna@example.org'] }],
    [{ email: null }],
    [{ remember: 'yes' }],
    [{ callbackURL: 'https://evil.example' }],
  ])('with a body of the wrong kind is a 400: %#', async (over) => {
    expect((await signIn(over)).answer.status).toBe(400);
  });

  test('makes a new session, and ends the one that the browser came with', async () => {
    const { browser } = await signIn();
    const before = browser.cookie;
    await browser.post('/api/session', { email: anna.email, password });
    expect(browser.cookie).not.toBe(before);
    expect((await server.call('GET', '/api/tenant', { headers: { cookie: before } })).status).toBe(401);
    expect((await browser.get('/api/tenant')).status).toBe(200);
  });

  test('from a page elsewhere is refused', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site', origin: server.url },
      { 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[]) {
      const answer = await new TestBrowser(server, headers).post('/api/session', {
        email: anna.email,
        password,
      });
      expect([headers, answer.status, answer.headers.getSetCookie()]).toEqual([headers, 403, []]);
    }
  });
});

describe('a session cookie', () => {
  const status = async (cookie: string, headers: Record<string, string> = {}) =>
    (await server.call('GET', '/api/tenant', { headers: { cookie, ...headers } })).status;

  test('is good for nothing when it was not made here, or was changed', async () => {
    const good = await sessionCookie(server, anna);
    expect(await status(good)).toBe(200);
    const value = good.slice(good.indexOf('=') + 1);
    const [token = '', signature = ''] = decodeURIComponent(value).split('.');
    for (const bad of [
      token,
      `${token}.`,
      `${token}x.${signature}`,
      `.${signature}`,
      `${token}.${'A'.repeat(43)}=`,
      '%',
      `${value}%E0%A4%A`,
      '"',
      'x'.repeat(5_000),
    ])
      expect([bad, await status(`belfry.session_token=${bad}`)]).toEqual([bad, 401]);
    expect(await status(`x=1; ${good}; y=2`)).toBe(200);
    expect(await status(`__Host-${good}`)).toBe(401);
  });

  test.each([
    ['another', ''],
    ['another with a blank', ' '],
    ['another with a tab', '\t'],
  ])('is the same for all that a request does, with %s beside it', async (_, blank) => {
    const [bea, eve] = [await makePerson(server, 'owner'), await makePerson(server, 'viewer')];
    const [first, second] = [await sessionCookie(server, bea), await sessionCookie(server, eve)];
    const cookies = [first.replace('=', `${blank}=`), second];
    const headers = {
      cookie: (blank === '' ? cookies.toReversed() : cookies).join('; '),
      origin: server.url,
    };
    expect((await server.call('GET', '/api/session', { headers })).json.person.id).toBe(eve.id);
    expect((await server.call('DELETE', '/api/session', { headers })).status).toBe(204);
    expect([await status(first), await status(second)]).toEqual([200, 401]);
  });

  test('is not asked for where a bearer comes: a wrong one is a 401, cookie or not', async () => {
    const cookie = await sessionCookie(server, anna);
    expect(await status(cookie, { authorization: 'Bearer nonsense' })).toBe(401);
    const answer = await server.call('GET', '/api/tenant', {
      token: await server.key('viewer', 'other'),
      headers: { cookie },
    });
    expect([answer.status, answer.json.name]).toEqual([200, 'other']);
  });

  test('is over at its time', async () => {
    const { rows } = server.running.accounts;
    const cookie = await sessionCookie(server, anna);
    const ends = (await rows.select('sessions', [], 'created_at')).at(-1);
    expect(await status(cookie)).toBe(200);
    const which = [{ column: 'id', operator: '=', value: ends?.id as string }] as const;
    await rows.update('sessions', which, { expires_at: Date.now() - 1 });
    expect(await status(cookie)).toBe(401);
  });
});

describe('signing out', () => {
  test('ends the session: the cookie is taken, and is good for nothing afterwards', async () => {
    const { browser } = await signIn();
    const { cookie } = browser;
    expect((await browser.call('DELETE', '/api/session')).status).toBe(204);
    expect(browser.cookie).toBe('');
    expect((await server.call('GET', '/api/tenant', { headers: { cookie } })).status).toBe(401);
    expect((await server.call('GET', '/api/session', { headers: { cookie } })).json.person).toBeNull();
  });

  test('with a session that is over is a 401', async () => {
    const browser = await TestBrowser.of(server, anna);
    await server.running.accounts.endSessions(anna.id, undefined);
    expect((await browser.call('DELETE', '/api/session')).status).toBe(401);
  });
});

describe('a change by cookie', () => {
  const rename = async (headers: Record<string, string>) => {
    const cookie = await sessionCookie(server, anna);
    return server.call('PATCH', '/api/tenant', { headers: { cookie, ...headers }, json: { title: 'Acme' } });
  };

  test('must come from a page of this server', async () => {
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: `${server.url}.evil.example` },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
    ] as Record<string, string>[])
      expect([headers, (await rename(headers)).status]).toEqual([headers, 403]);
    for (const headers of [{ origin: server.url }, { 'sec-fetch-site': 'same-origin' }] as Record<
      string,
      string
    >[])
      expect([headers, (await rename(headers)).status]).toEqual([headers, 200]);
  });

  test('stands in the audit log under the email address', async () => {
    expect((await rename({ origin: server.url })).status).toBe(200);
    const entries = await server.running.accounts.rows.select('audit', [], 'id');
    expect(entries.at(-1)).toMatchObject({ action: 'tenant.update', by: anna.email });
  });
});

describe('the tenant', () => {
  let bea: TestPerson;
  let browser: TestBrowser;
  const name = async (headers: Record<string, string>, query = '') => {
    const { status, json } = await browser.call('GET', `/api/tenant${query}`, { headers });
    return status === 200 ? json.name : [status, json.error];
  };
  beforeAll(async () => {
    bea = await makePerson(server, 'viewer', { tenant: 'acme' });
    browser = await TestBrowser.of(server, bea);
    await server.tenant('foreign');
  });

  test('need not be named by whoever has one', async () => {
    expect(await name({})).toBe('acme');
  });

  test('that one does not belong to is the same 403 as one that is not there', async () => {
    const refused = [403, 'forbidden'];
    for (const tenant of ['foreign', 'default', 'nowhere', '../acme', 'ACME', '1', '']) {
      expect([tenant, await name({ 'belfry-tenant': tenant })]).toEqual([tenant, refused]);
      expect([tenant, await name({}, `?tenant=${tenant}`)]).toEqual([tenant, refused]);
    }
    expect(await name({}, '?tenant=acme&tenant=foreign')).toEqual(refused);
  });

  test('must be named by whoever has several', async () => {
    const { rows } = server.running.accounts;
    await rows.insert('members', {
      tenant: await server.tenant('second'),
      person: bea.id,
      role: 'admin',
      joined_at: 0,
      last_seen_at: null,
    });
    expect(await name({})).toEqual([
      400,
      'you belong to several tenants: name one in the header Belfry-Tenant',
    ]);
    expect(await name({ 'belfry-tenant': 'second' })).toBe('second');
    expect(await name({}, '?tenant=acme')).toBe('acme');
    expect((await browser.get('/api/session')).json.tenants).toMatchObject([
      { name: 'acme', role: 'viewer' },
      { name: 'second', role: 'admin' },
    ]);
  });

  test('decides the role: what one may in one tenant one may not in another', async () => {
    const rename = (tenant: string) =>
      browser.call('PATCH', '/api/tenant', { headers: { 'belfry-tenant': tenant }, json: { title: 'x' } });
    expect((await rename('second')).status).toBe(200);
    expect((await rename('acme')).status).toBe(403);
  });

  test('is none for somebody who belongs to none', async () => {
    const { rows } = server.running.accounts;
    await rows.remove('members', [{ column: 'person', operator: '=', value: bea.id }]);
    expect(await name({ 'belfry-tenant': 'acme' })).toEqual([403, 'forbidden']);
    expect((await browser.get('/api/session')).json).toMatchObject({ person: { id: bea.id }, tenants: [] });
  });
});
