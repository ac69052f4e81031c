import { expect, test } from 'vitest';
import {
  bodyOf,
  newPerson,
  newShift,
  problemsOf,
  valuesOf,
  withoutPerson,
  withPerson,
} from './on-call-values.ts';

const texts = { needed: 'needed', twice: 'twice', firstWeekWrong: 'wrong' };
const ana = { ...newPerson, name: 'Ana' };
const values = { ...valuesOf(undefined, 'UTC'), name: 'Ops', people: [ana], shifts: [newShift(['Ana'])] };

test('what is missing is named at its field', () => {
  expect(problemsOf(valuesOf(undefined, 'UTC'), texts)).toEqual({
    ...{ name: 'needed', 'people.0.name': 'needed', 'shifts.0.people': 'needed' },
  });
  expect(problemsOf(values, texts)).toEqual({});
  const twice = { ...values, people: [ana, { ...ana, by: 'tags' as const }], firstWeek: 'soon' };
  expect(problemsOf(twice, texts)).toEqual({
    ...{ 'people.1.name': 'twice', 'people.1.panels': 'needed', firstWeek: 'wrong' },
  });
  expect(problemsOf({ ...values, source: 'calendar' }, texts)).toEqual({ url: 'needed' });
});

test('a schedule that was saved is sent as it was', () => {
  const body = bodyOf({ ...values, people: [{ ...ana, channels: ['c'], by: 'ids', ids: ['p'] }] });
  const shift = { from: '', until: null, people: [] };
  const state = { now: shift, next: null, gap: null, calendarState: null };
  const saved = { id: 'x', ...body, createdAt: '', updatedAt: '', ...state };
  expect(bodyOf(valuesOf(saved, 'Europe/Berlin'))).toEqual(body);
});

test('shifts follow the names of people, and lose those who are removed', () => {
  const renamed = withPerson(values, 0, { ...ana, name: 'Anna' });
  expect(renamed.shifts[0]?.people).toEqual(['Anna']);
  expect(withoutPerson(renamed, 0).shifts[0]?.people).toEqual([]);
});
