import { expect, test } from 'vitest';
import { parseDuration, parseDurationOrMs } from '#contract/duration.ts';
import { briefDuration } from './duration.ts';

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
  [999, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min'],
  [3_600_000, '1 h'],
  [47 * 3_600_000, '47 h'],
  [48 * 3_600_000, '2 d'],
])('%i ms is told as %s', (ms, text) => {
  expect(briefDuration(ms)).toBe(text);
});
