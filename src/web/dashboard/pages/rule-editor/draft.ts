/** A rule in the editor: conditions in the order in which they were added; some may be incomplete. */
import type { ReplayRequest } from '#contract/routing/routing.ts';
import type {
  Rule,
  RuleConditions,
  RuleCreate,
  RulePatch,
  RuleThen,
  TextCondition,
} from '#contract/routing/rule.ts';
import { conditionFields } from '#web/dashboard/rule-text/rule-sentence.ts';

export type ConditionField = keyof RuleConditions;
export const textHows = ['contains', 'glob', 'regex'] as const;
export type TextHow = (typeof textHows)[number];

export interface DraftCondition {
  readonly field: ConditionField;
  readonly not: boolean;
  /** How title and message are compared; other fields ignore it. */
  readonly how: TextHow;
  readonly values: readonly string[];
}

export interface Draft extends Required<Omit<RuleCreate, 'when' | 'then'>> {
  readonly conditions: readonly DraftCondition[];
  readonly then: RuleThen;
}

export const isText = (field: ConditionField): field is 'title' | 'message' =>
  field === 'title' || field === 'message';

export function newDraft(timeZone: string, given: Partial<Draft> = {}): Draft {
  return {
    name: '',
    enabled: true,
    conditions: [],
    then: {},
    continue: false,
    activeFrom: null,
    activeUntil: null,
    windows: [],
    timeZone,
    note: '',
    ...given,
  };
}

export function draftOf(rule: RuleCreate, timeZone: string): Draft {
  const { when = {}, then, ...rest } = rule;
  const { not = {}, ...positive } = when;
  const given = Object.fromEntries(Object.entries(rest).filter(([key]) => key in newDraft(timeZone)));
  return {
    ...newDraft(timeZone),
    ...given,
    conditions: [...conditionsOf(positive, false), ...conditionsOf(not, true)],
    then: { ...then },
  };
}

function conditionsOf(given: RuleConditions, not: boolean): DraftCondition[] {
  return conditionFields
    .map((field): [ConditionField, unknown] => [field, given[field]])
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => {
      if (!isText(field)) return { field, not, how: 'contains', values: many(value) };
      const [how, values] = Object.entries(value as TextCondition)[0] ?? ['contains', []];
      return { field, not, how: how as TextHow, values: many(values) };
    });
}

const many = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [String(value)]);

/** The rule to send. @param name For a rule without a name. */
export function ruleOf({ conditions, then, ...draft }: Draft, name: string): Required<RuleCreate> {
  const not = whenOf(conditions.filter((each) => each.not));
  return {
    ...draft,
    name: draft.name.trim() || name,
    when: {
      ...whenOf(conditions.filter((each) => !each.not)),
      ...(Object.keys(not).length > 0 && { not }),
    },
    then,
  };
}

function whenOf(conditions: readonly DraftCondition[]): RuleConditions {
  return Object.fromEntries(
    conditions.map(({ field, how, values }) => {
      if (field === 'minLevel') return [field, values[0] ?? ''];
      return [field, isText(field) ? { [how]: oneOrMany(values) } : [...values]];
    }),
  );
}

const oneOrMany = (values: readonly string[]) => (values.length === 1 ? values[0] : [...values]);

/** The changed fields only: others may have changed the rest meanwhile. */
export function patchOf(before: RuleCreate, after: Required<RuleCreate>): RulePatch {
  return Object.fromEntries(
    Object.entries(after).filter(([key, value]) => !isSame(before[key as keyof RuleCreate], value)),
  );
}

/** Deep equality; the order of keys does not matter. */
export function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [as, bs] = [Object.entries(a), Object.entries(b)];
  return as.length === bs.length && as.every(([key, value]) => key in b && isSame(value, (b as never)[key]));
}

/** The fields that need a value, as in `when.host`. */
export function missingIn({ conditions, then }: Draft): ReadonlySet<string> {
  const missing = new Set<string>();
  for (const condition of conditions) if (condition.values.length === 0) missing.add(placeOf(condition));
  if (Object.keys(then).length === 0) missing.add('then');
  if (isEmptyTarget(then.panels)) missing.add('then.panels');
  if (then.escalate?.some(({ panels }) => isEmptyTarget(panels))) missing.add('then.escalate');
  if (then.channels?.length === 0) missing.add('then.channels');
  return missing;
}

/** Panels are to be named, and none is. */
export const isEmptyTarget = (target: RuleThen['panels']): boolean =>
  typeof target === 'object' && Object.values(target)[0]?.length === 0;

/** The name in the server's errors. */
export const placeOf = ({ field, not }: Pick<DraftCondition, 'field' | 'not'>): string =>
  `when.${not ? 'not.' : ''}${field}`;

/** A field can be used once as it is and once negated. */
export const isUsed = (conditions: readonly DraftCondition[], field: ConditionField, not: boolean): boolean =>
  conditions.some((each) => each.field === field && each.not === not);

export type DraftRules = ReplayRequest['rules'];

/** The id of a rule that is not saved yet. */
export const newRuleId = 'new';

/** The rules with the draft among them. @param place The index of a new rule; an existing one keeps its place. */
export function withDraft(
  rules: readonly Rule[],
  draft: RuleCreate,
  { id, place }: { readonly id: string; readonly place: number },
): { readonly rules: DraftRules; readonly index: number } {
  const set: DraftRules = rules.map(specOf);
  const known = rules.findIndex((rule) => rule.id === id);
  const index = known >= 0 ? known : Math.min(place, set.length);
  set.splice(index, known >= 0 ? 1 : 0, { id, ...draft });
  return { rules: set, index };
}

/** A rule without its counters. */
export function specOf({
  hits: _h,
  lastHitAt: _l,
  createdAt: _c,
  updatedAt: _u,
  warnings: _w,
  ...spec
}: Rule) {
  return spec;
}
