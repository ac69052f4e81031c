import pino from 'pino';
import { expect, test } from 'vitest';
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
