import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { ruleOutcomes } from '#contract/routing/routing.ts';
import type { RuleSpec } from '#contract/routing/rule.ts';
import { levels, moment, ruleSpec, subject } from '#test/support/arbitrary-rules.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import { clipTraces, Explainer } from './explain.ts';
import type { Router } from './router.ts';
import { compileRules } from './rules.ts';
import type { RoutingSubject } from './subject.ts';

const sent: RoutingSubject = {
  ...noTexts,
  title: 'disk full',
  message: 'm',
  level: 'info',
  rank: 20,
  ttl: null,
  sourceIp: '10.0.0.1',
  host: 'web-1',
  tokenId: 't1',
  tokenName: 'ci',
};
const now = Date.parse('2026-11-07T12:00:00Z');
let nextId = 1;
const rule = (given: Partial<RuleSpec>) =>
  ruleSpecWith({ id: `r${nextId++}`, then: { panels: 'all' }, ...given });
const explain = (router: Router, subject: RoutingSubject, at: number) =>
  new Explainer(() => now).explain(1, { router, subject, at });
const traces = async (...rules: RuleSpec[]) =>
  (await explain(compileRules({ revision: 1, rules }, { levels }), sent, now)).rules.map(
    ({ outcome, condition, reason }) =>
      condition === undefined ? `${outcome}: ${reason}` : `${outcome} at ${condition}: ${reason}`,
  );

test('every rule says what became of it', async () => {
  expect(
    await traces(
      rule({ enabled: false }),
      rule({
        windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', until: '18:00' }],
        timeZone: 'Europe/Berlin',
      }),
      rule({ when: { host: ['db-*'] } }),
      rule({ when: { host: ['web-*'], minLevel: 'warning' } }),
      rule({ when: { not: { title: { contains: 'disk' } } } }),
      rule({ continue: true, when: { host: ['web-*'] }, then: { setLevel: 'error', setTtl: 5000 } }),
      rule({ continue: true, then: { instructions: 'Call the plant.' } }),
      rule({ then: { panels: { tags: ['noc', 'lobby'] } } }),
      rule({ enabled: false }),
    ),
  ).toEqual([
    'disabled: disabled',
    'inactive: outside its windows: mon–fri 08:00–18:00 Europe/Berlin',
    'failed at host: host "web-1" does not match db-*',
    'failed at minLevel: level info (20) is below warning (30)',
    'failed at not.title: title "disk full" is excluded (contains "disk")',
    'matched: sets the level to error, sets the ttl to 5000 ms; later rules are checked too',
    'matched: has instructions; later rules are checked too',
    'matched: names panels tagged noc, lobby; stops here',
    'not-tried: rule 8 stopped the evaluation',
  ]);
});

test('a rule behind too many that match says why it is not tried', async () => {
  const [last, ...others] = (
    await traces(...Array.from({ length: 2_002 }, () => rule({ continue: true, then: { mute: true } })))
  ).reverse();
  expect(last).toMatch(/^not-tried: the rules before it that match, and what they name, come to 2000/);
  expect(others.filter((each) => each.startsWith('matched'))).toHaveLength(2_000);
});

test('routing ends, and reports it once, when the rules that matched and what they name reach 2,000', () => {
  const many = (count: number, then: RuleSpec['then']) =>
    Array.from({ length: count }, () => rule({ then, continue: true }));
  const panel = (name: string) => ({ panels: { ids: [name, `${name}-too`] } });
  const errors: unknown[] = [];
  const rules = [
    ...many(666, panel('a')),
    ...many(2, {}),
    ...many(1, panel('last')),
    ...many(9, panel('no')),
  ];
  const limited = compileRules(
    { revision: 7, rules },
    { levels, onError: (error, { id }) => errors.push([id, (error as Error).message]) },
  );
  for (const title of ['one', 'two']) {
    const { route } = limited.route({ ...sent, title }, now);
    expect(route.rules).toHaveLength(668);
    expect(route.target).toEqual({ all: false, ids: ['a', 'a-too'], tags: [] });
  }
  expect(errors).toEqual([[rules[668]?.id, expect.stringContaining('come to 2000')]]);
});

