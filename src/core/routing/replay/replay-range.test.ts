import { describe, expect, test } from 'vitest';
import type { Entry, LogPage } from '../../ports.ts';
import { replayed, replayStart } from './replay.ts';

/** A log whose entries were received at these times; a negative one is the clearing of a notification. */
function logOf(times: readonly number[], first = 1) {
  const entries = times.map((time, i): Entry => {
    const position = first + i;
    const entry =
      time < 0
        ? { kind: 'clear', position, at: -time }
        : { kind: 'notification', position, receivedAt: time };
    return entry as unknown as Entry;
  });
  const head = first + times.length - 1;
  let reads = 0;
  return {
    reads: () => reads,
    bounds: async () => ({ head, first }),
    async readAfter(_tenant: number, position: number, limit: number): Promise<LogPage> {
      reads += 1;
      const after = entries.filter((entry) => entry.position > position);
      return { head, first, entries: after.slice(0, limit) };
    },
  };
}

const positions = async (log: ReturnType<typeof logOf>, since: number, most = 1_000) => {
  const start = await replayStart(log, 1, since, most);
  const found: number[] = [];
  for await (const { position } of replayed(log, 1, start)) found.push(position);
  return { found, complete: start.complete };
};

describe('the range of a replay', () => {
  test('begins with the first notification of the time asked for', async () => {
    const log = logOf([10, 20, 30, 40, 50]);
    expect(await positions(log, 30)).toEqual({ found: [3, 4, 5], complete: true });
    expect(await positions(log, 31)).toEqual({ found: [4, 5], complete: true });
    expect(await positions(log, 0)).toEqual({ found: [1, 2, 3, 4, 5], complete: true });
    expect(await positions(log, 51)).toEqual({ found: [], complete: true });
  });

  test('holds what became of them, and leaves out what retention dropped', async () => {
    expect(await positions(logOf([10, -15, 20, -25]), 0)).toEqual({ found: [1, 2, 3, 4], complete: true });
    expect(await positions(logOf([10, 20, 30], 501), 20)).toEqual({ found: [502, 503], complete: true });
    expect(await positions(logOf([]), 0)).toEqual({ found: [], complete: true });
  });

  test('says so when the bound is reached, and looks at the newest then', async () => {
    const log = logOf([10, 20, 30, 40, 50]);
    expect(await positions(log, 0, 2)).toEqual({ found: [4, 5], complete: false });
    expect(await positions(log, 45, 2)).toEqual({ found: [5], complete: true });
    expect(await positions(log, 0, 5)).toEqual({ found: [1, 2, 3, 4, 5], complete: true });
  });

  test('is found in a long log by few reads', async () => {
    const log = logOf(Array.from({ length: 100_000 }, (_, i) => i));
    const { after } = await replayStart(log, 1, 70_000, 1_000_000);
    expect(after).toBe(70_000);
    expect(log.reads()).toBeLessThan(20);
  });
});
