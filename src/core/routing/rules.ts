import type { RuleCreate, RulePatch, RuleSpec, RuleWhen } from '#contract/routing/rule.ts';
import { type KnownNames, type UnmatchedName, unmatchedNames } from '#contract/routing/rule-names.ts';
import { badField } from '../errors.ts';
import { offerNearest } from '../search/search-nearest.ts';
import { inRule } from './compile-rules.ts';

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

const howToCreate = {
  level: (name: string) => `PUT /api/levels/${name}`,
  token: () => 'POST /api/tokens',
} as const;

/** A level or token that a rule may not name, and how to correct it. */
export interface RefusedName extends UnmatchedName {
  readonly message: string;
}

/** The first level or token that does not exist. What the conditions `before` a change named too may stay. */
export function refusedName(
  when: RuleWhen,
  known: KnownNames,
  before: RuleWhen = {},
): RefusedName | undefined {
  const keyOf = ({ kind, name }: UnmatchedName) => `${kind} ${name}`;
  const kept = new Set(unmatchedNames(before, known).map(keyOf));
  const refused = unmatchedNames(when, known).find((each) => !each.isRevoked && !kept.has(keyOf(each)));
  if (!refused) return undefined;
  const { kind, name } = refused;
  const { clause } = offerNearest(name, [...(kind === 'level' ? known.levels : known.usableTokenNames)]);
  const end = clause.endsWith('?') ? '' : '.';
  const message = `no ${kind} is named "${name}"${clause}${end} To use a new ${kind}, create it first: ${howToCreate[kind](name)}`;
  return { ...refused, message };
}

/** @throws AppError `bad-request`, naming rule and field, for a level or token that `refusedName` finds. */
export function requireKnownNames(
  { name, when }: Pick<RuleSpec, 'name' | 'when'>,
  known: KnownNames,
  before?: RuleWhen,
): void {
  const refused = refusedName(when, known, before);
  if (!refused) return;
  inRule(name, () => {
    throw badField(`${refused.place}[${refused.at}]`, refused.message);
  });
}
