import { expect, test } from 'vitest';
import type { RuleCreate } from '#contract/rule.ts';
import { newRule, rulesThatName } from './rules.ts';

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
