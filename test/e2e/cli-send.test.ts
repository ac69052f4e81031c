import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Cli } from '../support/cli.ts';
import { IntakeDesk } from '../support/intake.ts';

let desk: IntakeDesk;
let cli: Cli;
let folder: string;
beforeAll(async () => {
  desk = await IntakeDesk.open();
  cli = new Cli();
});
afterAll(async () => {
  await cli?.remove();
  await desk?.close();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-spool-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const env = (url = desk.server.url) => ({ BELFRY_URL: url, BELFRY_TOKEN: desk.token });
const nobody = 'http://127.0.0.1:1';
const newest = async () =>
  (await desk.server.call('GET', '/api/history?limit=20', { token: desk.key })).json.notifications;

/** Stands before the real server and spoils what `spoil` says, by the ordinal of the request. */
async function proxy(spoil: (ordinal: number) => 'refuse' | 'lose the answer' | undefined) {
  let requests = 0;
  const keys: unknown[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const how = spoil(++requests);
    keys.push(request.headers['idempotency-key']);
    if (how === 'refuse') return void response.writeHead(503, { 'retry-after': '0' }).end('{"error":"busy"}');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = Object.entries(request.headers).filter(
      ([name]) => !/^(host|connection|content-length)$/.test(name),
    );
    const answer = await fetch(desk.server.url + request.url, {
      method: 'POST',
      headers: headers as [string, string][],
      body: Buffer.concat(chunks),
    });
    if (how === 'lose the answer') return void response.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys };
}

describe('belfry send', () => {
  test('tries again with one key, so that an answer that was lost stores nothing twice', async () => {
    const { url, keys } = await proxy((n) => (['refuse', 'lose the answer'] as const)[n - 1]);
    const head = await desk.head();
    const id = (await cli.ok(['send', 'T', 'M', '--retry', '1m'], { env: env(url) })).trim();
    expect((await newest())[0].id).toBe(id);
    expect(await desk.head()).toBe(head + 1);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  test('gives up in time, with the reason', async () => {
    const { url } = await proxy(() => 'refuse');
    const result = await cli.run(['send', 'T', 'M', '--retry', '400'], { env: env(url) });
    expect(result).toEqual({ code: 1, stdout: '', stderr: 'belfry: busy\n' });
  });

  test('keeps what it cannot send, for this user alone, and the next one sends it first', async () => {
    const spool = join(folder, 'spool');
    for (const title of ['first', 'second']) {
      const kept = await cli.run(['send', title, 'M', '--retry', '0', '--spool', spool], {
        env: env(nobody),
      });
      expect(kept).toEqual({
        code: 0,
        stdout: '',
        stderr: expect.stringMatching(/^belfry: kept in \S+: .+\n$/),
      });
    }
    const files = readdirSync(spool);
    expect(files).toHaveLength(2);
    expect(statSync(join(spool, files[0] as string)).mode & 0o777).toBe(0o600);
    expect(files.map((file) => readFileSync(join(spool, file), 'utf8')).join()).not.toContain(desk.token);
    await cli.ok(['send', 'third', 'M', '--spool', spool], { env: env() });
    expect((await newest()).slice(0, 3).map(({ title }: { title: string }) => title)).toEqual([
      'third',
      'second',
      'first',
    ]);
    expect(readdirSync(spool)).toEqual([]);
  });

  test('drops of what it keeps what the server will never take, and leaves what is not its own', async () => {
    await cli.run(['send', ' ', 'M', '--retry', '0', '--spool', folder], { env: env(nobody) });
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    writeFileSync(join(folder, '000000000000001-00000000.json'), '{"half');
    const { code, stderr } = await cli.run(['send', 'T', 'M', '--spool', folder], { env: env() });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/is dropped: title is required\n$/)]);
    expect(readdirSync(folder).toSorted()).toEqual(['000000000000001-00000000.json', 'notes.txt']);
  });

  test('keeps nothing that is refused', async () => {
    const { code } = await cli.run(['send', ' ', 'M', '--spool', join(folder, 'x')], { env: env() });
    expect([code, existsSync(join(folder, 'x'))]).toEqual([2, false]);
  });
});

describe('belfry run', () => {
  const node = (script: string) => ['--', process.execPath, '-e', script];

  test('sends the exit code and the last lines of a command that fails, and ends with its exit code', async () => {
    const script = `for (let i = 1; i <= 30; i++) console.log('line ' + i);
      console.error('\\x1b[31mno space left\\x1b[0m'); process.exitCode = 3`;
    const result = await cli.run(['run', '--title', 'Backup', '--lines', '3', ...node(script)], {
      env: env(),
    });
    expect(result).toMatchObject({ code: 3, stderr: '\x1b[31mno space left\x1b[0m\n' });
    expect(result.stdout).toMatch(/^line 1\n[\s\S]*line 30\n$/);
    const [{ title, message, level, host, key }] = await newest();
    expect([title, level, key]).toEqual(['Backup failed', 'error', `run:${host}:Backup`]);
    expect(message).toMatch(/^Exit code 3 after [\d.]+ s\.\n(?:.*\n){2}.*$/);
    expect(message).toContain('no space left');
    expect(message).not.toContain('\x1b');
  });

  test('says nothing of a command that succeeds, unless it is asked to', async () => {
    const head = await desk.head();
    expect(await cli.run(['run', ...node('console.log(1)')], { env: env() })).toEqual({
      code: 0,
      stdout: '1\n',
      stderr: '',
    });
    expect(await desk.head()).toBe(head);
    await cli.ok(['run', '--always', '--title', 'Backup', ...node('')], { env: env() });
    expect((await newest())[0]).toMatchObject({ title: 'Backup succeeded', level: 'success' });
  });

  test('of a command that a signal ends is the exit code that a shell tells', async () => {
    const script = 'process.kill(process.pid, "SIGKILL")';
    expect((await cli.run(['run', ...node(script)], { env: env() })).code).toBe(137);
    expect((await newest())[0].message).toMatch(/^Exit code 137 /);
  });

  test('keeps the exit code of the command when the server is away, and the notification where it may', async () => {
    const failing = node('process.exitCode = 4');
    const away = await cli.run(['run', '--retry', '0', ...failing], { env: env(nobody) });
    expect(away).toMatchObject({ code: 4, stderr: expect.stringMatching(/^belfry: not notified: .+\n$/) });
    const kept = await cli.run(['run', '--retry', '0', '--spool', folder, ...failing], { env: env(nobody) });
    expect([kept.code, readdirSync(folder).length]).toEqual([4, 1]);
  });

  test('of a command that cannot be started fails by itself, and without a token before it starts', async () => {
    const { code, stderr } = await cli.run(['run', '--', '/no/such/command'], { env: env() });
    expect([code, stderr]).toEqual([1, 'belfry: cannot run /no/such/command (ENOENT)\n']);
    const script = `require('fs').writeFileSync(${JSON.stringify(join(folder, 'ran'))}, '')`;
    expect((await cli.run(['run', ...node(script)], {})).code).toBe(2);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});
