import { tmpdir } from 'node:os';
import pino from 'pino';
import { expect, test } from 'vitest';
import { FakeIo } from '#test/support/fake-io.ts';
import { run } from './run.ts';
import { serveUntil } from './serve.ts';

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
