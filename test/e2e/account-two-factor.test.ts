import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { makePerson, password, TestBrowser, type TestPerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';
import { testStore } from '../support/test-store.ts';
import { totpCode } from '../support/totp.ts';

let server: TestServer;
let anna: TestPerson;
/** Signed in before the second factor was set up. */
let browser: TestBrowser;
let begun: { totpUri: string; backupCodes: string[] };
/** The clock stands still, so that no code gets older during a test. */
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off' });
});
afterAll(async () => {
  vi.useRealTimers();
  await server.stop();
});
beforeEach(async () => {
  anna = await makePerson(server, 'owner');
  browser = await TestBrowser.of(server, anna);
  begun = (await browser.post('/api/account/two-factor', { password })).json;
});

/** A code of the step before counts too, so that a test need not wait for the next. */
const enable = () => browser.post('/api/account/two-factor/verify', { code: totpCode(begun.totpUri, -1) });
const half = async (over: object = {}) => {
  const fresh = new TestBrowser(server);
  const { status, json } = await fresh.post('/api/session', { email: anna.email, password, ...over });
  expect([status, json]).toEqual([200, { ok: true, twoFactor: true }]);
  return fresh;
};
const finish = (fresh: TestBrowser, code: string, more: object = {}) =>
  fresh.post('/api/session/two-factor', { code, kind: 'totp', ...more });
const isSignedIn = async (fresh: TestBrowser) => (await fresh.get('/api/session')).json.person !== null;

describe('setting up', () => {
  test('gives a secret for an authenticator app and ten backup codes, and is in force once it is proven', async () => {
    expect(begun.totpUri).toMatch(/^otpauth:\/\/totp\/Belfry:/);
    expect(new Set(begun.backupCodes).size).toBe(10);
    const before = browser.cookie;
    expect((await browser.get('/api/session')).json.person.twoFactor).toBe(false);
    expect((await enable()).status).toBe(204);
    expect((await browser.get('/api/session')).json.person.twoFactor).toBe(true);
    expect(browser.cookie).not.toBe(before);
    expect((await server.call('GET', '/api/tenant', { headers: { cookie: before } })).status).toBe(401);
  });

  test('asks for the password, and proves with the right code only', async () => {
    expect((await browser.post('/api/account/two-factor', { password: 'wrong' })).json).toEqual({
      error: 'the password is wrong',
    });
    const wrong = await browser.post('/api/account/two-factor/verify', { code: '000000' });
    expect([wrong.status, wrong.json]).toEqual([401, { error: 'the code is wrong' }]);
    expect(wrong.headers.get('belfry-error')).toBe('unauthorized; pointer="/code"');
    expect((await browser.get('/api/session')).json.person.twoFactor).toBe(false);
  });

  test('a second time is a 409', async () => {
    await enable();
    const again = await browser.post('/api/account/two-factor', { password });
    expect([again.status, again.json.error]).toEqual([
      409,
      'there is a second factor already: remove it first',
    ]);
  });

  test('keeps neither the secret nor a backup code as it is', async () => {
    await enable();
    const secret = new URL(begun.totpUri).searchParams.get('secret') as string;
    const kept = JSON.stringify(await server.running.accounts.rows.select('two_factors', []));
    expect(kept).not.toContain(secret);
    for (const code of begun.backupCodes) expect(kept).not.toContain(code);
  });
});

