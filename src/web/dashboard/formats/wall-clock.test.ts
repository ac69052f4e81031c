import { expect, test } from 'vitest';
import {
  dateTimeText,
  fromDateTimeField,
  nextMonday,
  nextMorning,
  parseDateTime,
  parseTime,
  toDateTimeField,
} from './wall-clock.ts';

const at = Date.parse;
const iso = (instant: number) => new Date(instant).toISOString().slice(0, 16);

test.each([
  ['the same day', '2026-11-21T05:00Z', 'Europe/Berlin', '2026-11-21T07:00'],
  ['the next day, once it has passed', '2026-11-21T07:00Z', 'Europe/Berlin', '2026-11-22T07:00'],
  ['over the end of a year', '2026-12-31T20:00Z', 'UTC', '2027-01-01T08:00'],
  ['over the night in which clocks go forward', '2026-03-28T20:00Z', 'Europe/Berlin', '2026-03-29T06:00'],
  ['over the night in which clocks go back', '2026-10-24T20:00Z', 'Europe/Berlin', '2026-10-25T07:00'],
  ['where it is already tomorrow', '2026-11-21T20:00Z', 'Asia/Tokyo', '2026-11-21T23:00'],
])('08:00 comes %s', (_, now, timeZone, expected) => {
  expect(iso(nextMorning(at(now), timeZone))).toBe(expected);
});

test.each([
  ['2026-11-21T12:00Z', '2026-11-23T07:00'],
  ['2026-11-22T22:59Z', '2026-11-23T07:00'],
  ['2026-11-23T06:00Z', '2026-11-23T07:00'],
  ['2026-11-23T07:00Z', '2026-11-30T07:00'],
  ['2026-11-24T07:00Z', '2026-11-30T07:00'],
])('at %s the next Monday morning in Berlin is %s', (now, expected) => {
  expect(iso(nextMonday(at(now), 'Europe/Berlin'))).toBe(expected);
});

test('a date and time field speaks of the time zone, whatever the machine is set to', () => {
  const instant = at('2026-11-21T07:30Z');
  expect(toDateTimeField(instant, 'America/New_York')).toBe('2026-11-21T02:30');
  expect(fromDateTimeField('2026-11-21T02:30', 'America/New_York')).toBe(instant);
  expect(fromDateTimeField('2026-07-01T00:00', 'Asia/Kolkata')).toBe(at('2026-06-30T18:30Z'));
  expect(fromDateTimeField('', 'UTC')).toBeUndefined();
});

test('a time that is skipped in spring is the one an hour later', () => {
  expect(iso(fromDateTimeField('2026-03-29T02:30', 'Europe/Berlin') ?? 0)).toBe('2026-03-29T01:30');
});

test.each([
  ['en-GB', '22/11/2026 08:05'],
  ['en-US', '11/22/2026 08:05'],
  ['de', '22.11.2026 08:05'],
  ['sv', '2026-11-22 08:05'],
])('a date and time is written and read in the order of %s', (locale, text) => {
  expect(dateTimeText('2026-11-22T08:05', locale)).toBe(text);
  expect(parseDateTime(text, locale)).toBe('2026-11-22T08:05');
  expect(parseDateTime('2026-11-22T08:05', locale)).toBe('2026-11-22T08:05');
});

test('a typed date may be short; one that does not exist is none', () => {
  expect(parseDateTime('3.2.26 8:00', 'de')).toBe('2026-02-03T08:00');
  expect(parseDateTime('31.2.2026 08:00', 'de')).toBeUndefined();
  expect(parseDateTime('22/11/2026', 'en-GB')).toBeUndefined();
  expect(parseDateTime('tomorrow', 'en-GB')).toBeUndefined();
  expect(dateTimeText('', 'en-GB')).toBe('');
});

test.each([
  ['8', '08:00'],
  ['22:00', '22:00'],
  ['8.30', '08:30'],
  ['0830', '08:30'],
  [' 23:59 ', '23:59'],
  ['24:00', '00:00'],
  ['', ''],
  ['24:01', undefined],
  ['25', undefined],
  ['8:60', undefined],
  ['8:3', undefined],
  ['8 pm', undefined],
])('the time "%s" is read as %s', (typed, expected) => {
  expect(parseTime(typed)).toBe(expected);
});
