import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backUp } from '#server/app.ts';
import { limitMs } from '../support/patience.ts';
import { makePerson, password, sessionCookie, TestBrowser, type TestPerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';
import { testStore } from '../support/test-store.ts';
import { totpCode } from '../support/totp.ts';

describe('guessing', () => {
  let server: TestServer;
  let anna: TestPerson;
  beforeAll(async () => {
    server = await TestServer.start({ BELFRY_RATE_AUTH: '0.001:30', BELFRY_TRUSTED_PROXIES: '127.0.0.1' });
    anna = await makePerson(server, 'owner', { email: 'anna@example.org' });
  });
  afterAll(() => server.stop());

  const from = (address: string) => new TestBrowser(server, { 'x-forwarded-for': address });
  const attempt = (browser: TestBrowser, email: string, guess = 'wrong') =>
    browser.post('/api/session', { email, password: guess });
  const statuses = async (times: number, one: (i: number) => Promise<{ status: number }>) => {
    const all: number[] = [];
    for (let i = 0; i < times; i++) all.push((await one(i)).status);
    return all;
  };

  /** Tries until one is refused: ten, one less after a sign-in, and more where the machine is so slow that some are had back meanwhile. */
  const exhaust = async (one: (i: number) => Promise<{ status: number }>) => {
    for (let i = 0; i < 100; i++)
      if ((await one(i)).status === 429) return expect(i).toBeGreaterThanOrEqual(9);
    throw new Error('a hundred tries were answered');
  };

  test('at one account is slowed down wherever it comes from, the right password included', async () => {
    const written = [anna.email, anna.email.toUpperCase(), ` ${anna.email}`, `${anna.email}\t `];
    await exhaust((i) => attempt(from(`203.0.113.${i}`), written[i % 4] as string));
    const right = await attempt(from('203.0.113.200'), anna.email, password);
    expect([right.status, right.json]).toEqual([429, { error: 'rate limit exceeded' }]);
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(right.headers.get('retry-after'))).toBeLessThanOrEqual(15);
  });

  test('does not lock out whoever signed in from the same network before', async () => {
    const bea = await makePerson(server, 'owner', { email: 'bea@example.org' });
    const home = from('198.51.100.7');
    expect((await attempt(home, bea.email, password)).status).toBe(200);
    await exhaust((i) => attempt(from(`203.0.113.${100 + i}`), bea.email));
    expect((await attempt(from('203.0.113.250'), bea.email, password)).status).toBe(429);
    expect((await attempt(home, bea.email, password)).status).toBe(200);
  });

  test('does not lock out whoever has a session from the same network that began on another node', async () => {
    const cleo = await makePerson(server, 'owner', { email: 'cleo@example.org' });
    await sessionCookie(server, cleo);
    await exhaust((i) => attempt(from(`198.18.0.${i}`), cleo.email));
    expect((await attempt(from('198.18.0.250'), cleo.email, password)).status).toBe(429);
    expect((await attempt(new TestBrowser(server), cleo.email, password)).status).toBe(200);
  });

  test('at many accounts is slowed down by network, an IPv6 one of 64 bits', async () => {
    const tried = await statuses(32, (i) => attempt(from(`2001:db8::${i + 1}`), `x${i}@example.org`));
    expect(tried).toEqual([...Array(30).fill(401), 429, 429]);
    expect((await attempt(from('2001:db8:0:1::1'), 'y@example.org')).status).toBe(401);
  });

  test('at second factors, set-up links and invitations is slowed down too', async () => {
    const paths = [
      ['/api/session/two-factor', { code: '000000', kind: 'totp' }],
      ['/api/session/passkey', { response: { id: 'x' } }],
      ['/api/setup', { secret: 'x', email: 'e@example.org', name: 'E', password, tenantTitle: 'E' }],
      ['/api/invitations/preview', { secret: 'x' }],
      ['/api/invitations/accept', { secret: 'x' }],
    ] as const;
    for (const [i, [path, body]] of paths.entries()) {
      const browser = from(`192.0.2.${i + 1}`);
      const tried = await statuses(31, () => browser.post(path, body));
      expect([path, tried.at(-2), tried.at(-1)]).toEqual([path, expect.toBeOneOf([400, 401, 409, 410]), 429]);
    }
  });

  test('at the password in an open session is slowed down in that session, and in no other of its person', async () => {
    const eve = await makePerson(server, 'viewer');
    const stolen = { cookie: await sessionCookie(server, eve), origin: server.url };
    const newPassword = 'nine other wooden chairs';
    await exhaust((i) =>
      server.call(
        i % 2 === 0 ? 'POST' : 'DELETE',
        `/api/account/${i % 2 === 0 ? 'password' : 'two-factor'}`,
        {
          headers: { ...stolen, 'x-forwarded-for': `192.0.2.${100 + i}` },
          json: i % 2 === 0 ? { currentPassword: 'wrong', newPassword } : { password: 'wrong' },
        },
      ),
    );
    const own = await TestBrowser.of(server, eve, { 'x-forwarded-for': '192.0.2.200' });
    expect((await own.post('/api/account/proof', { password })).status).toBe(204);
    const changed = await own.post('/api/account/password', { currentPassword: password, newPassword });
    expect(changed.status).toBe(204);
    expect((await server.call('GET', '/api/account/proof', { headers: stolen })).status).toBe(401);
  });

  test('does not lock out whoever gave the password in a session from the same network before', async () => {
    const mia = await makePerson(server, 'owner', { email: 'mia@example.org' });
    const home = await TestBrowser.of(server, mia, { 'x-forwarded-for': '198.51.100.20' });
    const office = await TestBrowser.of(server, mia, { 'x-forwarded-for': '198.51.100.21' });
    expect((await home.post('/api/account/proof', { password })).status).toBe(204);
    const changed = { currentPassword: password, newPassword: 'nine other wooden chairs' };
    expect((await office.post('/api/account/password', changed)).status).toBe(204);
    await exhaust((i) => attempt(from(`203.0.113.${120 + i}`), mia.email));
    expect((await attempt(from('203.0.113.249'), mia.email, changed.newPassword)).status).toBe(429);
    for (const address of ['198.51.100.20', '198.51.100.21'])
      expect((await attempt(from(address), mia.email, changed.newPassword)).status).toBe(200);
  });
});

