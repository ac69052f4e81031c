import { expect, test } from 'vitest';
import type { RuleCreate, RuleWhen } from '#contract/routing/rule.ts';
import { knownNames, rulesThatName, rulesThatNameToken } from '#contract/routing/rule-names.ts';
import type { AppError } from '../errors.ts';
import { newRule, requireKnownNames, ruleWarnings } from './rules.ts';

test('a level is named by conditions, by their negation, by what a rule sets or suppresses, and by each step of an escalation', () => {
  const rule = (name: string, given: Partial<RuleCreate>) =>
    newRule(name, { name, then: { mute: true }, ...given }, 'UTC');
  const found = rulesThatName('incident', [
    rule('level', { when: { level: ['info', 'incident'] } }),
    rule('not', { when: { not: { minLevel: 'incident' } } }),
    rule('sets', { then: { setLevel: 'incident' } }),
    rule('escalates', { then: { escalate: [{ afterMs: 1_000 }, { afterMs: 1_000, setLevel: 'incident' }] } }),
    rule('suppresses', { then: { suppress: { when: { not: { level: ['incident'] } }, equal: [] } } }),
    rule('other', { then: { setLevel: 'info', escalate: [{ afterMs: 1_000, setLevel: 'error' }] } }),
  ]);
  expect(found.map(({ name }) => name)).toEqual(['level', 'not', 'sets', 'escalates', 'suppresses']);
});

const token = (id: string, name: string, revokedAt: string | null = null) => ({ id, name, revokedAt });
const known = knownNames(
  ['info', 'error', 'deploy'].map((name) => ({ name })),
  [
    token('aaaaaaaaaa', 'prometheus'),
    token('bbbbbbbbbb', 'ci', '2026-01-01T00:00:00Z'),
    token('cccccccccc', 'twice', '2026-01-01T00:00:00Z'),
    token('dddddddddd', 'twice'),
  ],
);

test('levels and tokens in conditions that nothing has are named, with what may be meant', () => {
  const when = { level: ['info', 'eror'], token: ['prometheus', 'ci'], not: { token: ['promtheus'] } };
  expect(ruleWarnings({ when }, known, 'offers')).toEqual([
    'when.level[1]: no level is named "eror"; did you mean "error"?',
    'when.token[1]: the token "ci" is revoked, so it matches nothing',
    'when.not.token[0]: no token is named "promtheus"; did you mean "prometheus"?',
  ]);
});

test('names in what a rule suppresses are known or named, too', () => {
  const suppress = { when: { level: ['eror'], not: { token: ['ci'] } }, equal: [] };
  expect(ruleWarnings({ when: { token: ['twice'] }, then: { suppress } }, known, 'offers')).toEqual([
    'then.suppress.when.level[0]: no level is named "eror"; did you mean "error"?',
    'then.suppress.when.not.token[0]: the token "ci" is revoked, so it matches nothing',
  ]);
  const rule = { name: 'r', then: { suppress } };
  expect(() => requireKnownNames(rule, known)).toThrow(
    /^rule "r": then\.suppress\.when\.level\[0\]: no level/,
  );
  expect(() => requireKnownNames(rule, known, rule)).not.toThrow();
  expect(rulesThatNameToken(token('bbbbbbbbbb', 'ci'), [rule])).toEqual([rule]);
});

test('ids, names that a usable token has too, and parts of Belfry are known', () => {
  const when = { minLevel: 'error', token: ['aaaaaaaaaa', 'twice', 'belfry:escalation'] };
  expect(ruleWarnings({ when }, known)).toEqual([]);
  expect(ruleWarnings({}, knownNames([], []))).toEqual([]);
});

test('three unknown names of a rule are named, the others are counted; a list offers none', () => {
  const when = { token: Array.from({ length: 1_000 }, (_, i) => `token ${i}`) };
  expect(ruleWarnings({ when }, known)).toEqual([
    'when.token[0]: no token is named "token 0"',
    'when.token[1]: no token is named "token 1"',
    'when.token[2]: no token is named "token 2"',
    'and 997 more',
  ]);
});

test('a rule is refused for the first name that does not exist, and with what to do', () => {
  const refusal = (when: RuleWhen, before?: RuleWhen) => {
    try {
      requireKnownNames({ name: 'r', when }, known, { when: before });
      return undefined;
    } catch (error) {
      const { message, place } = error as AppError;
      return [message, place?.pointer];
    }
  };
  expect(refusal({ level: ['info', 'eror'], token: ['nobody'] })).toEqual([
    'rule "r": when.level[1]: no level is named "eror"; did you mean "error"? To use a new level, create it first: PUT /api/levels/eror',
    '/when/level/1',
  ]);
  expect(refusal({ not: { token: ['promtheus'] } })).toEqual([
    'rule "r": when.not.token[0]: no token is named "promtheus"; did you mean "prometheus"? To use a new token, create it first: POST /api/tokens',
    '/when/not/token/0',
  ]);
  expect(refusal({ token: ['belfry:escalaton'] })?.[0]).toContain(
    'no token is named "belfry:escalaton"; it is one of "prometheus", "twice". To use a new token',
  );
  // Names, ids, tokens that have ended, and the parts of Belfry are known.
  const own = ['belfry:escalation', 'belfry:expectation', 'belfry:panel'];
  expect(refusal({ level: ['deploy'], token: ['prometheus', 'aaaaaaaaaa', 'ci', ...own] })).toBeUndefined();
  // What the rule named before may stay, and only that.
  expect(refusal({ not: { level: ['gone'] } }, { level: ['gone'] })).toBeUndefined();
  expect(refusal({ level: ['gone'] }, { token: ['gone'] })?.[1]).toBe('/when/level/0');
});

test('a rule is warned of that suppresses everything, or the alarms that it matches', () => {
  const known = knownNames([], []);
  const warned = (when: object, suppress: { when: object; equal: 'host'[] }) =>
    ruleWarnings({ when, then: { suppress } }, known);
  const switches = { host: ['core-*'] };
  expect(warned(switches, { when: {}, equal: [] })).toEqual([
    expect.stringContaining('suppresses every other one, also of a higher level'),
  ]);
  expect(warned(switches, { when: switches, equal: ['host'] })).toEqual([
    expect.stringContaining('only the first of those with equal values is shown'),
  ]);
  expect(warned(switches, { when: switches, equal: [] })).toEqual([
    expect.stringContaining('only the first is shown'),
  ]);
  expect(warned({}, { when: {}, equal: ['host'] })).toEqual([
    expect.stringContaining('only the first of those with equal values is shown'),
  ]);
  expect(warned(switches, { when: {}, equal: ['host'] })).toEqual([]);
  expect(warned(switches, { when: { title: { contains: 'a' } }, equal: [] })).toEqual([]);
});
