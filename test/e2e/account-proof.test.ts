import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Authenticator } from '../support/authenticator.ts';
import { OidcProvider } from '../support/oidc-provider.ts';
import { makePerson, password, TestBrowser, type TestPerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let provider: OidcProvider;
let server: TestServer;
let anna: TestPerson;
let browser: TestBrowser;
beforeAll(async () => {
  provider = await OidcProvider.start();
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off', ...provider.env });
});
afterAll(async () => {
  await server.stop();
  await provider.stop();
});
beforeEach(async () => {
  anna = await makePerson(server, 'owner');
  browser = await TestBrowser.of(server, anna);
});

const isAnna = () => [{ column: 'person', operator: '=', value: anna.id }] as const;
/** All sign-ins of hers were so long ago. */
const wasAgo = (ms: number) =>
  server.running.accounts.rows.update('sessions', isAnna(), { created_at: Date.now() - ms });
const minute = 60_000;
const add = async (key = new Authenticator(server.url)) => {
  const { status, json: options } = await browser.post('/api/account/passkeys/options', undefined);
  if (status !== 200) return { status, key, json: options };
  return {
    key,
    ...(await browser.post('/api/account/passkeys', { name: 'Key', response: key.create(options) })),
  };
};
const prove = (body: object) => browser.post('/api/account/proof', body);
const assertion = async (key: Authenticator) =>
  key.get((await browser.post('/api/session/passkey/options', undefined)).json);
const state = async () => (await browser.get('/api/account/proof')).json;
const refusal = { error: 'prove first that it is you (POST /api/account/proof), or sign in again' };

describe('what changes how a person signs in', () => {
  test('is theirs for ten minutes after the sign-in', async () => {
    await wasAgo(9 * minute);
    expect((await add()).status).toBe(201);
    await wasAgo(11 * minute);
    expect((await add()).status).toBe(403);
  });

  test.each([
    ['POST', '/api/account/passkeys/options'],
    ['POST', '/api/account/passkeys'],
    ['DELETE', '/api/account/passkeys/:id'],
    ['DELETE', '/api/account/sessions'],
    ['DELETE', '/api/account/sessions/:id'],
  ])('is refused later, and is nobody else’s: %s %s', async (method, path) => {
    const { id } = (await add()).json;
    await wasAgo(11 * minute);
    const body = path.endsWith('passkeys') ? { json: { name: 'x', response: {} } } : {};
    const late = await browser.call(method, path.replace(':id', id), body);
    expect([late.status, late.json]).toEqual([403, refusal]);
    expect(late.headers.get('belfry-error')).toBe('proof.required');
    expect((await browser.get('/api/account/passkeys')).json.passkeys).toHaveLength(1);
  });

  test('is not theirs for ever when the clock was set back', async () => {
    await wasAgo(-60 * minute);
    expect((await add()).status).toBe(403);
  });
});

describe('a proof', () => {
  test('by password is good for ten minutes more, in this browser alone', async () => {
    await wasAgo(11 * minute);
    expect(await state()).toEqual({ proven: false, password: true, passkey: false, provider: false });
    const wrong = await prove({ password: 'wrong' });
    expect([wrong.status, wrong.json]).toEqual([403, { error: 'the password is wrong' }]);
    expect(wrong.headers.get('belfry-error')).toBe('forbidden; pointer="/password"');
    expect((await add()).status).toBe(403);
    const before = browser.cookie;
    expect((await prove({ password })).status).toBe(204);
    expect(browser.cookie).toBe(before);
    expect((await state()).proven).toBe(true);
    expect((await add()).status).toBe(201);
    const other = await TestBrowser.of(server, anna);
    await server.running.accounts.rows.update(
      'sessions',
      [...isAnna(), { column: 'created_at', operator: '>', value: Date.now() - minute }],
      { created_at: Date.now() - 11 * minute },
    );
    expect((await other.get('/api/account/proof')).json.proven).toBe(false);
  });

  test('by a passkey of theirs is as good, for whoever has no password, and signs in nobody anew', async () => {
    const { key } = await add();
    await server.running.accounts.rows.remove('sign_in_methods', isAnna());
    await wasAgo(11 * minute);
    expect(await state()).toEqual({ proven: false, password: false, passkey: true, provider: false });
    expect((await prove({ password })).status).toBe(403);
    const [before] = browser.cookie.split('; ');
    expect((await prove({ response: await assertion(key) })).status).toBe(204);
    expect(browser.cookie.split('; ')).toContain(before);
    expect((await browser.get('/api/account/sessions')).json.sessions).toHaveLength(1);
    expect((await add()).status).toBe(201);
  });

  test('by a passkey of somebody else is none, and signs in nobody', async () => {
    const eve = await makePerson(server, 'owner');
    const eves = await TestBrowser.of(server, eve);
    const key = new Authenticator(server.url);
    const { json: options } = await eves.post('/api/account/passkeys/options', undefined);
    await eves.post('/api/account/passkeys', { name: 'Key', response: key.create(options) });
    await wasAgo(11 * minute);
    const wrong = await prove({ response: await assertion(key) });
    expect([wrong.status, wrong.json]).toEqual([403, { error: 'this passkey is somebody else’s' }]);
    expect((await browser.get('/api/session')).json.person.id).toBe(anna.id);
    expect((await eves.get('/api/account/sessions')).json.sessions).toHaveLength(1);
    expect((await state()).proven).toBe(false);
  });

  test('by signing in again at the provider is as good', async () => {
    await wasAgo(11 * minute);
    provider.identity = { sub: anna.id, email: anna.email, email_verified: true, name: 'Anna' };
    const { json } = await browser.post('/api/session/oidc/oidc', { returnTo: '/account' });
    const back = new URL(await provider.consent(json.url));
    const answer = await fetch(server.url + back.pathname + back.search, {
      headers: browser.headers,
      redirect: 'manual',
    });
    for (const cookie of answer.headers.getSetCookie()) browser.keep(cookie);
    expect(await state()).toEqual({ proven: true, password: true, passkey: false, provider: true });
  });

  test.each([{}, { password: 'x', response: {} }, { response: {} }, { password: '' }])(
    'that is none is a 400: %j',
    async (body) => expect((await prove(body)).status).toBe(400),
  );
});
