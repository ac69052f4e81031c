import { spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Cli } from '../support/cli.ts';
import { testStore } from '../support/test-store.ts';

let cli: Cli;
beforeAll(async () => {
  cli = new Cli();
  await cli.token();
});
afterAll(() => cli.remove());

const tokenForm = /^bfy_[0-9A-Za-z]{10}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/;
const keyForm = /^bfk_[0-9A-Za-z]{10}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/;
const list = async (...args: string[]) => JSON.parse(await cli.ok([...args, '--json']));

test('a new token stands alone on stdout, and what to know of it on stderr', async () => {
  const running = cli.start(['token', 'create', '--tenant', 'default', '--name', 'ci']);
  const { code, stdout, stderr } = await running.ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\S+\n$/);
  expect(stdout.trim()).toMatch(tokenForm);
  expect(stderr).toMatch(
    /^Token \w{10} for notify, panel, metrics\. It is not shown again; .* token revoke \w{10} ends it\.\n$/,
  );
});

test('with --json a new token is its id and itself, and nothing else', async () => {
  const { stdout, stderr } = await cli.run(['token', 'create', '--name', 'ci', '--json']);
  const made = JSON.parse(stdout);
  expect(Object.keys(made)).toEqual(['id', 'token']);
  expect(made.token).toMatch(tokenForm);
  expect(made.token.split('_')[1]).toBe(made.id);
  expect(stderr).toBe('');
});

test('a token has the scopes, the end and the addresses that were asked for, and is named after who made it', async () => {
  const options = ['--scopes', 'panel,notify', '--expires', '90d', '--allow-from', '10.0.0.0/8, fd00::1'];
  const { id } = JSON.parse(await cli.ok(['token', 'create', '--name', ' limited ', ...options, '--json']));
  const found = (await list('token', 'list')).find((token: { id: string }) => token.id === id);
  expect(found).toMatchObject({
    name: 'limited',
    scopes: ['notify', 'panel'],
    allowFrom: ['10.0.0.0/8', 'fd00::1'],
    createdBy: 'cli',
    revokedAt: null,
  });
  expect(Date.parse(found.expiresAt) - Date.now()).toBeGreaterThan(89.9 * 86_400_000);
  expect(Date.parse(found.expiresAt) - Date.now()).toBeLessThan(90.1 * 86_400_000);
});

test('a token may be made for URLs, with the scope notify alone', async () => {
  const create = ['token', 'create', '--name', 'shelly', '--allow-in-url', '--json'];
  const { id } = JSON.parse(await cli.ok([...create, '--scopes', 'notify']));
  const found = (await list('token', 'list')).find((token: { id: string }) => token.id === id);
  expect(found).toMatchObject({ scopes: ['notify'], allowInUrl: true });
  for (const scopes of [[], ['--scopes', 'notify,panel']]) {
    const { code, stderr } = await cli.run([...create, ...scopes]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('the scope notify alone')]);
  }
});

test('a list shows no secret, to people and to programs', async () => {
  const token = await cli.token();
  const secret = token.split('_')[2] as string;
  const [table, json] = [await cli.ok(['token', 'list']), await cli.ok(['token', 'list', '--json'])];
  expect(table).toMatch(/^ID +NAME +SCOPES +STATE/);
  for (const text of [table, json]) {
    expect(text).toContain(token.split('_')[1]);
    expect(text).not.toContain(secret);
    expect(text).not.toContain('hash');
  }
});

test('revoking ends a token once, by its id or by itself', async () => {
  const [one, other] = [await cli.token(), await cli.token()];
  const id = one.split('_')[1] as string;
  expect(await cli.ok(['token', 'revoke', id])).toMatch(new RegExp(`^revoked: ${id} \\(test\\)\n$`));
  expect(await cli.ok(['token', 'revoke', id])).toMatch(/^revoked already on /);
  expect(await cli.ok(['token', 'revoke', other])).toMatch(/^revoked: /);
  const tokens: { id: string; revokedAt: string | null }[] = await list('token', 'list');
  expect(tokens.find((token) => token.id === id)?.revokedAt).not.toBeNull();
});

