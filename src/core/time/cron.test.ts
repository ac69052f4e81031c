import { expect, test } from 'vitest';
import { checkCron, nextCronTime } from './cron.ts';

test.each([
  ['0 3 * * 1-5', 'Europe/Berlin', '2026-11-27T02:10Z', '2026-11-30T02:00Z', 'Friday: the next is on Monday'],
  [
    '0 3 * * *',
    'Europe/Berlin',
    '2026-03-28T03:00Z',
    '2026-03-29T01:00Z',
    'an hour earlier in UTC in summer',
  ],
  ['0 3 * * *', 'Europe/Berlin', '2026-10-24T02:00Z', '2026-10-25T02:00Z', 'and later again in winter'],
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', '2026-03-29T01:00Z', 'a time that spring skips'],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', '2026-10-25T00:30Z', 'a time that comes twice'],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30Z', '2026-10-26T01:30Z', 'counts once'],
  ['0 * * * *', 'Europe/Berlin', '2026-10-25T00:30Z', '2026-10-25T01:00Z', 'but each hour is one'],
  ['30 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', '2026-10-03T15:30Z', 'a gap of half an hour'],
  ['0 0 1 * 1', 'UTC', '2026-10-25T00:30Z', '2026-10-26T00:00Z', 'the first of a month, or a Monday'],
  ['0 0 29 2 *', 'UTC', '2026-10-25T00:30Z', '2028-02-29T00:00Z', 'a leap year'],
])('%s in %s after %s is %s: %s', (cron, timeZone, after, next) => {
  expect(nextCronTime(cron, timeZone, Date.parse(after))).toBe(Date.parse(next));
});

test.each([
  '',
  '0 3 * *',
  '0 0 3 * * *',
  '@daily',
  '60 3 * * *',
  '0 0 30 2 *',
  '*/0 * * * *',
  'a b c d e',
  '0 3 * * 1-5; rm',
  `${'0,'.repeat(60)}0 3 * * *`,
])('%j is no expression of cron', (text) => {
  expect(() => checkCron(text, 'expectCron')).toThrow(/^expectCron: must be the five fields of cron/);
});

test('blanks around and between the fields do not matter', () => {
  expect(checkCron(' 0  3\t* * MON-FRI ', 'x')).toBe('0 3 * * MON-FRI');
});
