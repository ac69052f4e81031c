import { afterEach, expect, test, vi } from 'vitest';
import { backoffMs } from './backoff.ts';

afterEach(() => vi.restoreAllMocks());

const waits = (attempts: readonly number[]) =>
  attempts.map((attempt) => backoffMs(attempt, { baseMs: 100, capMs: 1_000 }));

test('the wait doubles with each attempt, up to its cap', () => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  expect(waits([0, 1, 2, 3, 4, 5, 10_000])).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000]);
});

test('the wait is drawn between half and all of it', () => {
  for (const wait of waits(Array(200).fill(2))) {
    expect(wait).toBeGreaterThanOrEqual(200);
    expect(wait).toBeLessThanOrEqual(400);
  }
  vi.spyOn(Math, 'random').mockReturnValue(0);
  expect(waits([0])).toEqual([50]);
});
