import { expect, test } from 'vitest';
import type { RuleWindow } from '#contract/routing/rule.ts';
import { ruleState } from './rule-state.ts';

const always = {
  enabled: true,
  activeFrom: null,
  activeUntil: null,
  windows: [] as RuleWindow[],
  timeZone: 'Europe/Berlin',
};
const at = (now: string, given: Partial<typeof always> | object = {}) =>
  ruleState({ ...always, ...given }, Date.parse(now));

test('a rule is early, active and ended by its dates, and its end is the first moment without it', () => {
  const dates = { activeFrom: '2026-11-21T08:00:00Z', activeUntil: '2026-11-21T09:00:00Z' };
  expect(at('2026-11-21T07:59:59Z', dates)).toBe('early');
  expect(at('2026-11-21T08:00:00Z', dates)).toBe('active');
  expect(at('2026-11-21T09:00:00Z', dates)).toBe('ended');
});

test('a rule that is off is off, and once ended it is ended all the same', () => {
  expect(at('2026-11-21T08:00:00Z', { enabled: false })).toBe('disabled');
  const ended = { enabled: false, activeUntil: '2026-11-20T08:00:00Z' };
  expect(at('2026-11-21T08:00:00Z', ended)).toBe('ended');
});

// 23 November 2026 is a Monday; Berlin is an hour ahead of UTC.
test.each([
  ['2026-11-23T06:59:00Z', ['mon'], '08:00', '18:00', 'resting'],
  ['2026-11-23T07:00:00Z', ['mon'], '08:00', '18:00', 'active'],
  ['2026-11-23T17:00:00Z', ['mon'], '08:00', '18:00', 'resting'],
  ['2026-11-24T10:00:00Z', ['mon'], '08:00', '18:00', 'resting'],
  ['2026-11-24T01:00:00Z', ['mon'], '22:00', '07:00', 'active'],
  ['2026-11-23T01:00:00Z', ['sun'], '22:00', '07:00', 'active'],
  ['2026-11-23T01:00:00Z', ['mon'], '22:00', '07:00', 'resting'],
  ['2026-11-23T22:30:00Z', ['mon'], '18:00', '24:00', 'active'],
  ['2026-11-23T23:00:00Z', ['mon'], '18:00', '24:00', 'resting'],
  ['2026-11-24T06:00:00Z', ['mon'], '08:00', '08:00', 'active'],
])('at %s a rule for %s from %s until %s is %s', (now, days, from, until, state) => {
  expect(at(now, { windows: [{ days, from, until }] })).toBe(state);
});
