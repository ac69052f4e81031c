import type { RuleSpec } from '#contract/routing/rule.ts';

/** A rule without conditions and effects except those given. */
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
