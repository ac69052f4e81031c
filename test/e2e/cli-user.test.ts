import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openCliServer, signIn } from '../support/cli-server.ts';
import { withClient } from '../support/postgres.ts';
import { storeSettings, testStore } from '../support/test-store.ts';

const server = openCliServer();
const { cli } = server;

let n = 0;
const create = async (...more: string[]) => {
  n += 1;
  const email = `person${n}@example.org`;
  const args = ['user', 'create', '--email', email, '--name', `Person ${n}`, '--role', 'admin', ...more];
  return { email, args };
};
const session = async (cookie: string) =>
  (await fetch(`${server.url}/api/session`, { headers: { cookie } })).json() as Promise<
    Record<string, unknown>
  >;

test('a new account has a password that is printed once, alone on stdout, and signs in while the server runs', async () => {
  const { email, args } = await create();
  const { code, stdout, stderr } = await cli.run(args);
  expect([code, stderr]).toEqual([0, `The password of ${email}. It is not shown again.\n`]);
  expect(stdout).toMatch(/^[0-9A-Za-z]{20}\n$/);
  const { status, cookie } = await signIn(server.url, email, stdout.trim());
  expect(status).toBe(200);
  expect(await session(cookie)).toMatchObject({
    person: { email },
    tenants: [{ name: 'default', role: 'admin' }],
  });
});

test('a password from stdin is taken, and is not printed', async () => {
  const { email, args } = await create('--password-stdin', '--json');
  const made = await cli.run(args, { input: 'four plain brown boxes\n' });
  expect(JSON.parse(made.stdout)).toEqual({ id: expect.any(String), email });
  expect((await signIn(server.url, email, 'four plain brown boxes')).status).toBe(200);
  const weak = await cli.run((await create('--password-stdin')).args, { input: 'password123' });
  expect([weak.code, weak.stderr]).toEqual([
    2,
    'belfry: password is one of the most common ones: take several words that do not belong together\n',
  ]);
});

test('an address that is taken or none, and a tenant that is not there, make nobody', async () => {
  const { email, args } = await create();
  await cli.ok(args);
  const taken = await cli.run(args);
  expect([taken.code, taken.stderr]).toEqual([
    1,
    expect.stringContaining(`there is an account ${email} already`),
  ]);
  const none = await cli.run([...args.slice(0, 3), 'nonsense', ...args.slice(4)]);
  expect(none.stderr).toContain('email must be an email address');
  const nowhere = await create('--tenant', 'nowhere');
  expect((await cli.run(nowhere.args)).stderr).toContain('there is no tenant "nowhere"');
  expect(await cli.ok(['user', 'list'])).not.toContain(nowhere.email);
});

test('a reset gives a new password, and ends every session', async () => {
  const { email, args } = await create();
  const before = (await cli.ok(args)).trim();
  const { cookie } = await signIn(server.url, email, before);
  const { password } = JSON.parse(await cli.ok(['user', 'password', email.toUpperCase(), '--json']));
  expect(await session(cookie)).toMatchObject({ person: null });
  expect((await signIn(server.url, email, before)).status).toBe(401);
  expect((await signIn(server.url, email, password)).status).toBe(200);
  const nobody = await cli.run(['user', 'password', 'nobody@example.org']);
  expect([nobody.code, nobody.stderr]).toEqual([
    1,
    expect.stringContaining('there is no account nobody@example.org'),
  ]);
});

test('a reset removes passkeys, unless they are to be kept, and says so', async () => {
  const { email, args } = await create();
  const { id } = JSON.parse(await cli.ok([...args, '--json']));
  const insert = `insert into passkeys (id, person, name, credential_id, public_key, counter, device_type, backed_up, created_at)
    values ('p${id}', '${id}', 'key', 'c${id}', 'x', 0, 'singleDevice', 0, 1)`;
  if (testStore === 'postgres') {
    const { BELFRY_DATABASE_URL: database = '' } = storeSettings(dirname(cli.database));
    await withClient(database, (client) => client.query(insert));
  } else {
    const database = new DatabaseSync(cli.database);
    database.exec(insert);
    database.close();
  }
  const kept = await cli.run(['user', 'password', email, '--keep-passkeys', '--json']);
  expect(JSON.parse(kept.stdout)).toEqual({
    id,
    email,
    password: expect.any(String),
    passkeysRemoved: 0,
    identities: 0,
  });
  const { stdout, stderr } = await cli.run(['user', 'password', email]);
  expect(stdout).toMatch(/^[0-9A-Za-z]{20}\n$/);
  expect(stderr).toBe(`The password of ${email}. It is not shown again.\nPasskeys removed: 1.\n`);
  const { passkeysRemoved } = JSON.parse(await cli.ok(['user', 'password', email, '--json']));
  expect(passkeysRemoved).toBe(0);
});

test('the list shows who belongs where, to people and to programs', async () => {
  const { email, args } = await create();
  await cli.ok(args);
  expect(await cli.ok(['user', 'list'])).toMatch(
    new RegExp(`^EMAIL +NAME +TENANTS +TWO-FACTOR +CREATED\\n[^]*${email} +Person ${n} +default:admin +no `),
  );
  const people = JSON.parse(await cli.ok(['user', 'list', '--json']));
  expect(people).toContainEqual({
    id: expect.any(String),
    email,
    name: `Person ${n}`,
    twoFactor: false,
    tenants: [{ name: 'default', role: 'admin' }],
    createdAt: expect.any(String),
  });
});

test('an account is deleted with its sessions and the keys that it made, unless it is the last owner of a tenant', async () => {
  const { email, args } = await create();
  const password = (await cli.run(args)).stdout.trim();
  const { cookie } = await signIn(server.url, email, password);
  const made = await fetch(`${server.url}/api/keys`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json', origin: server.url, 'belfry-tenant': 'default' },
    body: JSON.stringify({ name: 'mine', role: 'viewer' }),
  });
  expect(made.status).toBe(201);
  const { key } = (await made.json()) as { key: string };
  const levels = async () =>
    (await fetch(`${server.url}/api/levels`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect(await levels()).toBe(200);
  expect((await cli.run(['user', 'delete', email])).code).toBe(2);
  expect(await cli.run(['user', 'delete', email, '--yes'])).toEqual({
    ...{ code: 0, stdout: `deleted: ${email}\n`, stderr: '' },
  });
  expect((await signIn(server.url, email, password)).status).toBe(401);
  expect((await session(cookie)).person ?? null).toBeNull();
  await expect.poll(levels).toBe(401);
  const again = await cli.run(['user', 'delete', email, '--yes']);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining(`there is no account ${email}`)]);
  // The address is free for a new account.
  expect((await cli.run(args)).code).toBe(0);

  await cli.run(['tenant', 'create', 'alone']);
  const owner = 'last@example.org';
  const ownerArgs = ['--email', owner, '--name', 'Last', '--role', 'owner', '--tenant', 'alone'];
  expect((await cli.run(['user', 'create', ...ownerArgs])).code).toBe(0);
  const refused = await cli.run(['user', 'delete', owner, '--yes']);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    `belfry: ${owner} is the last owner of alone: make another member an owner first\n`,
  ]);
});
