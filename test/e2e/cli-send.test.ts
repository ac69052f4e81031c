import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
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
    if (how === 'refuse') {
      const headers = { 'retry-after': '0', 'belfry-error': 'unavailable' };
      return void response.writeHead(503, headers).end('{"error":"busy"}');
    }
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
  return { url: await listening(server), keys };
}

/** Its URL, until the test ends. */
async function listening(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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

  test('sends each --label, whose name ends at the first =', async () => {
    const labels = ['env=prod', 'note=a=1, b', 'empty='].flatMap((label) => ['--label', label]);
    const id = (await cli.ok(['send', 'T', 'M', ...labels], { env: env() })).trim();
    expect((await desk.find(id)).labels).toEqual({ env: 'prod', note: 'a=1, b', empty: '' });
    for (const wrong of ['env', '=prod'])
      expect(await cli.run(['send', 'T', 'M', '--label', wrong], { env: env() })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Write a name and a value, as in env=prod;'),
      });
    expect(
      await cli.run(['send', 'T', 'M', '--label', 'env=2', '--label', 'env=1'], { env: env() }),
    ).toMatchObject({ code: 2, stderr: expect.stringContaining('The label env is there already') });
    const refused = await cli.run(['send', 'T', 'M', '--label', '9x=prod'], { env: env() });
    expect(refused).toMatchObject({ stderr: expect.stringContaining('labels must have names of') });
    expect(refused.code).not.toBe(0);
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

  test('keeps what is sent with a token that is not valid, fails, and sends it with the next valid one', async () => {
    const spool = join(folder, 'spool');
    const refused = await cli.run(['send', 'kept', 'M', '--spool', spool], {
      env: { ...env(), BELFRY_TOKEN: `${desk.token.slice(0, -1)}${desk.token.endsWith('0') ? '1' : '0'}` },
    });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^belfry: kept in \S+: .+\nbelfry: .+ does not know this token/),
    ]);
    await cli.ok(['send', 'next', 'M', '--spool', spool], { env: env() });
    expect((await newest()).slice(0, 2).map(({ title }: { title: string }) => title)).toEqual([
      'next',
      'kept',
    ]);
    expect(readdirSync(spool)).toEqual([]);
  });

  test('says on stderr that a level is new', async () => {
    const { code, stderr } = await cli.run(['send', 'T', 'M', '--level', 'eror'], { env: env() });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^belfry: "eror" is a new level, .+\n$/)]);
  });

  test('prints an id, a warning and an error of a server as they can do no harm to a terminal', async () => {
    const answers = [
      [200, { ok: true, id: '\x1b]0;x\x07\u202e1', warning: 'a\x1b[2J\nb' }],
      [400, { error: '\x1b[31mno\r' }],
    ] as const;
    let answered = 0;
    const server = createServer((_, response) => {
      const [status, body] = answers[answered++] ?? answers[0];
      response.writeHead(status, { 'belfry-error': 'bad-request' }).end(JSON.stringify(body));
    });
    const hostile = env(await listening(server));
    expect(await cli.run(['send', 'T', 'M'], { env: hostile })).toEqual({
      code: 0,
      stdout: '\\x1b]0;x\\x07\\u202e1\n',
      stderr: 'belfry: a\\x1b[2J\\nb\n',
    });
    const refused = await cli.run(['send', 'T', 'M'], { env: hostile });
    expect(refused).toEqual({ code: 2, stdout: '', stderr: 'belfry: \\x1b[31mno\\r\n' });
  });

  test('drops of what it keeps what the server will never take, and leaves what is not its own', async () => {
    await cli.run(['send', ' ', 'M', '--retry', '0', '--spool', folder], { env: env(nobody) });
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    writeFileSync(join(folder, '000000000000001-00000000.json'), '{"half');
    const { code, stderr } = await cli.run(['send', 'T', 'M', '--spool', folder], { env: env() });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/is dropped: title is required\n$/)]);
    expect(readdirSync(folder).toSorted()).toEqual(['000000000000001-00000000.json', 'notes.txt']);
  });

  test.each([
    ['a'.repeat(300_000), `${'a'.repeat(14_999)}…`],
    ['語'.repeat(20_000), `${'語'.repeat(14_999)}…`],
    ['😀'.repeat(9_000), `${'😀'.repeat(7_499)}\ufffd…`],
    [`${'ä'.repeat(15_000)}\n`, 'ä'.repeat(15_000)],
  ])('cuts what it reads from stdin to the length of a message', async (input, message) => {
    const { code, stderr } = await cli.run(['send', 'T', '-'], { env: env(), input });
    const note = message.endsWith('…') ? 'belfry: the message is cut to its first 15000 characters\n' : '';
    expect([code, stderr]).toEqual([0, note]);
    expect((await newest())[0].message === message).toBe(true);
  });

  test('keeps nothing that is refused', async () => {
    const { code } = await cli.run(['send', ' ', 'M', '--spool', join(folder, 'x')], { env: env() });
    expect([code, existsSync(join(folder, 'x'))]).toEqual([2, false]);
  });
});

