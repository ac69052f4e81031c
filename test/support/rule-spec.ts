import type { RuleSpec } from '#contract/rule.ts';

/** A rule that asks for nothing and does nothing but what is given. */
export const ruleSpecWith = (given: Partial<RuleSpec> & Pick<RuleSpec, 'id'>): RuleSpec => ({
  name: 'a rule',
  enabled: true,
  when: {},
  then: {},
  continue: false,
  activeFrom: null,
  activeUntil: null,
  windows: [],
  timeZone: 'UTC',
  note: '',
  ...given,
});
