import { expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import type { RuleThen } from '#contract/routing/rule.ts';
import { weekdays } from '#contract/routing/rule.ts';
import { levels } from '#test/support/arbitrary-rules.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import { neverRead, plansOf } from '../on-call/on-call.ts';
import { compileRules } from './rules.ts';

const people = [
  { name: 'Ana', channels: ['mail'], panels: { ids: ['phone'] } },
  { name: 'Ben', channels: ['chat'], panels: { tags: ['ben'] } },
];
const monday = { days: ['mon' as const], from: '00:00', until: '24:00', people: ['Ana'] };
const tuesday = { ...monday, days: ['tue' as const], people: ['Ben'] };
const scheduleOf = (id: string, shifts: (typeof monday | typeof tuesday)[]) => ({
  ...{ tenant: 1, id, name: `name of ${id}`, timeZone: 'UTC', people, calendar: null, alertBeforeMs: 0 },
  ...{ rota: { firstWeek: '2026-11-30', shifts }, createdAt: 0, updatedAt: 0, reading: neverRead },
});
const onCall = plansOf([
  scheduleOf('s', [monday, tuesday]),
  scheduleOf('both', [{ ...monday, days: [...weekdays] as never }, tuesday]),
]);
const [onMonday, onTuesday, onFriday] = ['2026-11-30', '2026-12-01', '2026-12-04'].map((day) =>
  Date.parse(`${day}T12:00:00Z`),
) as [number, number, number];

const subject = {
  ...{ title: 't', message: 'm', level: 'error', rank: 40, ttl: null, ...noTexts },
  ...{ sourceIp: '192.0.2.1', tokenId: 't', tokenName: 't' },
};
const routerOf = (...thens: RuleThen[]) => {
  const rules = thens.map((then, i) => ruleSpecWith({ id: `r${i}`, then, continue: true }));
  return compileRules({ revision: 1, rules }, { levels, onCall });
};
const route = (at: number, ...thens: RuleThen[]) => routerOf(...thens).route(subject, at).route;
const nowhere = { onCall: 's', panels: 'none' } as const;

test('the people on call at the time of the notification are reached', () => {
  expect(route(onMonday, nowhere)).toMatchObject({
    ...{ target: { all: false, ids: ['phone'], tags: [] }, channels: ['mail'] },
    onCall: [{ id: 's', name: 'name of s', people: ['Ana'] }],
  });
  expect(route(onTuesday, nowhere)).toMatchObject({ target: { ids: [], tags: ['ben'] }, channels: ['chat'] });
  const none = route(onFriday, nowhere);
  expect([none.target, none.channels, none.onCall]).toEqual([
    ...[{ all: false, ids: [], tags: [] }, undefined],
    [{ id: 's', name: 'name of s', people: [] }],
  ]);
});

test('those of several rules are united with what the rules name, each once', () => {
  const united = route(
    onTuesday,
    { onCall: 's' },
    { onCall: 'both', channels: ['ops', 'chat'], panels: { ids: ['wall'] } },
  );
  expect(united.channels).toEqual(['ops', 'chat', 'mail']);
  expect(united.target).toEqual({ all: false, ids: ['wall', 'phone'], tags: ['ben'] });
  expect(united.onCall?.map((each) => each.people)).toEqual([['Ben'], ['Ana', 'Ben']]);
});

test('a rule that mutes reaches nobody, and a schedule that is deleted adds nobody', () => {
  expect(route(onMonday, nowhere, { mute: true }).channels).toBeUndefined();
  const deleted = route(onMonday, { onCall: 'gone', panels: 'none' });
  expect([deleted.channels, deleted.onCall]).toEqual([undefined, undefined]);
});

test('who was on call in fact counts for a recorded notification, as far as they still exist', () => {
  const recorded = [{ id: 's', name: 'former name', people: ['Ben', 'Zoe'] }];
  const { route: again } = routerOf(nowhere).route(subject, onMonday, undefined, recorded);
  expect([again.channels, again.onCall]).toEqual([
    ['chat'],
    [{ id: 's', name: 'name of s', people: ['Ben'] }],
  ]);
});

test('an escalation counts the panels of the people on call as panels of the rule', () => {
  const then = { ...nowhere, escalate: [{ afterMs: 60_000 }] };
  expect(routerOf(then).route(subject, onMonday).escalation?.steps).toHaveLength(1);
  expect(routerOf(then).route(subject, onFriday).escalation).toBeUndefined();
});
