import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newInvitation } from '#core/people/members.ts';
import { OidcProvider } from '../support/oidc-provider.ts';
import { makePerson, password, TestBrowser } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let provider: OidcProvider;
let server: TestServer;
let n = 0;
beforeAll(async () => {
  provider = await OidcProvider.start();
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off', BELFRY_LOG_LEVEL: 'silent', ...provider.env });
});
afterAll(async () => {
  await server.stop();
  await provider.stop();
});
afterEach(() => {
  provider.claims = {};
  provider.signWithOther = false;
  provider.padding = undefined;
});

const begin = (browser: TestBrowser, returnTo?: string) =>
  browser.post('/api/session/oidc/oidc', { ...(returnTo !== undefined && { returnTo }) });
/** All the way: to the provider, where the person consents, and back. */
const signIn = async (browser = new TestBrowser(server), returnTo?: string) => {
  const { json } = await begin(browser, returnTo);
  const back = new URL(await provider.consent(json.url));
  return { back, answer: await arrive(browser, back.pathname + back.search) };
};
const arrive = async (browser: TestBrowser, path: string) => {
  const answer = await fetch(server.url + path, { headers: browser.headers, redirect: 'manual' });
  for (const cookie of answer.headers.getSetCookie()) browser.keep(cookie);
  return { status: answer.status, location: answer.headers.get('location') };
};
const whoIs = async (browser: TestBrowser) => (await browser.get('/api/session')).json.person;
const invite = async (email: string | null, tenant = 'acme') => {
  const id = await server.tenant(tenant);
  const made = newInvitation(id, { role: 'member', email }, 'test', Date.now());
  await server.running.directory.invitations.create(made.record, made.secretHash);
};
const passkeyOf = (person: string) => ({
  id: `passkey of ${person}`,
  person,
  name: 'key',
  credential_id: `credential of ${person}`,
  public_key: 'x',
  counter: 0,
  device_type: 'singleDevice',
  backed_up: 0,
  created_at: 1,
});
const identity = (over: object = {}) => {
  n += 1;
  provider.identity = {
    sub: `s${n}`,
    email: `person${n}@example.org`,
    email_verified: true,
    name: `Person ${n}`,
    ...over,
  };
  return provider.identity as { sub: string; email: string };
};

test('the sign-in page hears of the provider by its name', async () => {
  expect((await server.call('GET', '/api/session')).json.providers).toEqual([
    { id: 'oidc', name: 'Acme ID' },
  ]);
});

test('the provider is asked with PKCE, state and nonce', async () => {
  const { searchParams: asked } = new URL((await begin(new TestBrowser(server))).json.url);
  expect(asked.get('code_challenge_method')).toBe('S256');
  expect(asked.get('redirect_uri')).toBe(`${server.url}/api/session/oidc/oidc/callback`);
  expect(asked.get('scope')?.split(' ')).toEqual(expect.arrayContaining(['openid', 'email']));
  for (const name of ['state', 'nonce', 'code_challenge']) expect(asked.get(name)).toMatch(/^.{20,}$/);
});