describe('a server that knows somebody', () => {
  let server: TestServer;
  let anna: TestPerson;
  beforeAll(async () => {
    server = await TestServer.start({ BELFRY_RATE_AUTH: 'off', BELFRY_LOG_LEVEL: 'trace' });
    anna = await makePerson(server, 'owner', { email: 'anna@example.org' });
  });
  afterAll(() => server.stop());

  test('takes the time of a hash for nobody too, and answers the same', async () => {
    const answers = new Set<string>();
    // Of this process, the server and its threads: what others do on the machine does not count.
    const took = async (email: string) => {
      const before = process.cpuUsage();
      answers.add((await new TestBrowser(server).post('/api/session', { email, password: 'wrong' })).text);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    await took(anna.email);
    const shortest: Record<'known' | 'unknown' | 'none', number> = {
      known: Math.min(await took(anna.email), await took(anna.email)),
      unknown: Math.min(await took('nobody1@example.org'), await took('nobody2@example.org')),
      none: Math.min(await took('no address 1'), await took('no address 2')),
    };
    // An answer without the work would take a tenth of it. `npm run torture -- secrets` compares the times closely.
    expect(shortest.unknown / shortest.known).toBeGreaterThan(0.3);
    expect(shortest.none / shortest.known).toBeGreaterThan(0.3);
    expect(answers.size).toBe(1);
  });

  test('makes a new session at every sign-in: one that was planted stays what it was', async () => {
    const eve = await makePerson(server, 'viewer', { tenant: 'eves' });
    const browser = new TestBrowser(server);
    const planted = await sessionCookie(server, eve);
    browser.keep(planted);
    await browser.post('/api/session', { email: anna.email, password });
    expect(browser.cookie).not.toContain(planted);
    expect((await browser.get('/api/session')).json.person.id).toBe(anna.id);
    const { person } = (await server.call('GET', '/api/session', { headers: { cookie: planted } })).json;
    expect(person).toBeNull();
    // A session of one’s own choosing is none either.
    const chosen = new TestBrowser(server);
    chosen.keep('belfry.session_token=chosen');
    await chosen.post('/api/session', { email: anna.email, password });
    expect(chosen.cookie).not.toContain('=chosen');
  });

  test('opens no session with a password that is changed while it is checked', async () => {
    const eve = await makePerson(server, 'viewer');
    const { accounts } = server.running;
    const { addSession } = accounts;
    // The change comes after the comparison and before the session.
    accounts.addSession = async (...given) => {
      accounts.addSession = addSession;
      await accounts.resetPassword(eve.id, 'a new one', { keepTwoFactor: true, keepPasskeys: true, at: 1 });
      return addSession(...given);
    };
    const { status, json } = await new TestBrowser(server).post('/api/session', {
      email: eve.email,
      password,
    });
    expect([status, json]).toEqual([401, { error: 'email or password is wrong' }]);
    expect(await accounts.sessionsOf(eve.id, Date.now())).toEqual([]);
  });

  test.skipIf(testStore === 'postgres')(
    'keeps no password, session or second factor in its files or a backup as it is',
    async () => {
      const secretPassword = 'a very particular passphrase';
      const browser = await TestBrowser.of(server, anna);
      await browser.post('/api/account/password', { currentPassword: password, newPassword: secretPassword });
      const { json } = await browser.post('/api/account/two-factor', { password: secretPassword });
      await browser.post('/api/account/two-factor/verify', { code: totpCode(json.totpUri) });
      const again = new TestBrowser(server);
      await again.post('/api/session', { email: anna.email, password: secretPassword, remember: true });
      await again.post('/api/session/two-factor', {
        code: json.backupCodes[0],
        kind: 'backup',
        trustDevice: true,
      });
      const tokens = [browser, again].flatMap(({ cookie }) =>
        cookie
          .split('; ')
          .map((pair) => decodeURIComponent(pair.slice(pair.indexOf('=') + 1)).split('.')[0] as string),
      );
      const secrets = [
        secretPassword,
        new URL(json.totpUri).searchParams.get('secret') as string,
        ...json.backupCodes,
        ...tokens.filter((token) => token.length > 8),
      ];
      expect(secrets.length).toBeGreaterThan(14);
      await backUp(join(server.folder, 'belfry.db'), join(server.folder, 'backup.db'));
      const files = readdirSync(server.folder).filter((name) => /\.db/.test(name));
      expect(files).toEqual(expect.arrayContaining(['belfry.db', 'backup.db']));
      for (const file of files) {
        const bytes = readFileSync(join(server.folder, file)).toString('latin1');
        for (const secret of secrets) expect([file, bytes.includes(secret)]).toEqual([file, false]);
      }
    },
  );

  test('ends open streams within two seconds of the session, or of the role', async () => {
    const bea = await makePerson(server, 'viewer', { tenant: 'streams' });
    const { accounts, directory } = server.running;
    const ends: [string, () => Promise<unknown>][] = [
      ['signed out', () => accounts.endSessions(bea.id, undefined)],
      [
        'removed',
        async () =>
          directory.members.remove({
            tenant: await server.tenant('streams'),
            person: bea.id,
            as: 'owner',
            by: 'test',
            at: Date.now(),
          }),
      ],
    ];
    for (const [how, end] of ends) {
      const headers = { cookie: await sessionCookie(server, bea) };
      const stream = await server.stream('/api/history/stream', undefined, undefined, headers);
      await stream.next(({ event }) => event === 'ready');
      const began = performance.now();
      await end();
      await stream.ended;
      expect([how, performance.now() - began < limitMs(2_000)]).toEqual([how, true]);
    }
  });
});
