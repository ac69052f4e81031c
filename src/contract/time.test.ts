import { expect, test } from 'vitest';
import { ageText, durationText, parseDuration, parseDurationOrMs } from './time.ts';

test.each([
  ['30s', 30_000],
  ['15m', 900_000],
  ['12h', 43_200_000],
  ['90d', 7_776_000_000],
  ['2w', 1_209_600_000],
  ['0s', 0],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
  expect(parseDurationOrMs(text)).toBe(ms);
});

test.each(['', '90', 'd', '-1d', '1.5h', '1 d', '90D', '1d2h', '1y', '1ms', '9999999999999d', ' 1d', '1e3s'])(
  '"%s" is no duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test('without a unit, or with ms, it is milliseconds where that is allowed', () => {
  expect(parseDurationOrMs('1500')).toBe(1500);
  expect(parseDurationOrMs('1500ms')).toBe(1500);
  expect(parseDurationOrMs('0')).toBe(0);
  expect(parseDurationOrMs('-1')).toBeUndefined();
  expect(parseDurationOrMs('1.5')).toBeUndefined();
});

test.each([
  [-5, '0 s'],
  [0, '0 s'],
  [0.4, '0 s'],
  [340.9, '340 ms'],
  [999, '999 ms'],
  [1_000, '1 s'],
  [2_900, '2 s'],
  [90_000, '1 min 30 s'],
  [600_000, '10 min'],
  [7_384_200, '2 h 3 min'],
  [9 * 3_600_000, '9 h'],
  [15 * 3_600_000 + 32 * 60_000 + 59_000, '15 h 32 min'],
  [47 * 3_600_000, '1 d 23 h'],
  [3 * 86_400_000, '3 d'],
])('%d ms reads as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [-5, '0 s'],
  [999, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min'],
  [3_600_000, '1 h'],
  [47 * 3_600_000, '1 d'],
  [48 * 3_600_000, '2 d'],
])('an age of %i ms reads as %s', (ms, text) => {
  expect(ageText(ms)).toBe(text);
});
