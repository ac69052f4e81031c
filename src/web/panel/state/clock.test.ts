import { expect, test } from 'vitest';
import { createClock, isWithin } from './clock.ts';

const at = Date.parse('2026-11-20T20:47:00.000Z');

test('times are those of the zone, in the way of the locale', () => {
  const berlin = createClock('de-DE', 'Europe/Berlin');
  expect([berlin.time(at), berlin.date(at), berlin.minuteOfDay(at)]).toEqual([
    '21:47',
    'Fr., 20. Nov.',
    21 * 60 + 47,
  ]);
  expect(createClock('en-US', 'America/New_York').time(at)).toMatch(/^03:47\sPM$/);
});

test('a moment of another day has its date', () => {
  const clock = createClock('de-DE', 'Europe/Berlin');
  expect(clock.moment(at, at - 3_600_000)).toBe('21:47');
  expect(clock.moment(at, at + 3 * 3_600_000)).toBe('Fr., 20. Nov., 21:47');
});

test('an unknown zone or locale does not stop the clock', () => {
  const clock = createClock('not a locale', 'Middle-earth/Shire');
  expect([clock.timeZone, clock.minuteOfDay(at)]).toEqual(['UTC', 20 * 60 + 47]);
});

test('midnight is the first minute of the day', () => {
  expect(createClock('en', 'UTC').minuteOfDay(Date.parse('2026-11-20T00:05:00.000Z'))).toBe(5);
});

test.each([
  ['22:00', '06:00', 23 * 60, true],
  ['22:00', '06:00', 5 * 60 + 59, true],
  ['22:00', '06:00', 6 * 60, false],
  ['09:00', '17:00', 12 * 60, true],
  ['09:00', '17:00', 17 * 60, false],
  ['00:00', '00:00', 700, true],
])('from %s until %s holds minute %i: %s', (from, until, minute, holds) => {
  expect(isWithin({ from, until }, minute)).toBe(holds);
});