describe('signing in', () => {
  beforeEach(() => enable());

  test('takes both: with the password alone nobody is signed in', async () => {
    const fresh = await half();
    expect(await isSignedIn(fresh)).toBe(false);
    expect((await fresh.get('/api/tenant')).status).toBe(401);
    expect((await finish(fresh, totpCode(begun.totpUri))).json).toEqual({ ok: true, twoFactor: false });
    expect(await isSignedIn(fresh)).toBe(true);
  });

  test('with a wrong code is a 401; after five the sign-in begins again', async () => {
    const fresh = await half();
    for (let i = 0; i < 5; i++)
      expect((await finish(fresh, '000000')).json).toEqual({ error: 'the code is wrong' });
    const right = await finish(fresh, totpCode(begun.totpUri));
    expect([right.status, right.json]).toEqual([
      401,
      { error: 'this sign-in is over: begin again with your password' },
    ]);
    expect(right.headers.get('belfry-error')).toBe('unauthorized');
    expect(await isSignedIn(fresh)).toBe(false);
  });

  test('with a wrong code stands in the audit log, because somebody has the password', async () => {
    await finish(await half(), '000000');
    const { entries } = (await browser.get('/api/audit')).json;
    expect(entries.find(({ action }: { action: string }) => action === 'session.refuse')).toMatchObject({
      by: anna.email,
      detail: { from: '127.0.0.1', with: 'totp' },
    });
  });

  test('after ten wrong codes is locked for a while, whoever has the password, but not in a trusted browser', async () => {
    const [first = '', second = ''] = begun.backupCodes;
    const known = await half();
    expect((await finish(known, first, { kind: 'backup', trustDevice: true })).status).toBe(200);
    for (let i = 0; i < 2; i++) {
      const fresh = await half();
      for (let j = 0; j < 5; j++) await finish(fresh, '000000');
    }
    const { status, headers, json } = await finish(await half(), totpCode(begun.totpUri));
    expect([status, headers.get('retry-after'), json.error]).toEqual([
      429,
      '900',
      'too many wrong codes: try again in a quarter of an hour',
    ]);
    expect((await finish(await half(), second, { kind: 'backup' })).status).toBe(429);
    const again = await known.post('/api/session', { email: anna.email, password });
    expect([again.status, again.json.twoFactor]).toEqual([200, false]);
    const { rows } = server.running.accounts;
    const isAnna = [{ column: 'person', operator: '=', value: anna.id }] as const;
    await rows.update('two_factors', isAnna, { locked_until: Date.now() - 1 });
    expect((await finish(await half(), totpCode(begun.totpUri))).status).toBe(200);
  });

  test('takes a code once, whoever comes with it again, and then the next one', async () => {
    const code = totpCode(begun.totpUri);
    expect((await finish(await half(), code)).status).toBe(200);
    const second = await half();
    const again = await finish(second, code);
    expect([again.status, again.json.error]).toEqual([
      401,
      'this code was used already: wait for the next one',
    ]);
    expect(await isSignedIn(second)).toBe(false);
    expect(again.headers.getSetCookie().filter((each) => each.includes('session_token'))).toEqual([]);
    expect((await finish(second, totpCode(begun.totpUri, 1))).status).toBe(200);
    expect(await isSignedIn(second)).toBe(true);
  });

  test('does not take the code that set the second factor up', async () => {
    const again = await finish(await half(), totpCode(begun.totpUri, -1));
    expect([again.status, again.json.error]).toEqual([
      401,
      'this code was used already: wait for the next one',
    ]);
    // Nor one that was proven with since.
    const code = totpCode(begun.totpUri);
    expect((await browser.post('/api/account/two-factor/verify', { code })).status).toBe(204);
    expect((await finish(await half(), code)).status).toBe(401);
  });

  test('without having begun is a 401', async () => {
    const { status } = await finish(new TestBrowser(server), totpCode(begun.totpUri));
    expect(status).toBe(401);
  });

  test('does not take the session of another person for a first factor', async () => {
    const eve = await TestBrowser.of(server, await makePerson(server, 'viewer'));
    expect((await finish(eve, totpCode(begun.totpUri))).status).toBe(401);
  });

  test('by a backup code works once for each', async () => {
    const [code = ''] = begun.backupCodes;
    expect((await finish(await half(), code, { kind: 'backup' })).status).toBe(200);
    const again = await finish(await half(), code, { kind: 'backup' });
    expect([again.status, again.json.error]).toEqual([401, 'the code is wrong, or was used before']);
  });

  test('on a trusted device asks for the password alone, until the password changes', async () => {
    const fresh = await half();
    await finish(fresh, totpCode(begun.totpUri), { trustDevice: true });
    await fresh.call('DELETE', '/api/session');
    const again = await fresh.post('/api/session', { email: anna.email, password });
    expect(again.json).toEqual({ ok: true, twoFactor: false });
    const newPassword = 'nine other wooden chairs';
    await fresh.post('/api/account/password', { currentPassword: password, newPassword });
    await fresh.call('DELETE', '/api/session');
    const last = await fresh.post('/api/session', { email: anna.email, password: newPassword });
    expect(last.json).toEqual({ ok: true, twoFactor: true });
  });

  test('remembered or not as was asked with the password, whatever was before', async () => {
    const fresh = await half({ remember: false });
    const forgotten = await finish(fresh, totpCode(begun.totpUri));
    expect(forgotten.headers.getSetCookie()[0]).not.toContain('Max-Age');
    await fresh.post('/api/session', { email: anna.email, password, remember: true });
    const remembered = await finish(fresh, totpCode(begun.totpUri, 1));
    expect(remembered.headers.getSetCookie()[0]).toContain('Max-Age=2592000');
  });
});

