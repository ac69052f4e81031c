import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '#client/client.ts';
import { version } from '#server/version.ts';
import { Cli } from '../support/cli.ts';
import { limitMs } from '../support/patience.ts';
import { testStore } from '../support/test-store.ts';

let cli: Cli;
beforeEach(() => {
  cli = new Cli();
});
afterEach(() => cli.remove());

const root = resolve(import.meta.dirname, '../..');
const statusOf = async (url: string, token: string) =>
  (await fetch(`${url}/api/panels`, { headers: { authorization: `Bearer ${token}` } })).status;

/** A request that is never finished: the server waits for it when it is told to stop. */
async function hold(url: string, token: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const begun = `POST /api/notify HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-length: 100\r\n\r\nab`;
  await new Promise((resolve) => socket.write(begun, resolve));
  // What was sent before has been read once a later request is answered.
  await fetch(`${url}/healthz`);
}

test('a server that is ready says what to do next, and what it prints can be pasted', async () => {
  const { running, url } = await cli.serve({ npm_lifecycle_event: 'start' });
  const { stdout } = running;
  const shell = async (command: string) => {
    const env = { PATH: `${join(process.execPath, '..')}:${process.env.PATH}`, HOME: cli.folder };
    return (await promisify(execFile)('sh', ['-c', command], { cwd: root, env })).stdout.trim();
  };
  const [, make] = /^ {4}(TOKEN=\$\(.+\))$/m.exec(stdout) ?? [];
  const token = await shell(`${make}; echo "$TOKEN"`);
  expect(token).toMatch(/^bfy_/);
  const [, body] = /-d '(.+)'$/m.exec(stdout) ?? [];
  expect(stdout).toContain(`curl ${url}/api/notify -H "Authorization: Bearer $TOKEN" \\\n`);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' };
  const post = () => fetch(`${url}/api/notify`, { method: 'POST', headers, body: body as string });
  expect(await (await post()).json()).toMatchObject({ ok: true });
  const [, watch] = /^ {4}(BELFRY_URL=.+ tail)$/m.exec(stdout) ?? [];
  // A writer learns that its reader has gone by its next line.
  const again = setInterval(() => void post().catch(() => undefined), 300);
  const seen = await shell(`export BELFRY_TOKEN=${token}; ${watch} | head -n 1`).finally(() =>
    clearInterval(again),
  );
  expect(seen).toMatch(/ {2}success {3}Hello — It works\.$/);
});

test('SIGTERM stops it in order; stdout is for people, the log is on stderr', async () => {
  const { running, url } = await cli.serve({ BELFRY_LOG_REQUESTS: 'on' });
  await fetch(`${url}/api/levels?auth=secret`, { headers: { 'x-request-id': 'request-1' } });
  await fetch(`${url}/api/pairings/secret`);
  await fetch(`${url}/ntfy/act/secret`, { method: 'POST' });
  running.child.kill('SIGTERM');
  const { code, stdout, stderr } = await running.ended;
  expect(code).toBe(0);
  await expect(fetch(url)).rejects.toThrow();
  expect(stdout).not.toContain('"msg"');
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ msg }) => msg)).toContain('stopped');
  expect(lines[0]).toMatchObject({ msg: 'starting', version: expect.stringContaining(version) });
  const requests = lines.filter(({ msg }) => msg === 'answered');
  expect(requests).toContainEqual(
    expect.objectContaining({ requestId: 'request-1', method: 'GET', path: '/api/levels', status: 401 }),
  );
  const paths = requests.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['/api/pairings/…', '/ntfy/act/…']));
  expect(stderr).not.toContain('secret');
});

test.each(['SIGINT', 'SIGHUP'] as const)('%s stops it in order', async (signal) => {
  const { running, url } = await cli.serve();
  running.child.kill(signal);
  expect((await running.ended).code).toBe(0);
  await expect(fetch(url)).rejects.toThrow();
});

