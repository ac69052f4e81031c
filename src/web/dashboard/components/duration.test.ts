import { expect, test } from 'vitest';
import { durationDraftOf, durationOf } from './duration.ts';

const week = 604_800_000;

test('a duration is told in the largest unit that tells it whole, and read back', () => {
  for (const [ms, amount, unit] of [
    [15_000, 15, 's'],
    [90_000, 90, 's'],
    [120_000, 2, 'min'],
    [5_400_000, 90, 'min'],
    [week, 7, 'd'],
    [1_500, 1.5, 's'],
  ] as const) {
    expect(durationDraftOf(ms)).toEqual({ endless: false, amount, unit });
    expect(durationOf(durationDraftOf(ms), week)).toBe(ms);
  }
  expect(durationOf(durationDraftOf(0), week)).toBe(0);
});

test('nothing, zero and what is too long are no duration', () => {
  for (const amount of ['', 0, -1, 8, 'x'])
    expect(durationOf({ endless: false, amount, unit: 'd' }, week)).toBeUndefined();
});
