import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makePerson, TestBrowser } from '../support/person.ts';
import { TestServer } from '../support/server.ts';
import { testStore } from '../support/test-store.ts';

let server: TestServer;
const start = async () => {
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off' });
};
const stop = () => server.stop();

const owner = {
  email: 'Anna@Example.org',
  name: 'Anna',
  password: 'four plain brown boxes',
  tenantTitle: 'Acme',
  timeZone: 'Europe/Berlin',
};
const setUp = (over: object = {}) =>
  new TestBrowser(server).post('/api/setup', { secret: server.running.setUpSecret, ...owner, ...over });

describe('a server without an account, asked for what it refuses,', () => {
  beforeAll(start);
  afterAll(stop);

  test('says so, and has a secret of at least 190 bits to make one with', async () => {
    expect((await server.call('GET', '/api/session')).json).toMatchObject({
      person: null,
      tenants: [],
      needsSetup: true,
    });
    expect(server.running.setUpSecret).toMatch(/^[0-9A-Za-z]{32,}$/);
  });

  test('refuses another secret, and makes nobody', async () => {
    for (const secret of ['', 'x', `${server.running.setUpSecret}x`, 'A'.repeat(32)]) {
      const { status, json } = await setUp({ secret });
      expect([secret, status, json]).toEqual([
        secret,
        403,
        { error: 'this setup link is not valid: open the link in the server’s log' },
      ]);
    }
    expect(await server.running.accounts.isEmpty()).toBe(true);
  });

  test.each([
    ['password', 'password123!', /^password is one of the most common ones/],
    ['password', 'anna@example.org', /^password is made of your name or email address/],
    ['password', '1234567890', /^password is a row of keys/],
    ['password', 'short', /password must have at least 10 characters/],
    ['email', 'änna@example.org', /^email must be an email address in plain letters/],
    ['email', 'anna@localhost', /^email must be an email address in plain letters/],
    ['timeZone', 'Mars/Olympus', /^timeZone: "Mars\/Olympus" is no time zone/],
    ['tenantTitle', '  ', /tenantTitle must have 1 to 100 characters/],
    ['name', 7, /name must be a string/],
    ['password', ['four plain brown boxes'], /password must be a string/],
  ])('a %s of %j is a 400 that says what would be right, and makes nobody', async (field, value, error) => {
    const { status, json } = await setUp({ [field]: value });
    expect([status, json]).toEqual([400, { error: expect.stringMatching(error) }]);
    expect(await server.running.accounts.isEmpty()).toBe(true);
  });

  test('is not set up from a page elsewhere', async () => {
    const { status } = await new TestBrowser(server, { origin: 'https://evil.example' }).post('/api/setup', {
      secret: server.running.setUpSecret,
      ...owner,
    });
    expect(status).toBe(403);
    expect(await server.running.accounts.isEmpty()).toBe(true);
  });

  test('still has a link that works', async () => {
    expect((await setUp()).status).toBe(200);
  });
});

describe('a server without an account', () => {
  beforeEach(start);
  afterEach(stop);

  test('makes the owner, names the tenant, and signs them in', async () => {
    const browser = new TestBrowser(server);
    const secret = server.running.setUpSecret;
    const made = await browser.post('/api/setup', { secret, ...owner });
    expect([made.status, made.json]).toEqual([200, { ok: true, twoFactor: false }]);
    expect((await browser.get('/api/session')).json).toMatchObject({
      person: { email: 'anna@example.org', name: 'Anna', twoFactor: false },
      tenants: [{ name: 'default', title: 'Acme', timeZone: 'Europe/Berlin', role: 'owner' }],
      needsSetup: false,
    });
    expect((await browser.get('/api/tenant')).json).toMatchObject({ title: 'Acme' });
  });

  test('lets one of several win who come at once; the others make nothing', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => setUp({ email: `anna${n}@example.org`, tenantTitle: `Acme ${n}` })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    expect(await server.running.accounts.list()).toHaveLength(1);
  });

  test.skipIf(testStore === 'postgres')(
    'is not set up when the session cannot be stored, and the link still works',
    async () => {
      const db = new Database(join(server.folder, 'belfry.db'));
      db.exec(
        "CREATE TRIGGER no_sessions BEFORE INSERT ON sessions BEGIN SELECT raise(ABORT, 'no room'); END",
      );
      const failed = await fetch(`${server.url}/api/setup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: server.url },
        body: JSON.stringify({ secret: server.running.setUpSecret, ...owner }),
      });
      expect([failed.status, await failed.json()]).toEqual([500, { error: 'internal error' }]);
      expect(await server.running.accounts.isEmpty()).toBe(true);
      db.exec('DROP TRIGGER no_sessions');
      db.close();
      expect((await setUp()).status).toBe(200);
    },
  );

  test.skipIf(testStore === 'postgres')(
    'has its key on disk before anybody signs in, and does not start on a file that holds none',
    async () => {
      const key = join(server.folder, 'belfry.db.key');
      const text = readFileSync(key, 'utf8');
      expect(text).toMatch(/^[A-Za-z0-9_-]{43}\n$/);
      await server.stop({ keep: true });
      writeFileSync(key, '');
      await expect(TestServer.start({}, server.folder)).rejects.toThrow(/the key file .+ holds no key/);
      rmSync(key);
      const refusal = /the key file .+ is missing, .+: put it back .+ make a new one .+ openssl rand -hex 32/;
      await expect(TestServer.start({}, server.folder)).rejects.toThrow(refusal);
      expect(existsSync(key)).toBe(false);
      // A key that a person made is taken.
      writeFileSync(key, `${'ab'.repeat(32)}\n`);
      server = await TestServer.start({ BELFRY_RATE_AUTH: 'off' }, server.folder);
    },
  );
});

describe('once there is an account', () => {
  beforeEach(start);
  afterEach(stop);

  test('the link is dead, with its secret too, and after a restart there is none', async () => {
    expect((await setUp()).status).toBe(200);
    const again = await setUp({ email: 'eve@example.org' });
    expect([again.status, again.json.error]).toEqual([
      409,
      'this server is set up already: sign in, or ask its owner for an invitation',
    ]);
    await server.stop({ keep: true });
    server = await TestServer.start({}, server.folder);
    expect(server.running.setUpSecret).toBeUndefined();
  });

  test('made by another process, the link is dead as well', async () => {
    await makePerson(server, 'owner');
    expect((await setUp()).status).toBe(409);
  });
});