test('keys are made, listed and revoked like tokens, with a role', async () => {
  const made = JSON.parse(
    await cli.ok(['key', 'create', '--tenant', 'default', '--role', 'admin', '--name', 'deploy', '--json']),
  );
  expect(Object.keys(made)).toEqual(['id', 'key']);
  expect(made.key).toMatch(keyForm);
  const { stdout } = await cli.run(['key', 'create', '--role', 'viewer', '--name', 'look']);
  expect(stdout.trim()).toMatch(keyForm);
  expect(await list('key', 'list')).toMatchObject([
    { role: 'admin', name: 'deploy' },
    { role: 'viewer', name: 'look' },
  ]);
  expect((await cli.run(['token', 'revoke', made.id])).code).toBe(1);
  expect(await cli.ok(['key', 'revoke', made.id])).toMatch(/^revoked: /);
});

test('a command that made the database says so, and several at once make one', async () => {
  const env = { BELFRY_DATABASE_URL: `sqlite:${join(cli.folder, 'fresh', 'belfry.db')}` };
  const made = await Promise.all(
    ['a', 'b', 'c'].map((name) => cli.run(['token', 'create', '--name', name, '--json'], { env })),
  );
  expect(made.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(made.map(({ stderr }) => stderr).join('')).toContain(
    `belfry: made a new database, ${join(cli.folder, 'fresh', 'belfry.db')}\n`,
  );
  expect(JSON.parse(await cli.ok(['token', 'list', '--json'], { env }))).toHaveLength(3);
});

test('a command that only reads or removes makes no database, as in a wrong folder', async () => {
  const path = join(cli.folder, 'nowhere', 'belfry.db');
  const env = { BELFRY_DATABASE_URL: `sqlite:${path}` };
  const file = join(cli.folder, 'empty.yaml');
  writeFileSync(file, 'version: 1\n');
  for (const args of [
    ['token', 'list'],
    ['key', 'revoke', 'x'],
    ['tenant', 'list'],
    ['user', 'list'],
    ['user', 'password', 'anna@example.org'],
    ['export'],
    ['diff', file],
    ['apply', file, '--dry-run'],
  ])
    expect(await cli.run(args, { env }), args.join(' ')).toMatchObject({
      code: args[0] === 'diff' ? 2 : 1,
      stdout: '',
      stderr: `belfry: there is no database at ${path}: set BELFRY_DATABASE_URL to where it is\n`,
    });
  expect(existsSync(dirname(path))).toBe(false);
  expect(await cli.run(['apply', file], { env })).toMatchObject({
    code: 0,
    stdout: 'No changes.\n',
    stderr: expect.stringContaining(`belfry: made a new database, ${path}\n`),
  });
});

const main = 'dist/server/main.js';

test('a command in a folder without a database makes none where no setting names the place', () => {
  const folder = join(cli.folder, 'elsewhere');
  mkdirSync(folder);
  writeFileSync(join(folder, 'empty.yaml'), 'version: 1\n');
  for (const args of [
    ['token', 'create', '--name', 'x'],
    ['key', 'create', '--name', 'x', '--role', 'viewer'],
    ['tenant', 'create', 'acme'],
    ['user', 'create', '--email', 'a@example.org', '--name', 'A', '--role', 'owner'],
    ['apply', 'empty.yaml'],
    ['backup', 'x.db'],
  ]) {
    // npm runs it, but the scripts of another package.
    const env = { PATH: process.env.PATH, npm_lifecycle_event: 'deploy' };
    const ended = spawnSync(process.execPath, [resolve(main), ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    expect({ args, code: ended.status, stdout: ended.stdout, stderr: ended.stderr }).toEqual({
      ...{ args, code: 1, stdout: '' },
      stderr: `belfry: there is no database at ${folder}/data/belfry.db: start the server there first, or set BELFRY_DATABASE_URL to where it is; after an install by systemd, use /usr/local/bin/belfry\n`,
    });
  }
  expect(readdirSync(folder)).toEqual(['empty.yaml']);
});

test('npm makes the database of a fresh checkout with the first command', () => {
  const checkout = join(cli.folder, 'checkout');
  cpSync('dist/server', join(checkout, 'dist/server'), { recursive: true });
  cpSync('package.json', join(checkout, 'package.json'));
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
  mkdirSync(join(checkout, 'src'));
  writeFileSync(join(checkout, 'src/main.ts'), '');
  const env = { PATH: process.env.PATH, npm_lifecycle_event: 'belfry' };
  const options = { cwd: checkout, env, encoding: 'utf8' } as const;
  const { stdout, stderr } = spawnSync(process.execPath, [main, 'token', 'create', '--name', 'ci'], options);
  expect(stdout.trim()).toMatch(tokenForm);
  expect(stderr).toContain(`belfry: made a new database, ${join(checkout, 'data/belfry.db')}\n`);
  expect(stderr).toContain('; npm run --silent belfry -- token revoke ');
});

test('a command for a tenant that a new database does not have makes no database', async () => {
  const folder = join(cli.folder, 'for-nobody');
  const env = { BELFRY_DATABASE_URL: `sqlite:${join(folder, 'belfry.db')}` };
  const empty = join(cli.folder, 'nothing.yaml');
  writeFileSync(empty, 'version: 1\n');
  for (const args of [
    ['token', 'create', '--name', 'x', '--tenant', 'nobody'],
    ['user', 'create', '--email', 'a@example.org', '--name', 'A', '--role', 'owner', '--tenant', 'nobody'],
    ['apply', empty, '--tenant', 'nobody'],
    ['tenant', 'create', 'default'],
  ])
    expect(await cli.run(args, { env }), args.join(' ')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no database at'),
    });
  expect(existsSync(folder)).toBe(false);
});

test('tenants are made and listed, and keep their tokens apart', async () => {
  expect(await cli.ok(['tenant', 'create', 'acme', '--title', 'Acme Ltd'])).toBe('created: acme\n');
  expect(await list('tenant', 'list')).toMatchObject([
    { name: 'acme', title: 'Acme Ltd' },
    { name: 'default' },
  ]);
  expect(await cli.ok(['tenant', 'list'])).toMatch(/^NAME +TITLE/);
  await cli.token('--tenant', 'acme');
  expect(await list('token', 'list', '--tenant', 'acme')).toHaveLength(1);
  const again = await cli.run(['tenant', 'create', 'acme']);
  expect(again).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('choose another name'),
  });
});

