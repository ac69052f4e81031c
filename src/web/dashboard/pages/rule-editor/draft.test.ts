import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '#client/call.ts';
import type { EscalationStep, RuleCreate, RuleThen } from '#contract/routing/rule.ts';
import type { RulesSearch } from '#web/dashboard/search-params.ts';
import { ruleSpec } from '../../../../../test/support/arbitrary-rules.ts';
import {
  type DraftCondition,
  draftOf,
  initialDraftOf,
  isNewRule,
  isUsed,
  locateProblem,
  missingIn,
  newDraft,
  patchOf,
  placeOf,
  problemOfStep,
  ruleOf,
} from './draft.ts';
import { jsonOf, ruleFromJson } from './rule-json.ts';

const newRule = ruleOf(newDraft('UTC', { name: 'a', then: { mute: true } }), '');
const rule = ruleSpec.map(({ id: _, ...given }): Required<RuleCreate> => given);
/** A list of one and the one say the same, and so do no `not` and an empty one. */
const unlisted = (value: unknown) =>
  JSON.parse(JSON.stringify(value), (key, given) => {
    if (key === 'not' && Object.keys(given).length === 0) return undefined;
    const isList = ['contains', 'glob', 'regex'].includes(key) && Array.isArray(given);
    return isList && given.length === 1 ? given[0] : given;
  });

test('a rule that is opened and not touched says what it said', () => {
  fc.assert(
    fc.property(rule, (given) => {
      expect(ruleOf(draftOf(given, 'UTC'), 'suggested')).toEqual(unlisted(given));
    }),
  );
});

test('a rule that was copied as JSON comes back as it was, counts left out', () => {
  fc.assert(
    fc.property(rule, (given) => {
      const kept = given.windows.length > 0 ? given : { ...given, timeZone: 'UTC' };
      const read = ruleFromJson(jsonOf(kept));
      expect('rule' in read && ruleOf(draftOf(read.rule, 'UTC'), '')).toEqual(unlisted(kept));
    }),
  );
  expect(ruleFromJson('{"id":"1","hits":3,"name":"a","then":{"mute":true}}')).toEqual({
    rule: { name: 'a', then: { mute: true } },
  });
});

test.each([
  ['{', 'syntax', expect.any(String)],
  ['[]', 'shape', expect.any(String)],
  ['{"then":{},"wen":{}}', 'unknown', 'wen'],
  ['{"name":"a"}', 'shape', 'then'],
  ['{"then":{"panel":"all"}}', 'unknown', 'then.panel'],
  ['{"then":{"panels":"some"}}', 'shape', 'then.panels'],
  ['{"then":{},"when":{"not":{"hots":["a"]}}}', 'unknown', 'when.not.hots'],
  ['{"then":{},"when":{"host":"a"}}', 'shape', 'when.host'],
  ['{"then":{},"when":{"labels":{"env":"a"}}}', 'shape', 'when.labels.env'],
  ['{"then":{},"when":{"not":{"labels":{"1x":["a"]}}}}', 'unknown', 'when.not.labels.1x'],
  ['{"then":{},"when":{"title":{"like":"a"}}}', 'shape', 'when.title'],
  [
    '{"then":{"suppress":{"when":{"not":{"hots":["a"]}},"equal":[]}}}',
    'unknown',
    'then.suppress.when.not.hots',
  ],
  ['{"then":{"suppress":{"when":{}}}}', 'shape', 'then.suppress.equal'],
  ['{"then":{},"windows":[{"days":"mon"}]}', 'shape', 'windows'],
  ['{"then":{},"activeUntil":"soon"}', 'shape', 'activeUntil'],
])('%s has an error that says what is wrong', (text, problem, detail) => {
  expect(ruleFromJson(text)).toEqual({ problem, detail });
});

test('only what was changed is sent', () => {
  const before = ruleOf(newDraft('UTC', { name: 'a', then: { mute: true } }), '');
  expect(patchOf(before, { ...before, then: { mute: true } })).toEqual({});
  expect(patchOf(before, { ...before, note: 'b', when: { host: ['c'] } })).toEqual({
    note: 'b',
    when: { host: ['c'] },
  });
});

test('what misses something is named before the server is asked', () => {
  const draft = newDraft('UTC', {
    conditions: [{ field: 'host', not: true, how: 'contains', values: [] }],
    then: { panels: { tags: [] } },
  });
  expect([...missingIn(draft).keys()]).toEqual(['when.not.host', 'then.panels']);
  expect([...missingIn(newDraft('UTC')).keys()]).toEqual(['then']);
  expect([...missingIn(newDraft('UTC', { then: { instructions: ' ' } })).keys()]).toEqual([
    'then.instructions',
  ]);
  const endsAfter = (acknowledgeForMs: number) => missingIn(newDraft('UTC', { then: { acknowledgeForMs } }));
  expect([...endsAfter(59_999).keys()]).toEqual(['then.acknowledgeForMs']);
  for (const right of [0, 60_000]) expect([...endsAfter(right)]).toEqual([]);
  const step = (panels: RuleThen['panels']) => ({ afterMs: 1_000, ...(panels && { panels }) });
  const escalating = (panels: RuleThen['panels']) =>
    missingIn(newDraft('UTC', { then: { escalate: [step(undefined), step(panels)] } }));
  expect([...escalating({ tags: [] }).keys()]).toEqual(['then.escalate']);
  expect([...escalating({ ids: ['p1'] })]).toEqual([]);
});

