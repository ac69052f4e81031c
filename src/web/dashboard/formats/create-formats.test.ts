import { expect, test } from 'vitest';
import { durationText } from '#contract/duration.ts';
import { createFormats } from './create-formats.ts';

test('in English a duration reads as in the texts of server, command line and panel', () => {
  const formats = createFormats('en', 'UTC');
  const plain = (ms: number) => formats.duration(ms).replaceAll('\u00a0', ' ');
  // Up to a thousand days, where the dashboard begins to group digits.
  for (let ms = 0; ms < 1_000 * 86_400_000; ms = Math.ceil(ms * 1.007 + 1))
    expect(plain(ms)).toBe(durationText(ms));
  for (const ms of [0, 999, 1_000, 59_999, 60_000, 90_000, 3_600_000, 86_400_000, 90_060_000])
    expect(plain(ms)).toBe(durationText(ms));
});

test.each([
  ['en', ['2 s ago', '10 min ago', '9 h ago', '3 days ago', 'in 5 min']],
  ['de', ['vor 2 s', 'vor 10 min', 'vor 9 h', 'vor 3 Tagen', 'in 5 min']],
])('in %s the units of an age are those of a duration', (locale, texts) => {
  const { relative } = createFormats(locale, 'UTC');
  const ages = [-2_000, -600_000, -9 * 3_600_000, -3 * 86_400_000, 300_000];
  expect(ages.map((age) => relative(age, 0).replaceAll('\u00a0', ' '))).toEqual(texts);
});
