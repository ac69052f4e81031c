import { expect, it } from 'vitest';
import { type RetentionEntry, RetentionWalk } from './retention.ts';

const now = 1_000;
const bounds = { olderThan: 500, keep: null, now };

function walk(times: readonly number[]): { asked: number; first: number | undefined } {
  const walking = new RetentionWalk({ first: 1, notifications: times.length }, bounds, 10);
  let asked = 0;
  for (const at of times) {
    asked += 1;
    const entry: RetentionEntry = { row: asked, position: asked, at, bytes: 1 };
    if (!walking.add(entry)) break;
  }
  return { asked, first: walking.step?.first };
}
const ahead = (count: number): number[] => Array.from({ length: count }, () => now + 1);

it('looks for an old entry behind those that are ahead of the clock, but not without end', () => {
  expect(walk([...ahead(150), 1, 600])).toEqual({ asked: 151, first: 152 });
  expect(walk([...ahead(10_000), 1])).toEqual({ asked: 200, first: undefined });
});

it('passes any number of changes before the first notification', () => {
  const walking = new RetentionWalk({ first: 1, notifications: 1 }, bounds, 10);
  for (let i = 1; i <= 10_000; i++)
    expect(walking.add({ row: i, position: i, at: now + 1, bytes: null })).toBe(true);
  walking.add({ row: 10_001, position: 10_001, at: 1, bytes: 1 });
  expect(walking.step?.first).toBe(10_002);
});
