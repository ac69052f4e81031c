import { expect, test } from 'vitest';
import { durationOf, msOf } from './duration.ts';

test('a duration is shown in the largest unit that gives a whole number, and read back', () => {
  for (const [ms, amount, unit] of [
    [15_000, 15, 's'],
    [90_000, 90, 's'],
    [120_000, 2, 'min'],
    [5_400_000, 90, 'min'],
    [604_800_000, 7, 'd'],
    [1_500, 1.5, 's'],
  ] as const) {
    expect(durationOf(ms)).toEqual({ amount, unit });
    expect(msOf(durationOf(ms))).toBe(ms);
  }
});

test('nothing, zero and text are no duration', () => {
  for (const amount of ['', 0, -1, 'x']) expect(msOf({ amount, unit: 'd' })).toBeNaN();
  for (const ms of [0, Number.NaN]) expect(durationOf(ms).amount).toBe('');
});