test('one press that arrives twice is one, a second press ends it at once', async () => {
  const { running, url } = await cli.serve({ BELFRY_DRAIN_MS: '20000' });
  await hold(url, await cli.token());
  running.child.kill('SIGINT');
  running.child.kill('SIGINT');
  await running.says(/"msg":"stopping/, 'stderr');
  await sleep(800);
  expect(running.child.exitCode).toBeNull();
  const began = performance.now();
  running.child.kill('SIGINT');
  await running.ended;
  expect(running.child.signalCode).toBe('SIGKILL');
  expect(performance.now() - began).toBeLessThan(limitMs(2_000));
});

test('a reader of the first steps may leave: the server stays', async () => {
  const running = cli.start(['serve'], { BELFRY_HOST: '127.0.0.1', BELFRY_PORT: '0' });
  running.child.stdout.destroy();
  const [, url] = await running.says(/"url":"([^"]+)"/, 'stderr');
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

describe('beside a server that runs', () => {
  let cli: Cli;
  let url: string;
  beforeAll(async () => {
    cli = new Cli();
    ({ url } = await cli.serve());
  });
  afterAll(() => cli.remove());

  test.skipIf(testStore === 'postgres')(
    'what keeps it from starting is one line, and the code is 1',
    async () => {
      const { port } = new URL(url);
      const other = {
        BELFRY_DATABASE_URL: `sqlite:${join(cli.folder, 'other.db')}`,
        BELFRY_HOST: '127.0.0.1',
      };
      const taken = await cli.run(['serve'], {
        env: { ...other, BELFRY_PORT: port, BELFRY_LOG_LEVEL: 'warn' },
      });
      expect(taken).toEqual({
        code: 1,
        stdout: '',
        stderr: `belfry: port ${port} is taken: end what listens there, or set BELFRY_PORT to another\n`,
      });
      const second = await cli.run(['serve'], { env: { BELFRY_PORT: '0', BELFRY_LOG_LEVEL: 'warn' } });
      expect(second).toMatchObject({ code: 1, stdout: '' });
      expect(second.stderr).toMatch(
        /^belfry: another Belfry server runs on .*: stop it first, or set BELFRY_DATABASE_URL .*\n$/,
      );
      const nowhere = await cli.run(['serve'], {
        env: { ...other, BELFRY_PORT: '0', BELFRY_HOST: '203.0.113.1', BELFRY_LOG_LEVEL: 'warn' },
      });
      expect(nowhere).toMatchObject({ code: 2, stdout: '' });
      expect(nowhere.stderr).toMatch(/^belfry: this machine has no address 203\.0\.113\.1: .*\n$/);
    },
  );

  test('administration goes on beside a running server, which follows within a second or two', async () => {
    const token = await cli.token();
    expect(await statusOf(url, token)).toBe(200);
    await cli.ok(['token', 'revoke', token]);
    await expect.poll(() => statusOf(url, token), { timeout: limitMs(2_000) }).toBe(401);
    await cli.ok(['tenant', 'create', 'acme']);
    const other = await cli.token('--tenant', 'acme', '--scopes', 'panel');
    expect(await statusOf(url, other)).toBe(200);
  });

  test('sending prints the id of what was sent, and takes every field', async () => {
    const env = { BELFRY_URL: url, BELFRY_TOKEN: await cli.token() };
    const fields = [
      '--level',
      'error',
      '--ttl',
      '30s',
      '--host',
      'db-01',
      '--ip',
      '10.0.0.5',
      '--key',
      'disk',
      '--url',
      'https://x.test/a',
    ];
    const id = (
      await cli.ok(['send', 'Disk full', '-', ...fields], { env, input: 'line 1\nline 2\n' })
    ).trim();
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const response = await fetch(`${url}/api/notifications/${id}`, {
      headers: { authorization: `Bearer ${env.BELFRY_TOKEN}` },
    });
    expect(await response.json()).toMatchObject({
      title: 'Disk full',
      message: 'line 1\nline 2',
      level: 'error',
      ttl: 30_000,
      host: 'db-01',
      ip: '10.0.0.5',
      key: 'disk',
      url: 'https://x.test/a',
    });
    const again = ['send', 'once', 'only', '--idempotency-key', 'k'];
    expect(await cli.ok(again, { env })).toBe(await cli.ok(again, { env }));
  });

  test('a refusal of the server is shown in its words, with the way out', async () => {
    const [token, panelOnly] = [await cli.token(), await cli.token('--scopes', 'panel')];
    const cases = [
      [['send', ' ', 'm'], token, 2, /^belfry: title is required\n$/],
      [['send', 't', 'm', '--ip', 'nowhere'], token, 2, /^belfry: ip .+\n$/],
      [
        ['send', 't', 'm'],
        panelOnly,
        1,
        /^belfry: this token lacks the notify scope: make one with .* token create --name NAME --scopes notify\n$/,
      ],
      [
        ['send', 't', 'm'],
        `${token.slice(0, -1)}~`,
        1,
        /^belfry: http\S+ does not know this token: .*, and set BELFRY_TOKEN\n$/,
      ],
    ] as const;
    for (const [args, BELFRY_TOKEN, code, message] of cases) {
      const result = await cli.run(args, { env: { BELFRY_URL: url, BELFRY_TOKEN } });
      expect(result.stderr).toMatch(message);
      expect(result).toMatchObject({ code, stdout: '' });
    }
  });

  test('panels are listed with whether they are connected', async () => {
    const token = await cli.token();
    const env = { BELFRY_URL: url, BELFRY_TOKEN: token };
    await createClient({ url, token }).registerPanel({ name: 'lobby', tags: ['noc'] });
    expect(JSON.parse(await cli.ok(['panel', 'list', '--json'], { env }))).toMatchObject([
      { name: 'lobby', tags: ['noc'], online: false },
    ]);
    expect(await cli.ok(['panel', 'list'], { env })).toMatch(/ lobby +noc +offline /);
  });
});
