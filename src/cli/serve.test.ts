import { expect, test, vi } from 'vitest';
import { FakeIo } from '../../test/support/fake-io.ts';
import { run } from './run.ts';

const log: { level: string; text: unknown }[] = [];
let ends = true;
vi.mock('../app.ts', () => {
  const line = (level: string) => (_: unknown, text: unknown) => log.push({ level, text });
  return {
    createLogger: () => ({ info: line('info'), error: line('error'), fatal: line('fatal') }),
    startServer: async () => ({
      url: 'http://127.0.0.1:1',
      failed: Promise.resolve(new Error('out of memory')),
      stop: async () => ends,
    }),
  };
});

test.each([
  { ends: true, kills: 0 },
  { ends: false, kills: 1 },
])(
  'a server whose writing thread died says so, stops and ends with 1; what hangs is killed: %o',
  async (given) => {
    ends = given.ends;
    const io = new FakeIo();
    expect(await run(['serve'], io)).toBe(1);
    expect(io.kills).toBe(given.kills);
    expect(io.err).toContain('the thread that writes to the database ended: start the server again');
    expect(log).toContainEqual({
      level: 'fatal',
      text: 'stopping: the thread that writes to the database ended',
    });
  },
);