test('a rule that matched says what it does', async () => {
  expect(
    await traces(
      rule({ continue: true, then: { panels: 'none', setTtl: 0 } }),
      rule({ continue: true, then: { panels: { ids: ['p1', 'p2'] }, mute: true } }),
      rule({ continue: true, then: { throttle: { by: ['host', 'title'], perMs: 60_000 } } }),
      rule({ continue: true, then: { panels: { ids: ['p1'] }, throttle: { by: [], perMs: 1500 } } }),
      rule({ continue: true, then: { group: ['title', 'label:cluster'] } }),
      rule({ continue: true, then: {} }),
    ),
  ).toEqual([
    'matched: names no panel, keeps it until cleared; later rules are checked too',
    'matched: names 2 panels, mutes it; later rules are checked too',
    'matched: shows one in 60 s of the same host, title; later rules are checked too',
    'matched: names one panel, shows one in 1.5 s; later rules are checked too',
    'matched: groups it on panels by title, label:cluster; later rules are checked too',
    'matched: does nothing; later rules are checked too',
  ]);
});

test('a rule that cannot work says why', async () => {
  const router = compileRules(
    { revision: 1, rules: [rule({ name: 'x', when: { minLevel: 'gone' } })] },
    { levels, onError: () => {} },
  );
  expect((await explain(router, sent, now)).rules[0]?.reason).toMatch(
    /^cannot work: rule "x": when\.minLevel: "gone" is no level here/,
  );
});

test('explain names a rule that fails on a notification', async () => {
  const router = compileRules(
    { revision: 1, rules: [rule({ when: { title: { regex: 'x' } } })] },
    { levels },
  );
  const broken = { ...sent, title: undefined as unknown as string };
  expect((await explain(router, broken, now)).rules).toMatchObject([
    { outcome: 'failed', reason: 'failed with an error, so it is skipped' },
  ]);
});

describe('whatever the rules and the notification', () => {
  test('the traces agree with what the router decides', async () => {
    const met = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(ruleSpec, { maxLength: 10 }), subject, moment, async (rules, one, at) => {
        const router = compileRules({ revision: 1, rules }, { levels });
        const { decision, rules: explained } = await explain(router, one, at);
        expect(decision.route).toEqual(router.route(one, at).route);
        expect(
          explained.filter(({ outcome }) => outcome === 'matched').map(({ id, name }) => ({ id, name })),
        ).toEqual(decision.route.rules);
        expect(explained.map(({ id }) => id)).toEqual(rules.map(({ id }) => id));
        for (const { outcome, condition, reason } of explained) {
          met.add(outcome);
          expect(reason).not.toBe('');
          expect(condition !== undefined).toBe(outcome === 'failed');
        }
      }),
      { numRuns: 800 },
    );
    expect([...met].sort()).toEqual([...ruleOutcomes].sort());
  });
});

describe('of a long list of traces', () => {
  const trace = (i: number, outcome: 'matched' | 'failed' | 'not-tried') => ({
    id: `r${i}`,
    name: 'x',
    outcome,
    reason: 'because',
  });
  const many = Array.from({ length: 30 }, (_, i) => trace(i, i % 10 === 9 ? 'matched' : 'failed'));

  test('those that matched are kept before others, in order', () => {
    const { rules, rulesOmitted } = clipTraces(many, 5);
    expect(rules.map(({ id }) => id)).toEqual(['r0', 'r1', 'r9', 'r19', 'r29']);
    expect(rulesOmitted).toBe(25);
  });

  test('a short one is whole', () => {
    expect(clipTraces(many)).toEqual({ rules: many, rulesOmitted: 0 });
  });

  test('the limit holds even when more matched', () => {
    expect(clipTraces(many, 2)).toMatchObject({ rules: [{ id: 'r9' }, { id: 'r19' }], rulesOmitted: 28 });
  });

  test('the first rule that was not tried is kept before all others, because it says why', () => {
    const ended = [...many, trace(30, 'not-tried'), trace(31, 'not-tried')];
    const { rules, rulesOmitted } = clipTraces(ended, 3);
    expect(rules.map(({ id }) => id)).toEqual(['r9', 'r19', 'r30']);
    expect(rulesOmitted).toBe(29);
  });
});