describe('a new rule', () => {
  const levels = new Map([
    ['warning', { rank: 30 }],
    ['error', { rank: 40 }],
    ['critical', { rank: 50 }],
  ]);
  const start = (search: RulesSearch) => {
    const opened = initialDraftOf(search, [], { timeZone: 'UTC', levels, copyName: (name) => name });
    const { when, then } = ruleOf(opened.draft, '');
    return { when, then, differences: opened.differences?.map(({ why }) => why) };
  };

  test('from a search has its conditions and no action, and knows what it lacks', () => {
    expect(start({ fromSearch: 'host:a -host:b since:1h' })).toEqual({
      when: { host: ['a'], not: { host: ['b'] } },
      then: {},
      differences: ['time'],
    });
  });

  test('that mutes what a search finds never mutes everything, nor what is critical', () => {
    expect(start({ muteSearch: 'host:a is:open' })).toMatchObject({
      when: { host: ['a'] },
      then: { mute: true },
    });
    expect(start({ muteSearch: 'level:>=warning' }).when).toEqual({
      minLevel: 'warning',
      not: { minLevel: 'critical' },
    });
    expect(start({ mute: 'a' }).when).toEqual({ host: ['a'], not: { minLevel: 'critical' } });
    expect(start({ muteSearch: 'is:open' })).toEqual({ when: {}, then: {}, differences: ['state'] });
  });

  test.each([{ id: 'new' }, { mute: 'a' }, { fromSearch: 'a' }, { muteSearch: 'a' }])(
    'is what %o opens',
    (search) => {
      expect(isNewRule(search)).toBe(true);
      expect(isNewRule({ ...search, id: 'r1' })).toBe(false);
    },
  );
});

test('conditions of what a rule suppresses are as complete as those of the rule', () => {
  const conditions: DraftCondition[] = [
    { field: 'host', not: false, how: 'contains', values: [] },
    { field: 'labels', not: true, how: 'contains', label: '', values: ['a'] },
  ];
  const draft = newDraft('UTC', { then: { suppress: { conditions, equal: [] } } });
  expect([...missingIn(draft)]).toEqual([
    ['then.suppress.when.host', 'missing.values'],
    ['then.suppress.when.not.labels.', 'missing.label'],
  ]);
  const suppress = { when: { not: { title: { regex: 'a' } } }, equal: ['label:site' as const] };
  const { then } = draftOf({ name: 'a', then: { suppress } }, 'UTC');
  expect(then.suppress?.conditions).toEqual([{ field: 'title', not: true, how: 'regex', values: ['a'] }]);
});

describe('labels', () => {
  const mute = { name: 'a', then: { mute: true } };
  const label = (name: string, values: readonly string[], not = false): DraftCondition => ({
    ...{ field: 'labels', not, how: 'contains', label: name, values },
  });

  test('have a condition each; those that must not be there together are one, which stays as it is', () => {
    const labels = { env: ['prod', ''], 'a.b': ['*'] };
    expect(draftOf({ ...mute, when: { labels } }, 'UTC').conditions).toEqual([
      label('env', ['prod', '']),
      label('a.b', ['*']),
    ]);
    expect(draftOf({ ...mute, when: { not: { labels: { env: ['test'] } } } }, 'UTC').conditions).toEqual([
      label('env', ['test'], true),
    ]);
    const together = draftOf({ ...mute, when: { labels, not: { labels } } }, 'UTC');
    expect(together.conditions[2]).toMatchObject({ not: true, together: labels });
    expect(placeOf(together.conditions[2] as DraftCondition)).toBe('when.not.labels');
    const removed = { ...together, conditions: together.conditions.slice(1) };
    expect(ruleOf(removed, '').when).toEqual({ labels: { 'a.b': ['*'] }, not: { labels } });
  });

  test('are taken whatever their names are', () => {
    const labels = JSON.parse('{"__proto__": ["x"], "constructor": ["y"], "not.env": ["z"]}');
    const { when } = ruleOf(draftOf({ ...mute, when: { labels } }, 'UTC'), '');
    expect(JSON.stringify(when.labels)).toBe(JSON.stringify(labels));
    expect(patchOf({ ...mute, when: { labels } }, { ...newRule, when })).not.toHaveProperty('when');
    const [other] = [JSON.parse('{"a": ["x"], "constructor": ["y"], "not.env": ["z"]}')];
    expect(patchOf({ ...mute, when: { labels: other } }, { ...newRule, when })).toHaveProperty('when');
  });

  test('need a name that no other has, and a value', () => {
    const conditions = [label('', []), label('1x', ['a']), label('env', []), label('env', ['a'], true)];
    expect(Object.fromEntries(missingIn(newDraft('UTC', { ...mute, conditions })))).toEqual({
      'when.labels.': 'missing.label',
      'when.labels.1x': 'wrong.labelName',
      'when.labels.env': 'missing.values',
    });
    const twice = newDraft('UTC', { ...mute, conditions: [label('env', ['a']), label('env', ['b'])] });
    expect([...missingIn(twice)]).toEqual([['when.labels.env', 'wrong.labelTwice']]);
  });

  test('are a field once for each name, and once negated', () => {
    const conditions = [label('env', ['a']), label('site', ['a'], true)];
    expect([false, true].map((not) => isUsed(conditions, 'labels', not))).toEqual([false, true]);
  });
});