describe('an owner of one', () => {
  beforeEach(() => enable());

  test('gets new backup codes for the password, and the old are void', async () => {
    const { json } = await browser.post('/api/account/two-factor/backup-codes', { password });
    expect(new Set([...json.backupCodes, ...begun.backupCodes]).size).toBe(20);
    expect((await finish(await half(), begun.backupCodes[0] as string, { kind: 'backup' })).status).toBe(401);
    expect((await finish(await half(), json.backupCodes[0], { kind: 'backup' })).status).toBe(200);
    const wrong = await browser.post('/api/account/two-factor/backup-codes', { password: 'x' });
    expect([wrong.status, wrong.json]).toEqual([403, { error: 'the password is wrong' }]);
  });

  test('removes it for the password', async () => {
    const remove = (proof: string) =>
      browser.call('DELETE', '/api/account/two-factor', { json: { password: proof } });
    expect((await remove('wrong')).status).toBe(403);
    expect((await remove(password)).status).toBe(204);
    expect((await browser.get('/api/session')).json.person.twoFactor).toBe(false);
    const signedIn = await new TestBrowser(server).post('/api/session', { email: anna.email, password });
    expect(signedIn.json).toEqual({ ok: true, twoFactor: false });
  });
});

test('a code that was used is remembered through a restart, for as long as it would be taken', async () => {
  let old = await TestServer.start({ BELFRY_RATE_AUTH: 'off' });
  const bea = await makePerson(old, 'owner');
  const beas = await TestBrowser.of(old, bea);
  const { totpUri } = (await beas.post('/api/account/two-factor', { password })).json;
  await beas.post('/api/account/two-factor/verify', { code: totpCode(totpUri, -1) });
  const code = totpCode(totpUri);
  const signIn = async () => {
    const fresh = new TestBrowser(old);
    await fresh.post('/api/session', { email: bea.email, password });
    return { fresh, ...(await finish(fresh, code)) };
  };
  expect((await signIn()).status).toBe(200);
  expect(JSON.stringify(await old.running.accounts.rows.select('verifications', []))).not.toContain(code);
  await old.stop({ keep: true });
  old = await TestServer.start({ BELFRY_RATE_AUTH: 'off' }, old.folder);
  const { status, json, fresh } = await signIn();
  expect([status, json.error]).toEqual([401, 'this code was used already: wait for the next one']);
  expect((await fresh.get('/api/session')).json.person).toBeNull();
  await old.stop();
});

test.skipIf(testStore === 'postgres')(
  'with another key than the one that sealed it, a second factor says so, and passwords work on',
  async () => {
    let old = await TestServer.start({ BELFRY_RATE_AUTH: 'off' });
    const bea = await makePerson(old, 'owner', { email: 'bea@example.org' });
    const beas = await TestBrowser.of(old, bea);
    const { totpUri } = (await beas.post('/api/account/two-factor', { password })).json;
    await beas.post('/api/account/two-factor/verify', { code: totpCode(totpUri, -1) });
    await old.stop({ keep: true });
    writeFileSync(join(old.folder, 'belfry.db.key'), `${'0'.repeat(64)}\n`);
    old = await TestServer.start({ BELFRY_RATE_AUTH: 'off' }, old.folder);
    expect((await new TestBrowser(old, { cookie: beas.cookie }).get('/api/session')).json.person).toBeNull();
    const fresh = new TestBrowser(old);
    expect((await fresh.post('/api/session', { email: bea.email, password })).json.twoFactor).toBe(true);
    const { status, json } = await finish(fresh, totpCode(totpUri));
    expect([status, json.error]).toEqual([
      409,
      'this second factor was sealed with another key: put the key file back, or have an administrator remove it',
    ]);
    await old.stop();
  },
);
