import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Authenticator } from '../support/authenticator.ts';
import { makePerson, TestBrowser, type TestPerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let anna: TestPerson;
let browser: TestBrowser;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off' });
  anna = await makePerson(server, 'owner');
  browser = await TestBrowser.of(server, anna);
});
afterAll(() => server.stop());

const add = async (key: Authenticator, name = 'Laptop', flags = {}) => {
  const { json: options } = await browser.post('/api/account/passkeys/options', undefined);
  return browser.post('/api/account/passkeys', { name, response: key.create(options, flags) });
};
const signIn = async (key: Authenticator, flags = {}) => {
  const fresh = new TestBrowser(server);
  const { json: options } = await fresh.post('/api/session/passkey/options', undefined);
  const assertion = key.get(options, flags);
  return { fresh, assertion, answer: await fresh.post('/api/session/passkey', { response: assertion }) };
};
const whoIs = async (fresh: TestBrowser) => (await fresh.get('/api/session')).json.person?.id;

describe('a passkey', () => {
  test('is added for this host, and signs its person in without a word more', async () => {
    const key = new Authenticator(server.url);
    const { json: options } = await browser.post('/api/account/passkeys/options', undefined);
    expect(options).toMatchObject({
      rp: { name: 'Belfry', id: '127.0.0.1' },
      user: { name: anna.email },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const made = await add(key, ' Laptop ');
    expect([made.status, made.json]).toEqual([
      201,
      { id: expect.any(String), name: 'Laptop', createdAt: expect.any(String) },
    ]);
    expect((await browser.get('/api/account/passkeys')).json.passkeys).toContainEqual(made.json);
    const { fresh, answer } = await signIn(key);
    expect([answer.status, answer.json]).toEqual([200, { ok: true, twoFactor: false }]);
    expect(await whoIs(fresh)).toBe(anna.id);
  });

  test('is refused beyond 25 of a person, before the device creates it', async () => {
    const full = await TestBrowser.of(server, await makePerson(server, 'owner'));
    const options = () => full.post('/api/account/passkeys/options', undefined);
    const finish = ({ json }: Awaited<ReturnType<typeof options>>) =>
      full.post('/api/account/passkeys', {
        name: 'Key',
        response: new Authenticator(server.url).create(json),
      });
    for (let n = 0; n < 24; n++) expect((await finish(await options())).status).toBe(201);
    const begun = await options();
    const cookies = full.cookie.split('; ');
    expect((await finish(await options())).status).toBe(201);
    const refused = [409, { error: 'you have 25 passkeys already: remove one first' }];
    const early = await options();
    expect([early.status, early.json]).toEqual(refused);
    for (const cookie of cookies) full.keep(cookie);
    const late = await finish(begun);
    expect([late.status, late.json]).toEqual(refused);
    expect((await full.get('/api/account/passkeys')).json.passkeys).toHaveLength(25);
  });

  test('that was removed signs nobody in', async () => {
    const key = new Authenticator(server.url);
    const { id } = (await add(key)).json;
    const eve = await TestBrowser.of(server, await makePerson(server, 'owner'));
    expect((await eve.call('DELETE', `/api/account/passkeys/${id}`)).status).toBe(404);
    expect((await browser.call('DELETE', `/api/account/passkeys/${id}`)).status).toBe(204);
    expect((await browser.call('DELETE', `/api/account/passkeys/${id}`)).status).toBe(404);
    const { answer, fresh } = await signIn(key);
    expect([answer.status, answer.json]).toEqual([401, { error: 'this passkey is not known here' }]);
    expect(await whoIs(fresh)).toBeUndefined();
  });

  test('that has not seen its owner is one factor, and is not taken', async () => {
    const key = new Authenticator(server.url);
    expect((await add(key)).status).toBe(201);
    const { answer, fresh } = await signIn(key, { userVerified: false });
    expect([answer.status, answer.json]).toEqual([
      400,
      { error: 'the passkey could not be checked: try again' },
    ]);
    expect(await whoIs(fresh)).toBeUndefined();
  });

  test('that was used on a page elsewhere is not taken', async () => {
    const key = new Authenticator(server.url);
    expect((await add(key, 'x', { origin: 'https://evil.example' })).status).toBe(400);
    await add(key);
    expect((await signIn(key, { origin: 'https://evil.example' })).answer.status).toBe(400);
  });

  test('that was used inside a page elsewhere is not taken', async () => {
    const key = new Authenticator(server.url);
    expect((await add(key, 'x', { crossOrigin: true })).status).toBe(400);
    expect((await add(key)).status).toBe(201);
    const { answer, fresh } = await signIn(key, { crossOrigin: true });
    expect(answer.status).toBe(400);
    expect(await whoIs(fresh)).toBeUndefined();
  });

  test.each([['somebody else'], [''], [undefined]])(
    'that names another account than its own, or none, is not taken: %j',
    async (userHandle) => {
      const key = new Authenticator(server.url);
      await add(key);
      const { answer, fresh } = await signIn(key, { userHandle });
      expect(answer.status).toBe(400);
      expect(await whoIs(fresh)).toBeUndefined();
    },
  );

  test('whose counter another use has changed meanwhile is not taken', async () => {
    const key = new Authenticator(server.url);
    await add(key);
    const { rows } = server.running.accounts;
    const { update } = rows;
    const own = [{ column: 'credential_id', operator: '=', value: key.id.toString('base64url') }] as const;
    rows.update = async (...change) => {
      rows.update = update;
      await update('passkeys', own, { counter: 7 });
      return update(...change);
    };
    const { answer, fresh } = await signIn(key);
    expect(answer.status).toBe(400);
    expect(await whoIs(fresh)).toBeUndefined();
    expect(await rows.select('passkeys', own)).toMatchObject([{ counter: 7 }]);
  });

  test('answers a challenge once', async () => {
    const key = new Authenticator(server.url);
    await add(key);
    const { fresh, assertion } = await signIn(key);
    const again = await fresh.post('/api/session/passkey', { response: assertion });
    expect([again.status, again.json]).toEqual([400, { error: 'this took too long: try again' }]);
    const elsewhere = await new TestBrowser(server).post('/api/session/passkey', { response: assertion });
    expect(elsewhere.status).toBe(400);
  });

  test('of another key under the same id is not taken', async () => {
    const key = new Authenticator(server.url);
    await add(key);
    const thief = new Authenticator(server.url);
    key.id.copy(thief.id);
    expect((await signIn(thief)).answer.status).toBe(400);
  });

  test.each([[{}], [{ id: 7 }], [{ id: { $ne: '' } }], [{ id: 'x', response: null }]])(
    'that is none at all is refused: %j',
    async (response) => {
      const fresh = new TestBrowser(server);
      await fresh.post('/api/session/passkey/options', undefined);
      const { status } = await fresh.post('/api/session/passkey', { response });
      expect(status).toBeOneOf([400, 401]);
      await browser.post('/api/account/passkeys/options', undefined);
      expect((await browser.post('/api/account/passkeys', { name: 'x', response })).status).toBe(400);
    },
  );
});
