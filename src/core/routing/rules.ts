import type { RuleConditions, RuleCreate, RulePatch, RuleSpec } from '#contract/rule.ts';

/** A complete rule with defaults for omitted fields. `timeZone` is the tenant's. */
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

/** Replaces channel names of the rule by ids. Unknown names stay, so that validation refuses them. */
export function withChannelIds(
  rule: RuleSpec,
  known: ReadonlyMap<string, { readonly id: string; readonly name: string }>,
): RuleSpec {
  const { channels } = rule.then;
  if (!channels) return rule;
  const byName = new Map([...known.values()].map(({ id, name }) => [name, id]));
  const ids = channels.map((given) => (known.has(given) ? given : (byName.get(given) ?? given)));
  return { ...rule, then: { ...rule.then, channels: [...new Set(ids)] } };
}

/** The rules that name a level in their conditions, or set it. */
export function rulesThatName(level: string, rules: readonly RuleSpec[]): readonly RuleSpec[] {
  const isIn = (when: RuleConditions | undefined) => when?.minLevel === level || when?.level?.includes(level);
  const isSet = ({ setLevel, escalate }: RuleSpec['then']) =>
    setLevel === level || escalate?.some((step) => step.setLevel === level);
  return rules.filter(({ when, then }) => isIn(when) || isIn(when.not) || isSet(then));
}
