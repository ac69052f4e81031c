import { expect, test } from 'vitest';
import { quietHoursOf } from './quiet-hours.ts';

const at = (text: string) => Date.parse(text);
const night = { quietFrom: '22:00', quietUntil: '06:00' };

test('quiet hours are in the time zone of the panel, or of the tenant, and may pass midnight', () => {
  const quiet = quietHoursOf(night, 'Europe/Berlin');
  expect(quiet?.isQuiet(at('2026-11-30T20:59:00Z'))).toBe(false);
  expect(quiet?.isQuiet(at('2026-11-30T21:00:00Z'))).toBe(true);
  expect(quiet?.isQuiet(at('2026-12-01T04:59:00Z'))).toBe(true);
  expect(quiet?.isQuiet(at('2026-12-01T05:00:00Z'))).toBe(false);
  const own = quietHoursOf({ ...night, timeZone: 'UTC' }, 'Europe/Berlin');
  expect(own?.isQuiet(at('2026-11-30T21:00:00Z'))).toBe(false);
});

test('a night in which the clocks change is quiet by the wall clock', () => {
  const quiet = quietHoursOf(night, 'Europe/Berlin');
  const edges = [
    // An hour longer, an hour shorter.
    ['2026-10-24T20:00:00Z', '2026-10-25T05:00:00Z'],
    ['2027-03-27T21:00:00Z', '2027-03-28T04:00:00Z'],
  ] as const;
  for (const [from, until] of edges) {
    expect(quiet?.isQuiet(at(from) - 1)).toBe(false);
    for (let now = at(from); now < at(until); now += 600_000) expect(quiet?.isQuiet(now)).toBe(true);
    expect(quiet?.isQuiet(at(until))).toBe(false);
  }
});

test('with days, they begin on these days only', () => {
  const quiet = quietHoursOf({ ...night, quietDays: ['fri'] }, 'UTC');
  // 2026-12-04 is a Friday.
  expect(quiet?.isQuiet(at('2026-12-04T05:00:00Z'))).toBe(false);
  expect(quiet?.isQuiet(at('2026-12-04T23:00:00Z'))).toBe(true);
  expect(quiet?.isQuiet(at('2026-12-05T05:00:00Z'))).toBe(true);
  expect(quiet?.isQuiet(at('2026-12-05T23:00:00Z'))).toBe(false);
});

test('what is critical rings, unless the panel says otherwise; without both times everything does', () => {
  expect(quietHoursOf(night, 'UTC')?.ringsFrom).toBe(50);
  expect(quietHoursOf({ ...night, criticalRings: false }, 'UTC')?.ringsFrom).toBe(Number.POSITIVE_INFINITY);
  expect(quietHoursOf({ quietFrom: '22:00' }, 'UTC')).toBeUndefined();
});
