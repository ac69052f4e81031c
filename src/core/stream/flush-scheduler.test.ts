import { describe, expect, it } from 'vitest';
import { limitMs } from '#test/support/patience.ts';
import { FlushScheduler } from './flush-scheduler.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const until = async (done: () => boolean) => {
  for (let i = 0; i < 100_000 && !done(); i++) await turn();
  expect(done()).toBe(true);
};

/** Streams whose writes take as long as is said, by a clock that only they move on. */
function streams(count: number, writeMs: number) {
  let at = 0;
  let lastAt = 0;
  const pumped: number[] = [];
  const all = Array.from({ length: count }, (_, i) => ({
    pump() {
      at += writeMs;
      pumped.push(i);
      lastAt = performance.now();
    },
  }));
  return {
    all,
    pumped,
    lastPumpedAt: () => lastAt,
    rounds: new FlushScheduler({ streams: () => all, monotonicNow: () => at }),
  };
}

describe('rounds', () => {
  it('goes over every stream once for what one turn of the event loop brings', async () => {
    const { pumped, rounds } = streams(3, 0.001);
    for (let i = 0; i < 5; i++) rounds.schedule();
    expect(pumped).toEqual([]);
    await until(() => pumped.length > 0);
    for (let i = 0; i < 10; i++) await turn();
    expect(pumped).toEqual([0, 1, 2]);
  });

  it('lets few streams have each event as it comes', async () => {
    const { pumped, rounds } = streams(2, 0.001);
    for (let i = 0; i < 20; i++) {
      rounds.schedule();
      await turn();
      await turn();
    }
    expect(pumped.length).toBeGreaterThanOrEqual(20);
  });

  it('rests after a long round, and then brings what came meanwhile at once', async () => {
    const { pumped, rounds, lastPumpedAt } = streams(10, 2);
    rounds.schedule();
    await until(() => pumped.length === 10);
    const began = lastPumpedAt();
    // Twenty ms of writing: twenty of rest, in which every further event waits for the one round after it.
    while (pumped.length === 10) {
      rounds.schedule();
      await turn();
    }
    expect(performance.now() - began).toBeGreaterThan(15);
    await until(() => pumped.length === 20);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(pumped.length).toBeLessThanOrEqual(30);
  });

  it('rests no longer than fifty milliseconds', async () => {
    const { pumped, rounds } = streams(1_000, 1);
    rounds.schedule();
    await until(() => pumped.length === 1_000);
    const began = performance.now();
    rounds.schedule();
    await until(() => pumped.length > 1_000);
    expect(performance.now() - began).toBeLessThan(limitMs(100));
  });

  it('cuts a round over many streams into turns', async () => {
    const { pumped, rounds } = streams(100, 1);
    rounds.schedule();
    let longest = 0;
    let before = 0;
    await until(() => {
      longest = Math.max(longest, pumped.length - before);
      before = pumped.length;
      return pumped.length === 100;
    });
    expect(longest).toBeLessThanOrEqual(16);
  });

  it('brings what comes within a round to those it has passed already', async () => {
    const { all, pumped, rounds } = streams(40, 1);
    rounds.schedule();
    await until(() => pumped.length >= 8);
    expect(pumped.length).toBeLessThan(40);
    rounds.schedule();
    await until(() => pumped.length === 80);
    expect(pumped.slice(40)).toEqual(all.map((_, i) => i));
  });

  it('goes on with streams that came within a round, and without those that left', async () => {
    let at = 0;
    const pumped: string[] = [];
    const open = new Map<{ pump(): void }, string>();
    const add = (name: string) => {
      const stream = {
        pump() {
          at += 1;
          pumped.push(name);
        },
      };
      open.set(stream, name);
      return stream;
    };
    for (let i = 0; i < 16; i++) add(`${i}`);
    const leaving = add('leaving');
    const rounds = new FlushScheduler({ streams: () => open.keys(), monotonicNow: () => at });
    rounds.schedule();
    await until(() => pumped.length === 8);
    open.delete(leaving);
    add('new');
    await until(() => pumped.includes('new'));
    expect(pumped).not.toContain('leaving');
  });
});