describe('the server says where it is wrong', () => {
  test.each([
    ['rule "a": when.ip[2]: "x" is no address', '/rules/3/when/ip/2', 'when.ip', 2, '"x" is no address'],
    [
      'rule "a": when.not.title.regex: "("',
      '/rules/3/when/not/title/regex',
      'when.not.title',
      undefined,
      '"("',
    ],
    ['rule "a": when.labels.env[1]: "x"', '/rules/3/when/labels/env/1', 'when.labels.env', 1, '"x"'],
    ['rule "a": when.labels.a.b[1]: "x"', '/rules/3/when/labels/a/b/1', 'when.labels.a.b', 1, '"x"'],
    [
      'rules[3].when.not.labels.a.b[0] must',
      '/rules/3/when/not/labels/a.b/0',
      'when.not.labels.a.b',
      0,
      'rules[3].when.not.labels.a.b[0] must',
    ],
    [
      'rules[3].when.labels must',
      '/rules/3/when/labels',
      'when.labels',
      undefined,
      'rules[3].when.labels must',
    ],
    ['rule "a": then.panels.ids[1]: "p"', '/rules/3/then/panels/ids/1', 'then.panels', 1, '"p"'],
    [
      'rule "a": then.suppress.when.title.regex: "("',
      '/rules/3/then/suppress/when/title/regex',
      'then.suppress.when.title',
      undefined,
      '"("',
    ],
    [
      'rule "a": then.suppress.when.not.level[1]: "x"',
      '/rules/3/then/suppress/when/not/level/1',
      'then.suppress.when.not.level',
      1,
      '"x"',
    ],
    [
      'then.suppress.equal[0] must',
      '/rules/3/then/suppress/equal/0',
      'then.suppress.equal',
      0,
      'then.suppress.equal[0] must',
    ],
    ['rule "a": then.suppress: too many', '/rules/3/then/suppress', 'then.suppress', undefined, 'too many'],
    ['rule "a": then: does nothing', '/rules/3/then', 'then', undefined, 'does nothing'],
    ['rule "a": windows[0].from: "x"', '/rules/3/windows/0/from', 'windows', 0, '"x"'],
    ['rules[3].when.host[1] must', '/rules/3/when/host/1', 'when.host', 1, 'rules[3].when.host[1] must'],
    ['rule "b": when.ip[2]: "x"', '/rules/4/when/ip/2', undefined, undefined, 'rule "b": when.ip[2]: "x"'],
    ['too many', '/rules', undefined, undefined, 'too many'],
    ['not signed in', undefined, undefined, undefined, 'not signed in'],
  ])('%s', (message, pointer, place, at, text) => {
    const error = new ApiError(400, message, { code: 'bad-request', place: pointer ? { pointer } : {} });
    expect(locateProblem(error, 3)).toEqual({
      ...(place !== undefined && { place }),
      ...(at !== undefined && { at }),
      text,
    });
  });

  test('of a step is marked at that step alone; of missing panels, at the steps that lack them', () => {
    const steps = [
      { afterMs: 1 },
      { afterMs: 1, panels: { tags: [] } },
      { afterMs: 1, panels: 'all' },
    ] as const;
    const marked = (at?: number) =>
      steps.map((step, i) => problemOfStep({ id: 'p', text: 'no', at }, { ...step } as EscalationStep, i));
    expect(marked(2)).toEqual([undefined, undefined, { id: 'p', text: 'no' }]);
    expect(marked()).toEqual([undefined, { id: 'p', text: 'no' }, undefined]);
    expect(problemOfStep(undefined, { afterMs: 1 }, 0)).toBeUndefined();
  });

  test('of one rule that was sent alone', () => {
    const place = { pointer: '/activeUntil' };
    expect(locateProblem(new ApiError(400, 'activeUntil: must be after', { place }))).toEqual({
      place: 'activeUntil',
      text: 'must be after',
    });
  });
});
