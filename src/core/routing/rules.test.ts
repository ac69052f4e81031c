import { expect, test } from 'vitest';
import type { RuleCreate } from '#contract/routing/rule.ts';
import { knownNames, rulesThatName } from '#contract/routing/rule-names.ts';
import { newRule, ruleWarnings } from './rules.ts';

test('a level is named by conditions, by their negation, by what a rule sets, and by each step of an escalation', () => {
  const rule = (name: string, given: Partial<RuleCreate>) =>
    newRule(name, { name, then: { mute: true }, ...given }, 'UTC');
  const found = rulesThatName('incident', [
    rule('level', { when: { level: ['info', 'incident'] } }),
    rule('not', { when: { not: { minLevel: 'incident' } } }),
    rule('sets', { then: { setLevel: 'incident' } }),
    rule('escalates', { then: { escalate: [{ afterMs: 1_000 }, { afterMs: 1_000, setLevel: 'incident' }] } }),
    rule('other', { then: { setLevel: 'info', escalate: [{ afterMs: 1_000, setLevel: 'error' }] } }),
  ]);
  expect(found.map(({ name }) => name)).toEqual(['level', 'not', 'sets', 'escalates']);
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
  expect(ruleWarnings(when, known, 'offers')).toEqual([
    'when.level[1]: no level is named "eror"; did you mean "error"?',
    'when.token[1]: the token "ci" is revoked, so it matches nothing',
    'when.not.token[0]: no token is named "promtheus"; did you mean "prometheus"?',
  ]);
});

test('ids, names that a usable token has too, and parts of Belfry are known', () => {
  const when = { minLevel: 'error', token: ['aaaaaaaaaa', 'twice', 'belfry:escalation'] };
  expect(ruleWarnings(when, known)).toEqual([]);
  expect(ruleWarnings({}, knownNames([], []))).toEqual([]);
});

test('three unknown names of a rule are named, the others are counted; a list offers none', () => {
  const when = { token: Array.from({ length: 1_000 }, (_, i) => `token ${i}`) };
  expect(ruleWarnings(when, known)).toEqual([
    'when.token[0]: no token is named "token 0"',
    'when.token[1]: no token is named "token 1"',
    'when.token[2]: no token is named "token 2"',
    'and 997 more',
  ]);
});
