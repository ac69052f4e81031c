import { describe, expect, test } from 'vitest';
import type { OnCallFields, Rota } from '#contract/routing/on-call.ts';
import { weekdays } from '#contract/routing/rule.ts';
import { unknownTitles } from './calendar.ts';
import { findGap, neverRead, OnCallPlan } from './on-call.ts';

const timeZone = 'Europe/Berlin';
const at = (text: string) => Date.parse(text);
const people = ['Ana', 'Ben', 'Cleo'].map((name) => ({ name, channels: [`mail ${name}`] }));

function plan(
  changed: Partial<OnCallFields>,
  events?: readonly (readonly [string, string, string])[],
): OnCallPlan {
  const copy = events && {
    events: events.map(([from, until, text]) => ({ from: at(from), until: at(until), text })),
    until: at('2027-01-01T00:00:00Z'),
  };
  const fields = { name: 'Ops', timeZone, people, rota: null, calendar: null, alertBeforeMs: 0, ...changed };
  const reading = { ...neverRead, ...(copy && { copy }) };
  return new OnCallPlan({ ...fields, tenant: 1, id: 's', createdAt: 0, updatedAt: 0, reading });
}
const names = (of: OnCallPlan, when: string) => of.at(at(when)).people.map(({ name }) => name);
const allDays = [...weekdays];
const weekly: Rota = {
  firstWeek: '2026-11-30',
  shifts: [{ days: allDays, from: '09:00', until: '09:00', people: ['Ana', 'Ben', 'Cleo'] }],
};

describe('a weekly rota', () => {
  test('hands over on the weekday and at the time of its first week, in the order of its people, for ever', () => {
    const ops = plan({ rota: weekly });
    expect(names(ops, '2026-11-30T07:59:59Z')).toEqual(['Cleo']);
    expect(names(ops, '2026-11-30T08:00:00Z')).toEqual(['Ana']);
    expect(names(ops, '2026-12-07T07:59:59Z')).toEqual(['Ana']);
    expect(names(ops, '2026-12-07T08:00:00Z')).toEqual(['Ben']);
    expect(names(ops, '2026-12-14T08:00:00Z')).toEqual(['Cleo']);
    expect(names(ops, '2026-12-21T08:00:00Z')).toEqual(['Ana']);
    expect(names(ops, '2026-11-16T08:00:00Z')).toEqual(['Ben']);
  });

  test('hands over at the same time of the wall clock in summer and in winter, without a gap between', () => {
    const ops = plan({ rota: weekly });
    // Summer time ends on 25 October 2026 and begins on 28 March 2027.
    expect(names(ops, '2026-10-19T06:59:59Z')).not.toEqual(names(ops, '2026-10-19T07:00:00Z'));
    expect(names(ops, '2026-10-26T07:59:59Z')).not.toEqual(names(ops, '2026-10-26T08:00:00Z'));
    expect(names(ops, '2027-03-29T06:59:59Z')).not.toEqual(names(ops, '2027-03-29T07:00:00Z'));
    for (const from of ['2026-10-20T00:00:00Z', '2027-03-22T00:00:00Z'])
      expect(findGap(ops, at(from), 14 * 86_400_000)).toBeUndefined();
  });

  test('has a shift that ends in the hour which the clock skips or repeats adjoin the next one', () => {
    const shifts = [
      { days: allDays, from: '02:30', until: '12:00', people: ['Ana'] },
      { days: allDays, from: '12:00', until: '02:30', people: ['Ben'] },
    ];
    const ops = plan({ rota: { firstWeek: '2026-11-30', shifts } });
    for (const from of ['2026-10-20T00:00:00Z', '2027-03-22T00:00:00Z'])
      expect(findGap(ops, at(from), 14 * 86_400_000)).toBeUndefined();
    expect(names(ops, '2027-03-28T01:29:59Z')).toEqual(['Ben']);
    expect(names(ops, '2027-03-28T01:30:00Z')).toEqual(['Ana']);
    expect(names(ops, '2026-10-25T00:29:59Z')).toEqual(['Ben']);
    expect(names(ops, '2026-10-25T00:30:00Z')).toEqual(['Ana']);
  });

  test('has several people on call where shifts overlap, and a gap where there is none', () => {
    const shifts = [
      { days: ['mon' as const], from: '08:00', until: '18:00', people: ['Ana'] },
      { days: ['mon' as const], from: '12:00', until: '24:00', people: ['Ben'] },
    ];
    const ops = plan({ rota: { firstWeek: '2026-11-30', shifts } });
    expect(ops.from(at('2026-11-30T07:30:00Z')).slice(0, 4)).toEqual([
      { from: at('2026-11-30T07:00:00Z'), until: at('2026-11-30T11:00:00Z'), people: ['Ana'] },
      { from: at('2026-11-30T11:00:00Z'), until: at('2026-11-30T17:00:00Z'), people: ['Ana', 'Ben'] },
      { from: at('2026-11-30T17:00:00Z'), until: at('2026-11-30T23:00:00Z'), people: ['Ben'] },
      { from: at('2026-11-30T23:00:00Z'), until: at('2026-12-07T07:00:00Z'), people: [] },
    ]);
    const hour = 3_600_000;
    expect(findGap(ops, at('2026-11-30T12:00:00Z'), 11 * hour)).toBeUndefined();
    const gap = { from: at('2026-11-30T23:00:00Z'), until: at('2026-12-07T07:00:00Z') };
    expect(findGap(ops, at('2026-11-30T12:00:00Z'), 12 * hour)).toEqual(gap);
    expect(findGap(ops, at('2026-12-03T12:00:00Z'), hour)).toEqual(gap);
  });
});