describe('somebody whom the provider vouches for', () => {
  test('and who has an account is signed in to it, at the page that was asked for', async () => {
    const person = await makePerson(server, 'admin', { email: identity().email });
    const browser = new TestBrowser(server);
    expect((await signIn(browser, '/t/acme/history?q=x')).answer).toEqual({
      status: 302,
      location: '/t/acme/history?q=x',
    });
    expect((await whoIs(browser)).id).toBe(person.id);
    // The second time by the identity itself, whatever its address is now.
    provider.identity = { ...provider.identity, email: 'moved@example.org' };
    const again = new TestBrowser(server);
    await signIn(again);
    expect((await whoIs(again)).id).toBe(person.id);
  });

  test('and who was invited gets an account and joins', async () => {
    const { email } = identity();
    await invite(email);
    const browser = new TestBrowser(server);
    expect((await signIn(browser)).answer).toEqual({ status: 302, location: '/' });
    expect((await browser.get('/api/session')).json).toMatchObject({
      person: { email, name: `Person ${n}` },
      tenants: [{ name: 'acme', role: 'member' }],
    });
  });

  test('and whose name cannot be stored as it is gets an account under what is left of it', async () => {
    const { email } = identity({ name: `A\0${'x'.repeat(98)}😀` });
    await invite(email);
    const browser = new TestBrowser(server);
    await signIn(browser);
    expect((await whoIs(browser)).name).toBe(`A${'x'.repeat(98)}\ufffd`);
  });

  test('alone has the account that somebody made by an invitation to their address', async () => {
    const { email } = identity();
    const eve = await TestBrowser.of(server, await makePerson(server, 'admin', { tenant: 'eves' }));
    const { secret } = (await eve.post('/api/invitations', { role: 'viewer', email })).json;
    const planted = new TestBrowser(server);
    const account = { email, name: 'Planted', password };
    expect((await planted.post('/api/invitations/accept', { secret, account })).status).toBe(200);
    const { id } = await whoIs(planted);
    await server.running.accounts.rows.insert('passkeys', passkeyOf(id));

    const browser = new TestBrowser(server);
    expect((await signIn(browser)).answer.location).toBe('/');
    expect((await whoIs(browser)).id).toBe(id);
    expect(await whoIs(planted)).toBeNull();
    expect((await new TestBrowser(server).post('/api/session', { email, password })).status).toBe(401);
    expect((await browser.get('/api/account/passkeys')).json.passkeys).toEqual([]);
    // What is had afterwards is theirs, and stays.
    await server.running.accounts.rows.insert('passkeys', passkeyOf(id));
    await signIn();
    expect(await whoIs(browser)).not.toBeNull();
    expect((await browser.get('/api/account/passkeys')).json.passkeys).toHaveLength(1);
    const entries = (await eve.get('/api/audit?action=account.password')).json.entries;
    expect(entries).toMatchObject([{ by: email, subject: id, detail: { removed: true } }]);
  });

  test('keeps the password that the command line or set-up gave', async () => {
    const person = await makePerson(server, 'admin', { email: identity().email });
    await signIn();
    const again = await new TestBrowser(server).post('/api/session', { email: person.email, password });
    expect(again.status).toBe(200);
  });

  test('and whom nobody invited is sent back, without an account', async () => {
    const { email } = identity();
    await invite(null);
    const browser = new TestBrowser(server);
    expect((await signIn(browser)).answer).toEqual({ status: 302, location: '/sign-in?error=not-invited' });
    expect(await whoIs(browser)).toBeNull();
    expect(await server.running.accounts.findByEmail(email)).toBeUndefined();
  });

  test('goes on at a path of this server, wherever they wanted to', async () => {
    await makePerson(server, 'admin', { email: identity().email });
    for (const returnTo of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      // What is left of these once a browser has followed the dots.
      '/.//evil.example',
      '/t/..//evil.example/x?y=z',
      '/%2e//evil.example',
      'javascript:alert(1)',
    ])
      expect([returnTo, (await signIn(undefined, returnTo)).answer.location]).toEqual([returnTo, '/']);
  });
});

describe('a browser that begins in several tabs', () => {
  test('is signed in by each of them, whichever comes back first, and by each answer once', async () => {
    const { id } = await makePerson(server, 'admin', { email: identity().email });
    const browser = new TestBrowser(server);
    const begun = await Promise.all([begin(browser, '/t/a'), begin(browser, '/t/b')]);
    const paths: string[] = [];
    for (const { json } of begun) {
      const { pathname, search } = new URL(await provider.consent(json.url));
      paths.unshift(pathname + search);
    }
    const places: (string | null)[] = [];
    for (const path of paths) {
      places.push((await arrive(browser, path)).location);
      expect((await whoIs(browser)).id).toBe(id);
    }
    expect(places).toEqual(['/t/b', '/t/a']);
    expect((await arrive(browser, paths[0] as string)).location).toBe('/sign-in?error=expired');
    expect(browser.cookie).not.toContain('provider');
  });

  test('keeps ten of them, so that its cookies never become too long', async () => {
    const browser = new TestBrowser(server);
    for (let tab = 0; tab < 11; tab++) await begin(browser);
    expect(browser.cookie.match(/provider\./g)).toHaveLength(1);
  });
});