test('a token is made for one panel, by its name or id; an unknown one is an error that names those like it', async () => {
  const create = ['token', 'create', '--tenant', 'screens', '--name', 'phone'];
  await cli.ok(['tenant', 'create', 'screens']);
  const none = await cli.run([...create, '--panel', 'Hall']);
  expect(none).toMatchObject({ code: 1, stdout: '' });
  expect(none.stderr).toContain('this tenant has no panel yet: add one in the dashboard first');
  const { url, running } = await cli.serve();
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const call = async (path: string, token: string, json?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = json && { method: 'POST', body: JSON.stringify(json) };
    return fetch(`${url}${path}`, { headers, ...body });
  };
  const admin = ['key', 'create', '--tenant', 'screens', '--name', 'a', '--role', 'admin'];
  const key = (await cli.ok(admin)).trim();
  const ids: Record<string, string> = {};
  for (const name of ['Hall north', 'Hall south', 'Ada’s phone'])
    ids[name] = ((await (await call('/api/panels', key, { name })).json()) as { id: string }).id;
  const made = await Promise.all(
    ['Ada’s phone', ids['Hall north'] ?? ''].map(async (panel) =>
      JSON.parse(await cli.ok([...create, '--panel', panel, '--json'])),
    ),
  );
  const tokens = await list('token', 'list', '--tenant', 'screens');
  const panelsOf = made.map(({ id }) => tokens.find((token: { id: string }) => token.id === id));
  expect(panelsOf).toMatchObject([
    { scopes: ['panel'], panelId: ids['Ada’s phone'] },
    { scopes: ['panel'], panelId: ids['Hall north'] },
  ]);
  const statusOf = async (panel: string) => (await call(`/api/panels/${ids[panel]}`, made[1].token)).status;
  expect(await statusOf('Hall north')).toBe(200);
  expect(await statusOf('Hall south')).toBe(404);
  expect((await cli.run([...create, '--panel', 'hall'])).stderr).toContain(
    'there is no panel "hall"; did you mean Hall north, Hall south\n',
  );
  expect((await cli.run([...create, '--panel', 'x'])).stderr).toContain('; the panels are ');
  const notify = await cli.run([...create, '--panel', 'Ada’s phone', '--scopes', 'notify']);
  expect(notify.stderr).toContain('only a token with the scope panel alone may be for one panel');
});

