import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makePerson, password, TestBrowser, type TestPerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let owner: TestBrowser;
let anna: TestPerson;
let n = 0;
let account: { email: string; name: string; password: string };
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off' });
  anna = await makePerson(server, 'owner', { tenant: 'acme' });
  owner = await TestBrowser.of(server, anna);
  await owner.call('PATCH', '/api/tenant', { json: { title: 'Acme' } });
});
afterAll(() => server.stop());
beforeEach(() => {
  n += 1;
  account = { email: `new${n}@example.org`, name: `New ${n}`, password };
});

const invite = async (email: string | null = null, role = 'member') =>
  (await owner.post('/api/invitations', { role, email })).json;
const accept = (secret: string, browser = new TestBrowser(server), body: object = { account }) =>
  browser.post('/api/invitations/accept', { secret, ...body });
const over = [410, 'this invitation is over: it was used, withdrawn or has expired; ask for a new one'];
const outcome = async (answer: ReturnType<typeof accept>) => {
  const { status, json } = await answer;
  return [status, json.error];
};
const members = async () =>
  (await owner.get('/api/members')).json.members as { email: string; role: string }[];

describe('an invitation', () => {
  test('tells whoever has its secret what it is to, and nobody else', async () => {
    const { secret } = await invite('bea@example.org', 'viewer');
    const preview = (text: string) =>
      new TestBrowser(server).post('/api/invitations/preview', { secret: text });
    expect((await preview(secret)).json).toEqual({
      tenantTitle: 'Acme',
      role: 'viewer',
      email: 'bea@example.org',
      createdBy: anna.email,
      expiresAt: expect.any(String),
    });
    for (const wrong of [`${secret}x`, '', 'A'.repeat(32)])
      expect(await outcome(preview(wrong))).toEqual(over);
  });

  test('makes an account that is signed in, with the role that was given', async () => {
    const browser = new TestBrowser(server);
    const { secret } = await invite(null, 'admin');
    expect((await accept(secret, browser)).json).toEqual({ ok: true, twoFactor: false });
    expect((await browser.get('/api/session')).json).toMatchObject({
      person: { email: account.email, name: account.name },
      tenants: [{ name: 'acme', title: 'Acme', role: 'admin' }],
    });
    expect(await members()).toContainEqual(expect.objectContaining({ email: account.email, role: 'admin' }));
  });

  test('works once, for one of several who come at the same time', async () => {
    const { secret } = await invite();
    const answers = await Promise.all(
      [1, 2, 3].map((i) =>
        accept(secret, undefined, { account: { ...account, email: `many${n}-${i}@example.org` } }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 410, 410]);
    expect((await members()).filter(({ email }) => email.startsWith(`many${n}-`))).toHaveLength(1);
    expect(await outcome(accept(secret))).toEqual(over);
  });

  test('that was withdrawn or has expired lets nobody in, and makes no account', async () => {
    const withdrawn = await invite();
    await owner.call('DELETE', `/api/invitations/${withdrawn.id}`);
    const late = await invite();
    const which = [{ column: 'id', operator: '=', value: late.id }] as const;
    await server.running.accounts.rows.update('invitations', which, { expires_at: Date.now() - 1 });
    for (const { secret } of [withdrawn, late]) expect(await outcome(accept(secret))).toEqual(over);
    expect(await server.running.accounts.findByEmail(account.email)).toBeUndefined();
  });

  test('for an address is for that address alone, in whatever case', async () => {
    const { secret } = await invite(account.email);
    const other = { account: { ...account, email: `other${n}@example.org` } };
    expect((await accept(secret, undefined, other)).status).toBe(403);
    const eve = await TestBrowser.of(server, await makePerson(server, 'viewer', { tenant: 'foreign' }));
    expect((await accept(secret, eve, {})).status).toBe(403);
    const shouted = { account: { ...account, email: account.email.toUpperCase() } };
    expect((await accept(secret, undefined, shouted)).status).toBe(200);
  });

  test('takes no address that is somebody’s: they sign in first', async () => {
    const { secret } = await invite();
    expect(await outcome(accept(secret, undefined, { account: { ...account, email: anna.email } }))).toEqual([
      409,
      'there is an account with this email address: sign in, then open the link again',
    ]);
    expect((await accept(secret)).status).toBe(200);
  });

  test('is accepted by somebody who is signed in without a new account', async () => {
    const bea = await makePerson(server, 'viewer', { tenant: 'foreign' });
    const browser = await TestBrowser.of(server, bea);
    const { secret } = await invite();
    expect((await accept(secret, browser, {})).status).toBe(200);
    expect(
      (await browser.get('/api/session')).json.tenants.map(({ name }: { name: string }) => name).toSorted(),
    ).toEqual(['acme', 'foreign']);
    const again = await invite();
    expect((await accept(again.secret, browser, {})).status).toBe(409);
  });

  test('needs somebody: without an account and signed in as nobody it is a 401', async () => {
    const { secret } = await invite();
    expect(await outcome(accept(secret, undefined, {}))).toEqual([
      401,
      'sign in first, or send what a new account needs',
    ]);
  });

  test('is not accepted for somebody by a page elsewhere', async () => {
    const bea = await makePerson(server, 'viewer', { tenant: 'foreign' });
    const { secret } = await invite();
    const evil = await TestBrowser.of(server, bea, { origin: 'https://evil.example' });
    expect((await accept(secret, evil, {})).status).toBe(403);
    const { cookie } = await TestBrowser.of(server, bea);
    const silent = await server.call('POST', '/api/invitations/accept', {
      headers: { cookie },
      json: { secret },
    });
    expect(silent.status).toBe(403);
  });

  test.each([
    [{ password: 'password1234' }, /^password is one of the most common/],
    [{ email: 'ünï@example.org' }, /^email must be an email address in plain letters/],
    [{ name: ' ' }, /name must have 1 to 100 characters/],
    [{ role: 'owner' }, /has no field "/],
  ])('with an account that cannot be is a 400, and waits on: %j', async (wrong, error) => {
    const { secret } = await invite();
    expect(await outcome(accept(secret, undefined, { account: { ...account, ...wrong } }))).toEqual([
      400,
      expect.stringMatching(error),
    ]);
    expect((await accept(secret)).status).toBe(200);
  });
});