describe('nobody is signed in', () => {
  const refused = async (error: string, browser = new TestBrowser(server)) => {
    expect((await signIn(browser)).answer).toEqual({ status: 302, location: `/sign-in?error=${error}` });
    expect(await whoIs(browser)).toBeNull();
  };

  test.each([[false], [undefined], ['true'], [1]])(
    'when the address is not verified: %j',
    async (verified) => {
      const { email } = identity({ email_verified: verified });
      await makePerson(server, 'owner', { email });
      await refused('not-linked');
    },
  );

  test('when the account has an identity already, and another one comes with its address', async () => {
    const { email } = identity();
    const person = await makePerson(server, 'owner', { email });
    const first = new TestBrowser(server);
    await signIn(first);
    expect((await whoIs(first)).id).toBe(person.id);
    identity({ email });
    await refused('not-linked');
    const again = new TestBrowser(server);
    provider.identity = { ...provider.identity, sub: `s${n - 1}` };
    await signIn(again);
    expect((await whoIs(again)).id).toBe(person.id);
  });

  test('when nobody vouched for the address of the account here', async () => {
    const { email } = identity();
    const { id } = await makePerson(server, 'owner', { email });
    const which = [{ column: 'id', operator: '=', value: id }] as const;
    await server.running.accounts.rows.update('people', which, { email_verified: 0 });
    await refused('not-linked');
  });

  test('when the address is in letters that look like others', async () => {
    const { email } = identity();
    await makePerson(server, 'owner', { email });
    provider.identity = { ...provider.identity, email: email.replace('e', 'е') };
    await refused('not-verified');
  });

  test('by a token that another key signed, or that was not made for us or this sign-in', async () => {
    await makePerson(server, 'owner', { email: identity().email });
    provider.signWithOther = true;
    await refused('provider');
    provider.signWithOther = false;
    for (const claims of [
      { aud: 'another' },
      { iss: 'https://evil.example' },
      { nonce: 'another' },
      { exp: Math.floor(Date.now() / 1000) - 600 },
    ]) {
      provider.claims = claims;
      await refused('provider');
    }
  });

  test('by a token for several audiences that does not say that it was issued to us', async () => {
    const { id } = await makePerson(server, 'owner', { email: identity().email });
    const aud = [provider.clientId, 'another'];
    for (const claims of [{ aud }, { aud, azp: 'another' }, { azp: 'another' }]) {
      provider.claims = claims;
      await refused('provider');
    }
    for (const claims of [{ aud, azp: provider.clientId }, { aud: [provider.clientId] }]) {
      provider.claims = claims;
      const browser = new TestBrowser(server);
      await signIn(browser);
      expect((await whoIs(browser)).id).toBe(id);
    }
  });

  test.each(['/token', '/jwks', '/userinfo'])('by an answer of more than 1 MiB: %s', async (path) => {
    const { email } = identity();
    const { id } = await makePerson(server, 'owner', { email });
    // Without an address in the token, user info is asked for it.
    provider.claims = { email: undefined };
    provider.padding = { path, sizeBytes: 1024 * 1024 + 1 };
    await refused('provider');
    expect(provider.asked.at(-1)).toBe(path);
    provider.padding = { path, sizeBytes: 1024 * 1024 };
    const browser = new TestBrowser(server);
    await signIn(browser);
    expect((await whoIs(browser)).id).toBe(id);
  });

  test('in a browser that did not begin, or by an answer that was used', async () => {
    await makePerson(server, 'owner', { email: identity().email });
    const victim = new TestBrowser(server);
    const { back } = await signIn();
    for (const path of [back.pathname + back.search, `${back.pathname}?code=x&state=y`, back.pathname]) {
      const { location } = await arrive(victim, path);
      expect(location).toMatch(/^\/sign-in\?error=(expired|provider)$/);
      expect(await whoIs(victim)).toBeNull();
    }
  });
});

test('a provider that is not there is a 404, and one that does not answer, or with more than 1 MiB, a 503 until it does', async () => {
  expect((await new TestBrowser(server).post('/api/session/oidc/other', {})).status).toBe(404);
  const gone = await OidcProvider.start();
  const port = Number(new URL(gone.issuer).port);
  const env = gone.env;
  await gone.stop();
  const lonely = await TestServer.start({ BELFRY_LOG_LEVEL: 'silent', ...env });
  const browser = new TestBrowser(lonely);
  const failed = await begin(browser);
  expect([failed.status, failed.json.error]).toEqual([
    503,
    'the identity provider does not answer; try again, or sign in with a password',
  ]);
  const back = await OidcProvider.start(port);
  back.padding = { path: '/.well-known/openid-configuration', sizeBytes: 1024 * 1024 + 1 };
  expect((await begin(browser)).status).toBe(503);
  back.padding = { ...back.padding, sizeBytes: 1024 * 1024 };
  expect((await begin(browser)).status).toBe(200);
  await lonely.stop();
  await back.stop();
});