test('what began more than a week ago has no known begin, and what began before has', () => {
  const daily = { days: allDays, from: '08:00', until: '18:00', people: ['Ana'] };
  const now = at('2026-12-02T12:00:00Z');
  const began = (shift: Rota['shifts'][number]) =>
    plan({ rota: { firstWeek: '2026-11-30', shifts: [shift] } }).from(now)[0]?.from;
  expect(began(daily)).toBe(at('2026-12-02T07:00:00Z'));
  expect(began({ ...daily, from: '00:00', until: '24:00' })).toBe(Number.NEGATIVE_INFINITY);
  const none = plan({ calendar: { url: 'https://calendar.example/a.ics' } });
  const always = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
  expect(none.from(now)).toEqual([{ ...always, people: [] }]);
  expect(findGap(none, now, 0)).toEqual(always);
});

describe('a calendar', () => {
  const calendar = { url: 'https://calendar.example/ops.ics' };
  const of = (text: string, known: OnCallFields['people'] = people) =>
    names(
      plan({ calendar, people: known }, [['2026-11-30T08:00:00Z', '2026-12-01T08:00:00Z', text]]),
      '2026-11-30T09:00:00Z',
    );

  test.each([
    ['Ana', ['Ana']],
    ['On Call - ANA - Primary', ['Ana']],
    ['Ana & Ben', ['Ana', 'Ben']],
    ['Anastasia', []],
    ['On call\nBen\nben@example.org', ['Ben']],
    ['On call\nana@ben.example', []],
  ])('names people by whole words of title and attendees: %j', (text, expected) => {
    expect(of(text)).toEqual(expected);
  });

  test('names people by other names and mail addresses, and the longest name counts', () => {
    const known = [{ name: 'Ana' }, { name: 'Ana Maria', calendarNames: ['am@example.org', 'Müller'] }];
    expect(of('ana maria', known)).toEqual(['Ana Maria']);
    expect(of('On call\nAM@example.org', known)).toEqual(['Ana Maria']);
    expect(of('MÜLLER, Ana', known)).toEqual(['Ana', 'Ana Maria']);
  });

  test('has a gap where its events name nobody, and says which', () => {
    const ops = plan({ calendar }, [
      ['2026-11-30T08:00:00Z', '2026-12-01T08:00:00Z', 'Ana'],
      ['2026-12-01T08:00:00Z', '2026-12-02T08:00:00Z', 'Dora'],
    ]);
    const gap = { from: at('2026-12-01T08:00:00Z'), until: Number.POSITIVE_INFINITY };
    expect(findGap(ops, at('2026-11-30T09:00:00Z'), 86_400_000)).toEqual(gap);
    expect(unknownTitles(ops.record.reading.copy?.events ?? [], people, 10)).toEqual(['Dora']);
  });
});
