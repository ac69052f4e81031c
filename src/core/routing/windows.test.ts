import { describe, expect, test } from 'vitest';
import { type RuleWindow, weekdays } from '#contract/routing/rule.ts';
import { compileActivity } from './windows.ts';

const always = { activeFrom: null, activeUntil: null, windows: [] as RuleWindow[], timeZone: 'UTC' };
const active = (times: Partial<typeof always> | { activeFrom?: string; activeUntil?: string }, at: string) =>
  compileActivity({ ...always, ...times }).isActive(Date.parse(at));
const inWindow = (timeZone: string, days: RuleWindow['days'], from: string, until: string, at: string) =>
  active({ timeZone, windows: [{ days, from, until }] }, at);
const everyDay = [...weekdays];

describe('between two instants', () => {
  test.each([
    ['2026-11-01T09:59:59.999Z', false],
    ['2026-11-01T10:00:00.000Z', true],
    ['2026-11-01T11:59:59.999Z', true],
    ['2026-11-01T12:00:00.000Z', false],
  ])('at %s a rule from 10:00 until 12:00 is active: %s', (at, expected) => {
    expect(active({ activeFrom: '2026-11-01T10:00:00Z', activeUntil: '2026-11-01T14:00:00+02:00' }, at)).toBe(
      expected,
    );
  });

  test('an open end is open', () => {
    expect(active({ activeUntil: '2026-11-01T00:00:00Z' }, '1971-01-01T00:00:00Z')).toBe(true);
    expect(active({ activeFrom: '2026-11-01T00:00:00Z' }, '2099-01-01T00:00:00Z')).toBe(true);
  });
});

describe('weekly windows', () => {
  // 2026-11-02 is a Monday.
  test.each([
    ['2026-11-02T07:59:59Z', false],
    ['2026-11-02T08:00:00Z', true],
    ['2026-11-06T17:59:59Z', true],
    ['2026-11-06T18:00:00Z', false],
    ['2026-11-07T12:00:00Z', false],
    ['2026-11-08T12:00:00Z', false],
  ])('at %s mon–fri 08:00–18:00 UTC holds: %s', (at, expected) => {
    expect(inWindow('UTC', ['mon', 'tue', 'wed', 'thu', 'fri'], '08:00', '18:00', at)).toBe(expected);
  });

  test.each([
    ['2026-11-02T21:59:00Z', false],
    ['2026-11-02T22:00:00Z', true],
    ['2026-11-02T23:59:00Z', true],
    ['2026-11-03T05:59:00Z', true],
    ['2026-11-03T06:00:00Z', false],
    ['2026-11-03T22:00:00Z', false],
  ])('past midnight: at %s mon 22:00–06:00 holds: %s', (at, expected) => {
    expect(inWindow('UTC', ['mon'], '22:00', '06:00', at)).toBe(expected);
  });

  test('a Sunday night ends on Monday morning', () => {
    expect(inWindow('UTC', ['sun'], '22:00', '06:00', '2026-11-02T05:59:00Z')).toBe(true);
    expect(inWindow('UTC', ['sun'], '22:00', '06:00', '2026-11-02T06:00:00Z')).toBe(false);
  });

  test('an end at the start is the same time of the next day; 24:00 is midnight', () => {
    expect(inWindow('UTC', ['mon'], '08:00', '08:00', '2026-11-03T07:59:00Z')).toBe(true);
    expect(inWindow('UTC', ['mon'], '08:00', '08:00', '2026-11-03T08:00:00Z')).toBe(false);
    expect(inWindow('UTC', ['mon'], '00:00', '24:00', '2026-11-02T23:59:59Z')).toBe(true);
    expect(inWindow('UTC', ['mon'], '00:00', '24:00', '2026-11-03T00:00:00Z')).toBe(false);
  });

  test('the day is the day there, not in UTC', () => {
    expect(inWindow('Pacific/Auckland', ['mon'], '08:00', '09:00', '2026-11-01T19:30:00Z')).toBe(true);
    expect(inWindow('America/Los_Angeles', ['sun'], '23:00', '24:00', '2026-11-02T07:30:00Z')).toBe(true);
    expect(inWindow('Asia/Kathmandu', ['mon'], '05:45', '05:46', '2026-11-02T00:00:59Z')).toBe(true);
  });

  test('any of several windows is enough', () => {
    const windows: RuleWindow[] = [
      { days: ['mon'], from: '08:00', until: '09:00' },
      { days: ['wed'], from: '10:00', until: '11:00' },
    ];
    expect(active({ windows }, '2026-11-04T10:30:00Z')).toBe(true);
    expect(active({ windows }, '2026-11-04T08:30:00Z')).toBe(false);
  });
});

