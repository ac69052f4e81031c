import { expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';

test('the wait doubles with each attempt, up to its cap', () => {
  const waits = [0, 1, 2, 3, 4, 5, 1_000].map((attempt) =>
    backoffMs(attempt, { baseMs: 100, capMs: 1_000, random: () => 1 }),
  );
  expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000]);
});

test('the wait is drawn between half and all of it', () => {
  expect(backoffMs(0, { baseMs: 100, capMs: 1_000, random: () => 0 })).toBe(50);
  for (let i = 0; i < 200; i++) {
    const wait = backoffMs(2, { baseMs: 100, capMs: 1_000 });
    expect(wait).toBeGreaterThanOrEqual(200);
    expect(wait).toBeLessThanOrEqual(400);
  }
});
