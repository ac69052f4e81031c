import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makePerson, password, TestBrowser, type TestPerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let anna: TestPerson;
let browser: TestBrowser;
const newPassword = 'nine other wooden chairs';
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off' });
});
afterAll(() => server.stop());
beforeEach(async () => {
  anna = await makePerson(server, 'owner', { tenant: 'acme' });
  browser = await TestBrowser.of(server, anna);
});

const signIn = (with_: string) =>
  new TestBrowser(server).post('/api/session', { email: anna.email, password: with_ });
/** What the audit log says of the person, the oldest first. */
const audited = async () => {
  const rows = await server.running.accounts.rows.select(
    'audit',
    [{ column: 'subject', operator: '=', value: anna.id }],
    'id',
  );
  return rows.map(({ action, by }) => [action, by]);
};

describe('the password', () => {
  test('is changed for the old one; every other session ends, and this one is new', async () => {
    const other = await TestBrowser.of(server, anna);
    const before = browser.cookie;
    const changed = await browser.post('/api/account/password', { currentPassword: password, newPassword });
    expect(changed.status).toBe(204);
    expect(browser.cookie).not.toBe(before);
    expect((await browser.get('/api/tenant')).status).toBe(200);
    expect((await other.get('/api/tenant')).status).toBe(401);
    expect((await server.call('GET', '/api/tenant', { headers: { cookie: before } })).status).toBe(401);
    expect((await signIn(password)).status).toBe(401);
    expect((await signIn(newPassword)).status).toBe(200);
    expect(await audited()).toContainEqual(['account.password', anna.email]);
  });

  test.each([
    [{ currentPassword: 'wrong', newPassword }, 403, 'the password is wrong'],
    [
      { currentPassword: password, newPassword: 'Belfry2026!' },
      400,
      /^password is one of the most common ones/,
    ],
    [{ currentPassword: password, newPassword: 'aaaaaaaaaaaa' }, 400, /^password repeats a few characters/],
    [{ currentPassword: password, newPassword: 'short' }, 400, /must have at least 10/],
    [{ currentPassword: password, newPassword: 'x'.repeat(257) }, 400, /must have at most 256/],
    [{ currentPassword: password }, 400, /^newPassword is required/],
  ])('stays as it is: %#', async (body, status, error) => {
    const answer = await browser.post('/api/account/password', body);
    expect([answer.status, answer.json.error]).toEqual([
      status,
      typeof error === 'string' ? error : expect.stringMatching(error),
    ]);
    expect((await browser.get('/api/tenant')).status).toBe(200);
    expect((await signIn(password)).status).toBe(200);
  });

  test('in any script is the same however its letters are put together', async () => {
    const composed = 'Grüße aus Zürich';
    await browser.post('/api/account/password', { currentPassword: password, newPassword: composed });
    expect((await signIn(composed.normalize('NFD'))).status).toBe(200);
    expect((await signIn('Grusse aus Zurich')).status).toBe(401);
  });

  test('is kept as argon2id', async () => {
    const [row] = await server.running.accounts.rows.select('sign_in_methods', [
      { column: 'person', operator: '=', value: anna.id },
    ]);
    expect(row?.password_hash).toMatch(
      /^\$argon2id\$v=19\$m=\d+,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
    );
  });
});

describe('the name', () => {
  test('is changed everywhere', async () => {
    const { status, json } = await browser.call('PATCH', '/api/account', { json: { name: ' Änne 🦉 ' } });
    expect([status, json]).toEqual([
      200,
      { id: anna.id, email: anna.email, name: 'Änne 🦉', twoFactor: false },
    ]);
    expect((await browser.get('/api/session')).json.person.name).toBe('Änne 🦉');
    expect((await browser.get('/api/members')).json.members).toContainEqual(
      expect.objectContaining({ id: anna.id, name: 'Änne 🦉' }),
    );
  });

  test('cannot be blank, and nothing else is changed with it', async () => {
    for (const json of [
      { name: ' ' },
      {},
      { name: 'x', email: 'eve@example.org' },
      { name: 'x'.repeat(101) },
    ])
      expect([json, (await browser.call('PATCH', '/api/account', { json })).status]).toEqual([json, 400]);
  });
});