test('a command that is called the wrong way says how it would be right, and its code is 2', async () => {
  const { code, stdout, stderr } = await cli.start(['token', 'create', '--name', 'x', '--scops', 'panel'])
    .ended;
  expect(stderr).toMatch(
    /^belfry: unknown option '--scops' \(did you mean --scopes\?\); see .* token create --help\n$/,
  );
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

test.each([
  [['token', 'create', '--name', 'x', '--tenant', 'nobody'], /there is no tenant "nobody": .* tenant list/],
  [['token', 'list', '--tenant', 'nobody'], /there is no tenant "nobody"/],
  [['token', 'revoke', 'nonesuch00'], /no token with the id nonesuch00: .* token list/],
  [['key', 'revoke', 'nonesuch00'], /no key with the id nonesuch00/],
])('%j cannot be done: one line on stderr says what to do, and the code is 1', async (args, message) => {
  const { code, stdout, stderr } = await cli.run(args);
  expect(stderr).toMatch(/^belfry: [^\n]+\n$/);
  expect(stderr).toMatch(message);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
});

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
  for (const flag of ['--version', '-V']) expect(await cli.ok([flag])).toBe(`${version}\n`);
});

test.skipIf(testStore === 'postgres')('config tells the settings in force, and no secret', async () => {
  const env = { BELFRY_PORT: '9000', BELFRY_METRICS_TOKEN: 'hush-hush', BELFRY_TOKEN: 'bfy_secret' };
  const plain = await cli.ok(['config'], { env });
  expect(plain).toContain('BELFRY_PORT=9000\n');
  expect(plain).toContain(`BELFRY_DATABASE_URL=sqlite:${cli.database}\n`);
  expect(plain).not.toMatch(/hush-hush|bfy_secret/);
  expect(await cli.ok(['config', '--explain'], { env })).toMatch(/^# .+\nBELFRY_/);
});

test('an output that cannot be written, as on a full disk, is a failure', () => {
  // Opened to read, it refuses every write.
  const unwritable = openSync('/dev/null', 'r');
  const { status, stderr } = spawnSync(process.execPath, ['dist/server/main.js', 'config'], {
    encoding: 'utf8',
    env: {},
    stdio: ['ignore', unwritable, 'pipe'],
  });
  closeSync(unwritable);
  expect(stderr).toBe('belfry: the output could not be written (EBADF)\n');
  expect(status).toBe(1);
});

test('every command reports all problems of the environment at once', async () => {
  const env = { BELFRY_PORT: 'high', BELFRY_PROT: '1', BELFRY_TOKEN: 'two words' };
  for (const args of [['config'], ['serve'], ['token', 'list'], ['send', 'a', 'b'], ['backup', 'x']]) {
    const { code, stdout, stderr } = await cli.run(args, { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^(belfry: BELFRY_\w+ [^\n]+\n){3}$/);
    expect(stderr).not.toContain('two words');
  }
});

test('a place where no database can be is an error of one line', async () => {
  const file = join(cli.folder, 'a-file');
  writeFileSync(file, 'not a database, but long enough to be looked at as one '.repeat(40));
  const cases = [
    [`sqlite:${file}`, 'is no database'],
    [`sqlite:${file}/belfry.db`, 'is no folder'],
    [`sqlite:${cli.folder}`, 'is a folder'],
  ] as const;
  for (const [url, message] of cases) {
    const { code, stderr } = await cli.run(['token', 'create', '--name', 'x'], {
      env: { BELFRY_DATABASE_URL: url },
    });
    expect(stderr).toMatch(/^belfry: [^\n]+BELFRY_DATABASE_URL[^\n]+\n$/);
    expect(stderr).toContain(message);
    expect(code).toBe(1);
  }
});

test('without a server, sending says so and how to start one', async () => {
  const reserved = createServer();
  await new Promise<void>((done) => reserved.listen(0, '127.0.0.1', done));
  const { port } = reserved.address() as AddressInfo;
  await new Promise((done) => reserved.close(done));
  const env = { BELFRY_URL: `http://127.0.0.1:${port}`, BELFRY_TOKEN: 'bfy_x' };
  for (const args of [['send', 'a', 'b', '--retry', '0'], ['tail'], ['panel', 'list']]) {
    const { code, stdout, stderr } = await cli.run(args, { env });
    expect(stderr).toBe(
      `belfry: no Belfry answers at ${env.BELFRY_URL}: start it with npm start, or set BELFRY_URL\n`,
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  }
});
