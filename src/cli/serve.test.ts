import { tmpdir } from 'node:os';
import pino from 'pino';
import { expect, test } from 'vitest';
import { FakeIo } from '#test/support/fake-io.ts';
import { run } from './run.ts';
import { firstSteps, serveUntil } from './serve.ts';

test.each([
  { ends: true, kills: 0 },
  { ends: false, kills: 1 },
])(
  'a server whose writing thread died says so, stops and ends with 1; what hangs is killed: %o',
  async ({ ends, kills }) => {
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line: string) => lines.push(line) });
    let killed = 0;
    const server = { failed: Promise.resolve(new Error('out of memory')), stop: async () => ends };
    const kill = () => {
      killed += 1;
    };
    const never = new Promise<void>(() => undefined);
    await expect(serveUntil(never, server, { logger, kill })).rejects.toThrow(
      'the thread that writes to the database ended: start the server again',
    );
    expect(killed).toBe(kills);
    const fatal = lines.map((line) => JSON.parse(line)).find(({ level }) => level === 60);
    expect(fatal).toMatchObject({ msg: 'stopping: the thread that writes to the database ended' });
  },
);

test('a server that cannot start says why, also when a signal comes meanwhile', async () => {
  const env = { BELFRY_DATABASE_URL: `sqlite:${tmpdir()}`, BELFRY_LOG_LEVEL: 'silent' };
  const io = new FakeIo({ env });
  const signalled = Object.assign(io, {
    onSignal: (callback: Parameters<FakeIo['onSignal']>[0]) => {
      callback('SIGTERM');
      return () => undefined;
    },
  });
  expect({ code: await run(['serve'], signalled), err: io.err }).toEqual({
    code: 1,
    err: `belfry: ${tmpdir()} is a folder: set BELFRY_DATABASE_URL to a file in it\n`,
  });
});

function steps(
  env: Record<string, string>,
  url = 'http://127.0.0.1:8080',
  program = 'belfry',
  setUpSecret?: string,
): string {
  return firstSteps({
    url,
    env,
    program,
    config: new FakeIo({ env }).config(),
    version: '1.2.3',
    setUpSecret,
  });
}

test('with the usual settings the commands carry none', () => {
  const text = steps({});
  expect(text).toContain('Belfry 1.2.3 is ready at http://127.0.0.1:8080');
  expect(text).toContain('    export BELFRY_TOKEN=$(belfry token create --name desk)\n    belfry tail\n');
  expect(text).not.toMatch(/BELFRY_(URL|DATABASE_URL)=/);
});

test('settings of this server go with the commands that need them, quoted for a shell', () => {
  const text = steps({ BELFRY_DATABASE_URL: "sqlite:/var/lib/it's here/b.db" }, 'http://127.0.0.1:9000');
  expect(text).toContain(
    `$(BELFRY_DATABASE_URL='sqlite:/var/lib/it'\\''s here/b.db' belfry token create --name desk)`,
  );
  expect(text).toContain('    BELFRY_URL=http://127.0.0.1:9000 belfry tail\n');
  expect(text).toContain('curl http://127.0.0.1:9000/api/notify');
});

test('people are given the address that others reach it at, programs on this machine its own', () => {
  const text = steps({ BELFRY_BASE_URL: 'https://belfry.example.org/' });
  expect(text).toContain('is ready at https://belfry.example.org\n');
  expect(text).toContain('curl http://127.0.0.1:8080/api/notify');
});

test('in a checkout the commands are called through npm', () => {
  const text = steps({}, undefined, 'npm run --silent belfry --');
  expect(text).toContain('in a second terminal, in this folder');
  expect(text).toContain('$(npm run --silent belfry -- token create --name desk)');
});

test('while there is no account, the link to make it comes first; the secret stands where no log sees it', () => {
  const base = 'https://belfry.example.org';
  const text = steps({ BELFRY_BASE_URL: base }, undefined, undefined, 'Secret123');
  expect(text).toContain(`is ready at ${base}\n\n  Set up: ${base}/setup#Secret123\n\n`);
  expect(steps({})).not.toContain('Set up');
});
