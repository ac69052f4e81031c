import type { RuleCreate, RulePatch, RuleSpec, RuleWhen } from '#contract/routing/rule.ts';
import { type KnownNames, unmatchedNames } from '#contract/routing/rule-names.ts';
import { offerNearest } from '../search/search-nearest.ts';

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

/** Unknown names of one rule that are named; the others are counted. */
const mostNamed = 3;

/**
 * Says of names in the conditions that nothing has them, for people and scripts. With `offers` also what may be meant, which compares
 * the name with all known ones: too much for each rule of a list.
 */
export function ruleWarnings(when: RuleWhen, known: KnownNames, mode?: 'offers'): string[] {
  const unmatched = unmatchedNames(when, known);
  const warnings = unmatched.slice(0, mostNamed).map(({ place, at, kind, name, isRevoked }) => {
    const where = `${place}[${at}]`;
    if (isRevoked) return `${where}: the token "${name}" is revoked, so it matches nothing`;
    const names = kind === 'level' ? known.levels : known.usableTokenNames;
    const offer = mode === 'offers' ? offerNearest(name, [...names]).clause : '';
    return `${where}: no ${kind} is named "${name}"${offer}`;
  });
  const more = unmatched.length - warnings.length;
  return more > 0 ? [...warnings, `and ${more} more`] : warnings;
}