describe('sessions', () => {
  const sessions = async () => (await browser.get('/api/account/sessions')).json.sessions;

  test('are listed with where they are used; one’s own is marked', async () => {
    const phone = new TestBrowser(server, { 'user-agent': 'Phone/1.0' });
    await phone.post('/api/session', { email: anna.email, password, remember: true });
    const listed = await sessions();
    expect(listed).toHaveLength(2);
    expect(listed.filter(({ current }: { current: boolean }) => current)).toHaveLength(1);
    expect(listed).toContainEqual({
      id: expect.any(String),
      current: false,
      createdAt: expect.any(String),
      lastSeenAt: expect.any(String),
      expiresAt: expect.any(String),
      address: '127.0.0.1',
      userAgent: 'Phone/1.0',
    });
  });

  test('are ended one by one, and no one else’s', async () => {
    const phone = await TestBrowser.of(server, anna);
    const own = await sessions();
    const ofPhone = own.find(({ current }: { current: boolean }) => !current);
    const eve = await TestBrowser.of(server, await makePerson(server, 'owner', { tenant: 'acme' }));
    expect((await eve.call('DELETE', `/api/account/sessions/${ofPhone.id}`)).status).toBe(404);
    expect((await phone.get('/api/tenant')).status).toBe(200);
    expect((await browser.call('DELETE', `/api/account/sessions/${ofPhone.id}`)).status).toBe(204);
    expect((await phone.get('/api/tenant')).status).toBe(401);
    expect((await browser.call('DELETE', `/api/account/sessions/${ofPhone.id}`)).status).toBe(404);
  });

  test('are ended all at once but for this one', async () => {
    const others = await Promise.all([1, 2, 3].map(() => TestBrowser.of(server, anna)));
    expect((await browser.call('DELETE', '/api/account/sessions')).status).toBe(204);
    for (const other of others) expect((await other.get('/api/tenant')).status).toBe(401);
    expect(await sessions()).toHaveLength(1);
  });

  test('that are not remembered end twelve hours after their last use, remembered ones 30 days after the sign-in', async () => {
    const { rows } = server.running.accounts;
    const hours = async (remember: boolean) => {
      await new TestBrowser(server).post('/api/session', { email: anna.email, password, remember });
      const newest = (await rows.select('sessions', [], 'created_at')).at(-1);
      return Math.round((Number(newest?.expires_at) - Date.now()) / 3_600_000);
    };
    expect([await hours(false), await hours(true)]).toEqual([12, 30 * 24]);
  });

  test('that are used go on', async () => {
    const { rows } = server.running.accounts;
    const mine = [{ column: 'person', operator: '=', value: anna.id }] as const;
    const soon = Date.now() + 60_000;
    await rows.update('sessions', mine, { expires_at: soon, last_seen_at: Date.now() - 3_600_000 });
    await browser.get('/api/tenant');
    await expect
      .poll(async () => (await rows.select('sessions', mine))[0]?.expires_at)
      .toBeGreaterThan(soon + 3_600_000);
  });
});

test('who signed in, and who tried to, stands in the audit log of their tenants, and of no other', async () => {
  await signIn(password);
  await signIn('wrong');
  await expect.poll(audited).toEqual(
    expect.arrayContaining([
      ['session.begin', anna.email],
      ['session.refuse', anna.email],
    ]),
  );
  const foreign = await TestBrowser.of(server, await makePerson(server, 'owner', { tenant: 'foreign' }));
  expect(JSON.stringify((await foreign.get('/api/audit')).json)).not.toContain(anna.email);
});

describe('a new tenant', () => {
  const make = (who: TestBrowser, over: object = {}) =>
    who.post('/api/tenants', {
      name: `t${anna.id.slice(-10)}`,
      title: ' New ',
      timeZone: 'Asia/Tokyo',
      ...over,
    });

  test('is made by an owner of another, who owns it', async () => {
    const { status, json } = await make(browser);
    expect([status, json]).toEqual([
      201,
      {
        name: `t${anna.id.slice(-10)}`,
        title: 'New',
        timeZone: 'Asia/Tokyo',
        role: 'owner',
        suspended: false,
      },
    ]);
    const here = { 'belfry-tenant': json.name };
    expect((await browser.call('GET', '/api/tenant', { headers: here })).json.timeZone).toBe('Asia/Tokyo');
    expect((await browser.call('GET', '/api/members', { headers: here })).json.members).toMatchObject([
      { id: anna.id, role: 'owner' },
    ]);
  });

  test('is not made by others, nor under a name that is taken or none', async () => {
    const admin = await TestBrowser.of(server, await makePerson(server, 'admin', { tenant: 'acme' }));
    expect((await make(admin)).status).toBe(403);
    expect((await make(browser, { name: 'acme' })).status).toBe(409);
    for (const over of [{ name: 'No' }, { name: '' }, { title: ' ' }, { timeZone: 'Mars' }, { rate: 'off' }])
      expect([over, (await make(browser, over)).status]).toEqual([over, 400]);
  });
});
