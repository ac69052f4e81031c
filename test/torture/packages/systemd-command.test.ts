/** deploy/belfry, the command of an install by systemd, in a folder of its own and without systemd. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '#settings/config.ts';
import { otherUser } from '#test/support/postgres.ts';
import { root } from '#test/support/server-process.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const script = read('deploy/belfry');
const unit = read('deploy/belfry.service');
const defaults = read('deploy/belfry.env');
const folder = mkdtempSync(join(tmpdir(), 'belfry-command-'));
const [bin, settings, state] = [join(folder, 'bin'), join(folder, 'belfry.env'), join(folder, 'state')];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = (name: string, text: string) => {
  writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(bin, name), 0o755);
};

beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  for (const each of [folder, bin, state]) mkdirSync(each);
  program('id', 'case $1 in -u) echo "$FAKE_UID" ;; -g) echo "$FAKE_GID"; [ -n "$FAKE_GID" ] ;; esac');
  // Takes its options, and runs the rest.
  program('setpriv', 'export SETPRIV="$1 $2 $3 $4 $5"; shift 5; exec "$@"');
  // Stands for Node: prints its arguments, then its environment as JSON.
  program(
    'node',
    `exec "${process.execPath}" -e 'console.log(JSON.stringify({ args: process.argv.slice(1), env: process.env, umask: process.umask() }))' -- "$@"`,
  );
  const paths = {
    '/opt/belfry': root.replace(/\/$/, ''),
    '/usr/bin/node': join(bin, 'node'),
    '/etc/belfry/belfry.env': settings,
    '/var/lib/belfry': state,
  };
  const moved = Object.entries(paths).reduce(
    (text, [from, to]) => text.replaceAll(`=${from}`, `=${to}`),
    script,
  );
  program('belfry', moved);
});

function belfry(args: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(join(bin, 'belfry'), args, {
    encoding: 'utf8',
    env: { PATH: `${bin}:${process.env.PATH}`, FAKE_UID: '0', FAKE_GID: '7', ...env },
  });
  const seen = stdout === '' ? undefined : (JSON.parse(stdout) as Record<string, never>);
  return { status, stderr, seen };
}

const environmentWith = (text: string, env: Record<string, string> = {}) => {
  writeFileSync(settings, text);
  const { status, stderr, seen } = belfry(['token', 'list'], env);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return seen?.env;
};

test('the unit and the command have the same settings, user, program and folders', () => {
  expect(unit).not.toMatch(/^Environment=/m);
  const files = Array.from(unit.matchAll(/^EnvironmentFile=-?(.*)$/gm), ([, file]) => file);
  expect(files).toEqual(['/opt/belfry/deploy/belfry.env', '/etc/belfry/belfry.env']);
  const of = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(script)?.[1];
  expect([of('settings'), of('own_settings')]).toEqual(['$checkout/deploy/belfry.env', files[1]]);
  expect(unit).toContain(`\nWorkingDirectory=${of('checkout')}\n`);
  expect(unit).toContain(`\nUser=${of('user')}\n`);
  expect(unit).toContain(`\nExecStart=${of('node')} `);
  expect(unit).toContain(`\nStateDirectory=${of('state')?.replace('/var/lib/', '')}\n`);
  expect(defaults).toContain(`\nBELFRY_DATABASE_URL=sqlite:${of('state')}/belfry.db\n`);
  const lines = Array.from(defaults.matchAll(/^(BELFRY_\w+)=(\S+)$/gm), ([, name, value]) => [name, value]);
  expect(readConfig(Object.fromEntries(lines))).toMatchObject({ host: '127.0.0.1', log: { format: 'json' } });
});

test('a command runs as the user of the service, with the settings of the unit and of belfry.env, which wins', () => {
  writeFileSync(settings, 'BELFRY_HOST=0.0.0.0\nBELFRY_METRICS_PORT=9464\n');
  const { status, seen } = belfry(['token', 'create', '--name', 'a b', '$HOME']);
  expect(status).toBe(0);
  expect(seen).toMatchObject({
    args: [join(root, 'dist/server/main.js'), 'token', 'create', '--name', 'a b', '$HOME'],
    env: {
      SETPRIV: '--reuid belfry --regid 7 --init-groups',
      BELFRY_DATABASE_URL: 'sqlite:/var/lib/belfry/belfry.db',
      BELFRY_HOST: '0.0.0.0',
      BELFRY_METRICS_PORT: '9464',
      NODE_COMPILE_CACHE: '/var/cache/belfry',
      HOME: state,
      USER: 'belfry',
    },
    umask: 0o077,
  });
});

test('without belfry.env the settings are those of the unit', () => {
  expect(belfry(['config']).seen?.env).toMatchObject({
    BELFRY_DATABASE_URL: 'sqlite:/var/lib/belfry/belfry.db',
  });
});

test.each([
  ['spaces around the value', 'A =  b c  ', 'b c'],
  ['double quotes', 'A="b  #c; "', 'b  #c; '],
  ['single quotes', 'A=\'b "c" \\\'', 'b "c" \\'],
  ['quotes within a value', `A=b"c'd`, `b"c'd`],
  ['escapes in double quotes', 'A="a\\"b\\$c\\\\d\\e"', 'a"b$c\\d\\e'],
  ['escapes without quotes', 'A=a\\"b\\\\c\\ ', 'a"b\\c '],
  ['a line that goes on', 'A=a\\\nb', 'ab'],
  ['lines in quotes', 'A="a\nb"', 'a\nb'],
  ['two quoted parts', `A="a" 'b' c`, 'abc'],
  ['a # and an =', 'A=a=b#c', 'a=b#c'],
  ['lines that end as on Windows', 'A=b\r\nB=c\r\n', 'b'],
  ['the same name twice', 'A=b\nA=c', 'c'],
  ['comments, empty lines and what is no setting', '# A=1\n; A=2\n\nexport A=3\nB\n  A=4\n', '4'],
  ['no code that runs', "A=$(touch ran)`touch ran`'; touch ran; '", "$(touch ran)`touch ran`'; touch ran; '"],
])('belfry.env is read as systemd reads it: %s', (_, text, value) => {
  expect(environmentWith(text)).toMatchObject({ A: value });
});

test('a setting of the caller wins, also over a file that names it', () => {
  const text = 'BELFRY_DATABASE_URL_FILE=/etc/belfry/url\nBELFRY_PORT=1\n';
  const env = environmentWith(text, { BELFRY_DATABASE_URL: 'sqlite:/tmp/try.db' });
  expect(env).toMatchObject({ BELFRY_DATABASE_URL: 'sqlite:/tmp/try.db', BELFRY_PORT: '1' });
  expect(env).not.toHaveProperty('BELFRY_DATABASE_URL_FILE');
});

test('who is not root is asked to use sudo, and what is missing is one line', () => {
  const refused = { status: 1, seen: undefined };
  expect(belfry(['token', 'list'], { FAKE_UID: '1000' })).toEqual({
    ...refused,
    stderr: 'belfry: only root may use the data of the service: sudo belfry token …\n',
  });
  expect(belfry(['token', 'list'], { FAKE_GID: '' })).toMatchObject({
    ...refused,
    stderr: expect.stringMatching(/^belfry: there is no user belfry: see Install in .*operations\.md\n$/),
  });
  rmSync(state, { recursive: true });
  expect(belfry(['token', 'list'])).toEqual({
    ...refused,
    stderr: `belfry: there is no ${state} yet: start the service first with systemctl start belfry\n`,
  });
});

test('what talks to a server only runs as the caller, without the settings of the service', () => {
  for (const command of ['send', 'run', 'tail', 'ack', 'panel', 'completion', '--help', 'apply']) {
    const { status, seen } = belfry([command, 'x'], { FAKE_UID: '1000', BELFRY_TOKEN: 't' });
    expect({ status, args: seen?.args }).toEqual({
      status: 0,
      args: [join(root, 'dist/server/main.js'), command, 'x'],
    });
    expect(seen?.env).toMatchObject({ BELFRY_TOKEN: 't' });
    expect(seen?.env).not.toHaveProperty('BELFRY_DATABASE_URL');
    expect(seen?.env).not.toHaveProperty('SETPRIV');
  }
});

test('a node reads its key where the guide puts it, with the rights of the service', async (context) => {
  const user = otherUser();
  context.skip(user === undefined, 'needs root, to start a server as another user');
  if (!user) return;
  const [, install = ''] = /^(install -m 600 .*belfry\.key)/m.exec(read('docs/postgresql.md')) ?? [];
  expect(read('docs/postgresql.md')).toContain('\\nBELFRY_KEY_FILE=/var/lib/belfry/belfry.key\\n');
  chmodSync(folder, 0o711);
  chmodSync(state, 0o700);
  chownSync(state, user.uid, user.gid);
  const key = 'k'.repeat(43);
  writeFileSync(join(folder, 'belfry.key'), key);
  const moved = install
    .replace('-o belfry -g belfry', `-o ${user.uid} -g ${user.gid}`)
    .replace('/var/lib/belfry/', `${state}/`);
  expect(spawnSync('sh', ['-c', moved], { cwd: folder, encoding: 'utf8' })).toMatchObject({ status: 0 });
  const server = spawn(process.execPath, [join(root, 'dist/server/main.js'), 'serve'], {
    ...user,
    cwd: '/',
    env: {
      BELFRY_DATABASE_URL: `sqlite:${state}/belfry.db`,
      BELFRY_KEY_FILE: `${state}/belfry.key`,
      BELFRY_HOST: '127.0.0.1',
      BELFRY_PORT: '0',
    },
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  let output = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (output += text));
  await expect.poll(() => output, { timeout: 120_000 }).toContain('"msg":"ready"');
  expect(readFileSync(join(state, 'belfry.key'), 'utf8')).toBe(key);
});