describe('a server that is no Belfry', () => {
  test.each([
    [501, 'the server answered 501 Not Implemented'],
    [200, 'the answer is not JSON: is this a Belfry server?'],
  ])('and answers %i is named by its URL', async (status, answer) => {
    const other = createServer((_, response) => void response.writeHead(status).end('<html>Hello</html>'));
    const url = await listening(other);
    for (const args of [
      ['send', 'T', 'M'],
      ['tail', '--panel', 'desk'],
    ]) {
      const { code, stderr } = await cli.run(args, { env: env(url) });
      expect([code, stderr]).toEqual([
        1,
        `belfry: no Belfry answers at ${url} (${answer}): check BELFRY_URL\n`,
      ]);
    }
  });
});

test('an address of Belfry that is wrong in a common way is named with what is right', async () => {
  const { url } = desk.server;
  const send = (address: string) => cli.run(['send', 'T', 'M', '--retry', '0'], { env: env(address) });
  expect((await send(`${url}/api/notify`)).stderr).toContain(`BELFRY_URL must have no path, as in ${url}\n`);
  expect((await send(url.replace('http:', 'https:'))).stderr).toContain(
    'does not speak https: set BELFRY_URL to an address with http:',
  );
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
    expect(message).toMatch(/^Exit code 3 after [\da-z ]+\.\n(?:.*\n){2}.*$/);
    expect(message).toContain('no space left');
    expect(message).not.toContain('\x1b');
  });

  test('takes a title of any length, also with an emoji where it is cut', async () => {
    const title = `${'x'.repeat(199)}😀`;
    const { code, stderr } = await cli.run(['run', '--title', title, ...node('process.exitCode = 5')], {
      env: env(),
    });
    expect([code, stderr]).toEqual([5, '']);
    expect((await newest())[0].title).toBe(`${'x'.repeat(199)}\ufffd failed`);
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

  test.each([
    ['is not there', () => '/no/such/command', 127, 'there is no such command'],
    ['may not be executed', () => join(folder, 'plain.sh'), 126, 'it is not executable'],
    ['lies in a file', () => join(folder, 'plain.sh', 'x'), 126, 'ENOTDIR'],
  ])('of a command that %s notifies too, and ends as a shell does', async (_, file, code, reason) => {
    writeFileSync(join(folder, 'plain.sh'), 'echo 1', { mode: 0o644 });
    const result = await cli.run(['run', '--title', 'Backup', '--', file()], { env: env() });
    const text = `cannot run ${file()}: ${reason}`;
    expect([result.code, result.stderr]).toEqual([code, `belfry: ${text}\n`]);
    const [{ title, message, level }] = await newest();
    expect([title, message, level]).toEqual([
      'Backup failed',
      `Exit code ${code} after 0 s.\n${text}`,
      'error',
    ]);
  });

  test.each([
    ['without a token', {}, 'nothing is notified: BELFRY_TOKEN is not set: make a token with '],
    ['with a wrong URL', { BELFRY_URL: 'belfry' }, 'nothing is notified: BELFRY_URL is "belfry": '],
    ['with a token that nobody knows', { BELFRY_TOKEN: 'bfy_x' }, 'not notified: http'],
  ])('%s runs the command all the same, and ends with its exit code', async (_, wrong, reason) => {
    const set = Object.keys(wrong).length === 0 ? {} : { ...env(), ...wrong };
    const result = await cli.run(['run', ...node('console.log("ran"); process.exitCode = 6')], { env: set });
    expect([result.code, result.stdout]).toEqual([6, 'ran\n']);
    expect(result.stderr).toContain(`belfry: ${reason}`);
    expect(result.stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('is wrong usage with an unknown option, and the command does not run', async () => {
    const { code, stdout } = await cli.run(['run', '--nope', ...node('console.log(1)')], { env: env() });
    expect([code, stdout]).toEqual([2, '']);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('passes on %s as it is', async (signal) => {
    const script = `process.once('${signal}', () => { console.log('got ${signal}'); process.exitCode = 9; clearInterval(timer) });
      const timer = setInterval(() => {}, 1000); console.log('up')`;
    const running = cli.start(['run', ...node(script)], env());
    await running.says(/up/);
    running.child.kill(signal);
    expect(await running.ended).toMatchObject({ code: 9, stdout: `up\ngot ${signal}\n` });
  });

  test('of a command that its signal ends, ends with 128 and the number of the signal', async () => {
    const running = cli.start(['run', ...node('console.log("up"); setInterval(() => {}, 1000)')], env());
    await running.says(/up/);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(143);
  });

  test('ends when nobody reads the output any more, as the command alone would', async () => {
    const running = cli.start(['run', ...node('setInterval(() => console.log("more"), 5)')], env());
    await running.says(/more/);
    running.child.stdout.destroy();
    expect((await running.ended).code).not.toBe(0);
  });
});