describe('summer time', () => {
  // Berlin skipped 02:00–03:00 on 2026-03-29 (01:00Z) and repeats 02:00–03:00 on 2026-10-25 (00:00Z and 01:00Z).
  test.each([
    ['2026-03-29T00:59:59Z', false],
    ['2026-03-29T01:00:00Z', true],
    ['2026-03-29T01:29:59Z', true],
    ['2026-03-29T01:30:00Z', false],
  ])('in spring, 02:30–03:30 starts where the clock jumps to 03:00: at %s %s', (at, expected) => {
    expect(inWindow('Europe/Berlin', everyDay, '02:30', '03:30', at)).toBe(expected);
  });

  test.each([
    ['2026-10-25T00:29:00Z', false],
    ['2026-10-25T00:30:00Z', true],
    ['2026-10-25T00:59:00Z', true],
    ['2026-10-25T01:00:00Z', false],
    ['2026-10-25T01:29:00Z', false],
    ['2026-10-25T01:30:00Z', true],
    ['2026-10-25T01:59:00Z', true],
    ['2026-10-25T02:00:00Z', false],
  ])('in autumn, 02:30–03:00 comes twice: at %s %s', (at, expected) => {
    expect(inWindow('Europe/Berlin', everyDay, '02:30', '03:00', at)).toBe(expected);
  });

  test('08:00 stays 08:00 across the change', () => {
    expect(inWindow('Europe/Berlin', everyDay, '08:00', '09:00', '2026-03-28T07:00:00Z')).toBe(true);
    expect(inWindow('Europe/Berlin', everyDay, '08:00', '09:00', '2026-03-30T06:00:00Z')).toBe(true);
    expect(inWindow('Europe/Berlin', everyDay, '08:00', '09:00', '2026-03-30T07:00:00Z')).toBe(false);
  });

  test('a night that loses an hour still ends at its time', () => {
    expect(inWindow('America/New_York', ['sat'], '22:00', '06:00', '2026-03-08T09:59:00Z')).toBe(true);
    expect(inWindow('America/New_York', ['sat'], '22:00', '06:00', '2026-03-08T10:00:00Z')).toBe(false);
  });

  test('a change of half an hour at half past is seen in its minute', () => {
    // Lord Howe: 02:00 becomes 01:30 on 2026-04-05 (2026-04-04T15:00Z).
    expect(inWindow('Australia/Lord_Howe', everyDay, '01:30', '01:31', '2026-04-04T14:30:00Z')).toBe(true);
    expect(inWindow('Australia/Lord_Howe', everyDay, '01:30', '01:31', '2026-04-04T14:31:00Z')).toBe(false);
    expect(inWindow('Australia/Lord_Howe', everyDay, '01:30', '01:31', '2026-04-04T15:00:00Z')).toBe(true);
  });

  test('the answer is right each time, also when the time jumps back and forth', () => {
    const night = compileActivity({ ...always, windows: [{ days: ['mon'], from: '22:00', until: '06:00' }] });
    const times = [
      '2026-11-02T23:00:00Z',
      '2026-11-02T12:00:00Z',
      '2026-11-02T23:00:30Z',
      '2026-11-03T06:00:00Z',
      '2026-11-02T23:00:00Z',
    ];
    expect(times.map((at) => night.isActive(Date.parse(at)))).toEqual([true, false, true, false, true]);
  });
});

describe('what cannot work is refused', () => {
  test.each([
    [
      { timeZone: 'Europe/Berln' },
      'timeZone: "Europe/Berln" is no time zone; write an IANA name, as in Europe/Berlin or UTC',
    ],
    [
      { timeZone: '+01:00' },
      'timeZone: "+01:00" is no time zone; write an IANA name, as in Europe/Berlin or UTC',
    ],
    [
      { activeFrom: '2026-11-01T10:00:00Z', activeUntil: '2026-11-01T10:00:00Z' },
      'activeUntil: must be after activeFrom',
    ],
    [{ activeFrom: 'soon' }, 'activeFrom: "soon" is no time; write 2026-11-01T18:00:00Z'],
    [
      { windows: [{ days: ['mon' as const], from: '8:00', until: '09:00' }] },
      'windows[0].from: "8:00" is no time of day; write 08:00',
    ],
  ])('%j', (times, message) => {
    expect(() => compileActivity({ ...always, ...times })).toThrow(message);
  });
});

describe('the reason a rule is not active', () => {
  const reason = (times: object, at: string) =>
    compileActivity({ ...always, ...times }).reason(Date.parse(at));

  test('names the instant or the windows', () => {
    expect(reason({ activeFrom: '2026-11-01T10:00:00Z' }, '2026-10-01T00:00:00Z')).toBe(
      'not active before 2026-11-01T10:00:00Z',
    );
    expect(reason({ activeUntil: '2026-11-01T10:00:00Z' }, '2026-11-01T10:00:00Z')).toBe(
      'not active since 2026-11-01T10:00:00Z',
    );
    const windows: RuleWindow[] = [
      { days: ['fri', 'mon', 'tue', 'wed', 'thu'], from: '08:00', until: '18:00' },
      { days: ['sun', 'fri'], from: '22:00', until: '24:00' },
    ];
    expect(reason({ windows, timeZone: 'Europe/Berlin' }, '2026-11-07T10:00:00Z')).toBe(
      'outside its windows: mon–fri 08:00–18:00, fri sun 22:00–24:00 Europe/Berlin',
    );
  });
});
