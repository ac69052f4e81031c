import type { RuleCreate, RulePatch, RuleSpec } from '../../contract/rule.ts';

/** A rule as it is kept: what the caller left out has its default. `timeZone` is the tenant's. */
export function newRule(id: string, wanted: RuleCreate, timeZone: string): RuleSpec {
  return {
    id,
    name: wanted.name.trim(),
    enabled: wanted.enabled ?? true,
    when: wanted.when ?? {},
    then: wanted.then,
    continue: wanted.continue ?? false,
    activeFrom: wanted.activeFrom ?? null,
    activeUntil: wanted.activeUntil ?? null,
    windows: wanted.windows ?? [],
    timeZone: wanted.timeZone ?? timeZone,
    note: wanted.note ?? '',
  };
}

/** Fields that are not named keep their value; `when`, `then` and `windows` are replaced as a whole. */
export function changedRule(rule: RuleSpec, patch: RulePatch): RuleSpec {
  return newRule(rule.id, { ...rule, ...patch }, rule.timeZone);
}

/** The first rule that cannot do without a level: it compares with its rank, or sets it. */
export function ruleThatNames(level: string, rules: readonly RuleSpec[]): RuleSpec | undefined {
  return rules.find(
    ({ when, then }) => when.minLevel === level || when.not?.minLevel === level || then.setLevel === level,
  );
}
