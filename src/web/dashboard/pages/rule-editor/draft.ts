/** A rule in the editor: conditions in the order in which they were added; some may be incomplete. */
import { useId, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '#client/call.ts';
import { limits } from '#contract/limits.ts';
import type { ReplayRequest } from '#contract/routing/routing.ts';
import type {
  EscalationStep,
  Rule,
  RuleConditions,
  RuleCreate,
  RulePatch,
  RuleThen,
  RuleWhen,
  Suppress,
  TextCondition,
} from '#contract/routing/rule.ts';
import { isAcknowledgeTime } from '#web/dashboard/fields/limits.ts';
import { muteUntil } from '#web/dashboard/formats/wall-clock.ts';
import { type Ranks, sparingCritical } from '#web/dashboard/query/mute-when.ts';
import { type SearchConditions, whenOfSearch } from '#web/dashboard/query/search-when.ts';
import { conditionFields } from '#web/dashboard/rule-text/rule-sentence.ts';
import type { RulesSearch } from '#web/dashboard/search-params.ts';

export type ConditionField = keyof RuleConditions;
export const textHows = ['contains', 'glob', 'regex'] as const;
export type TextHow = (typeof textHows)[number];

export interface DraftCondition {
  readonly field: ConditionField;
  readonly not: boolean;
  /** How title and message are compared; other fields ignore it. */
  readonly how: TextHow;
  readonly values: readonly string[];
  /** Of labels only: each label is a condition of its own. */
  readonly label?: string;
  /** Labels that must not be there together. They are one condition, which only JSON changes. */
  readonly together?: NonNullable<RuleConditions['labels']>;
}

export interface DraftSuppress extends Pick<Suppress, 'equal'> {
  readonly conditions: readonly DraftCondition[];
}

export type DraftThen = Omit<RuleThen, 'suppress'> & { readonly suppress?: DraftSuppress };

export interface Draft extends Required<Omit<RuleCreate, 'when' | 'then'>> {
  readonly conditions: readonly DraftCondition[];
  readonly then: DraftThen;
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
  const { suppress, ...others } = then;
  const given = Object.fromEntries(Object.entries(rest).filter(([key]) => key in newDraft(timeZone)));
  return {
    ...newDraft(timeZone),
    ...given,
    conditions: conditionsOf(when),
    then: {
      ...others,
      ...(suppress && { suppress: { conditions: conditionsOf(suppress.when), equal: suppress.equal } }),
    },
  };
}

const conditionsOf = ({ not = {}, ...positive }: RuleWhen): DraftCondition[] => [
  ...conditionsIn(positive, false),
  ...conditionsIn(not, true),
];

function conditionsIn(given: RuleConditions, not: boolean): DraftCondition[] {
  return conditionFields
    .map((field): [ConditionField, unknown] => [field, given[field]])
    .filter(([, value]) => value !== undefined)
    .flatMap(([field, value]): DraftCondition | DraftCondition[] => {
      if (field === 'labels') return labelConditionsOf(given.labels ?? {}, not);
      if (!isText(field)) return { field, not, how: 'contains', values: many(value) };
      const [how, values] = Object.entries(value as TextCondition)[0] ?? ['contains', []];
      return { field, not, how: how as TextHow, values: many(values) };
    });
}

function labelConditionsOf(labels: NonNullable<RuleConditions['labels']>, not: boolean): DraftCondition[] {
  const condition = { field: 'labels', not, how: 'contains' } as const;
  const each = Object.entries(labels);
  if (not && each.length > 1) return [{ ...condition, values: [], together: labels }];
  return each.map(([label, values]) => ({ ...condition, label, values }));
}

const many = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [String(value)]);

/** The rule to send. @param name For a rule without a name. */
export function ruleOf({ conditions, then, ...draft }: Draft, name: string): Required<RuleCreate> {
  const { suppress, ...others } = then;
  return {
    ...draft,
    name: draft.name.trim() || name,
    when: whenOf(conditions),
    then: {
      ...others,
      ...(suppress && { suppress: { when: whenOf(suppress.conditions), equal: suppress.equal } }),
    },
  };
}

export function whenOf(conditions: readonly DraftCondition[]): RuleWhen {
  const not = ruleConditionsOf(conditions.filter((each) => each.not));
  return {
    ...ruleConditionsOf(conditions.filter((each) => !each.not)),
    ...(Object.keys(not).length > 0 && { not }),
  };
}

function ruleConditionsOf(conditions: readonly DraftCondition[]): RuleConditions {
  const labels = conditions.filter(({ field }) => field === 'labels');
  const others = conditions.filter(({ field }) => field !== 'labels');
  return {
    ...Object.fromEntries(
      others.map(({ field, how, values }) => {
        if (field === 'minLevel') return [field, values[0] ?? ''];
        return [field, isText(field) ? { [how]: oneOrMany(values) } : [...values]];
      }),
    ),
    ...(labels.length > 0 && {
      labels:
        labels[0]?.together ??
        Object.fromEntries(labels.map(({ label = '', values }) => [label, [...values]])),
    }),
  };
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
  return (
    as.length === bs.length &&
    as.every(([key, value]) => Object.hasOwn(b, key) && isSame(value, (b as never)[key]))
  );
}

/** Why the rule is not complete, by the place of each field, as in `when.host`. */
export type MissingFields = ReadonlyMap<string, WhyMissing>;
type WhyMissing =
  | 'missing.values'
  | 'missing.text'
  | 'missing.then'
  | 'missing.label'
  | 'wrong.labelName'
  | 'wrong.labelTwice'
  | 'wrong.acknowledgeTime';

export function missingIn({ conditions, then }: Draft): MissingFields {
  const missing = new Map<string, WhyMissing>();
  missingConditions(missing, conditions, 'when');
  if (Object.keys(then).length === 0) missing.set('then', 'missing.then');
  if (isEmptyTarget(then.panels)) missing.set('then.panels', 'missing.values');
  if (then.escalate?.some(({ panels }) => isEmptyTarget(panels)))
    missing.set('then.escalate', 'missing.values');
  if (then.channels?.length === 0) missing.set('then.channels', 'missing.values');
  if (then.onCall === '') missing.set('then.onCall', 'missing.values');
  if (then.instructions?.trim() === '') missing.set('then.instructions', 'missing.text');
  if (then.group?.length === 0) missing.set('then.group', 'missing.values');
  if (!isAcknowledgeTime(then.acknowledgeForMs ?? 0))
    missing.set('then.acknowledgeForMs', 'wrong.acknowledgeTime');
  missingConditions(missing, then.suppress?.conditions ?? [], suppressPlace);
  return missing;
}

function missingConditions(
  missing: Map<string, WhyMissing>,
  conditions: readonly DraftCondition[],
  within: ConditionsPlace,
): void {
  for (const condition of conditions) {
    const place = placeOf(condition, within);
    const { field, label = '', values, together } = condition;
    if (together) continue;
    if (field === 'labels' && label === '') missing.set(place, 'missing.label');
    else if (field === 'labels' && !limits.labelNamePattern.test(label))
      missing.set(place, 'wrong.labelName');
    else if (conditions.some((each) => each !== condition && placeOf(each, within) === place))
      missing.set(place, 'wrong.labelTwice');
    else if (values.length === 0) missing.set(place, 'missing.values');
  }
}

/** Panels are to be named, and none is. */
const isEmptyTarget = (target: RuleThen['panels']): boolean =>
  typeof target === 'object' && Object.values(target)[0]?.length === 0;

/** The conditions of what a rule suppresses. */
export const suppressPlace = 'then.suppress.when';
export type ConditionsPlace = 'when' | typeof suppressPlace;

/** The name in the server's errors, as in `when.host`, `when.not.ip` or `when.labels.env`. */
export const placeOf = (
  { field, not, label }: Pick<DraftCondition, 'field' | 'not' | 'label'>,
  within: ConditionsPlace = 'when',
): string => `${within}.${not ? 'not.' : ''}${field}${label === undefined ? '' : `.${label}`}`;

/** A field can be used once as it is and once negated; labels once for each name, and once negated. */
export const isUsed = (conditions: readonly DraftCondition[], field: ConditionField, not: boolean): boolean =>
  conditions.filter((each) => each.field === field && each.not === not).length >=
  (field === 'labels' && !not ? limits.labels : 1);

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

/** The initial draft of a new rule: empty, an example, a copy, a mute, or what a search finds. */

export const examples = ['noc', 'night', 'cause'] as const;
type ExampleName = (typeof examples)[number];

export interface InitialDraft {
  readonly draft: Draft;
  /** The index of the new rule in the list. */
  readonly place: number;
  /** Where its conditions differ from the search that it was made of. */
  readonly differences?: SearchConditions['differences'];
  /** How many more hosts or titles were selected than its conditions have. */
  readonly leftOut?: number;
}

export function exampleDraft(name: ExampleName, timeZone: string): Draft {
  if (name === 'noc')
    return newDraft(timeZone, {
      conditions: [
        { field: 'host', not: false, how: 'contains', values: ['db-*'] },
        { field: 'minLevel', not: false, how: 'contains', values: ['warning'] },
      ],
      then: { panels: { tags: ['noc'] } },
    });
  if (name === 'cause')
    return newDraft(timeZone, {
      conditions: [{ field: 'host', not: false, how: 'contains', values: ['core-sw-*'] }],
      then: {
        suppress: {
          conditions: [{ field: 'title', not: false, how: 'contains', values: ['unreachable'] }],
          equal: ['label:site'],
        },
      },
      continue: true,
    });
  return newDraft(timeZone, {
    conditions: [{ field: 'minLevel', not: true, how: 'contains', values: ['error'] }],
    then: { mute: true },
    windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '22:00', until: '07:00' }],
  });
}

export const isNewRule = ({ id, mute, muteWhen, muteSearch, fromSearch }: RulesSearch): boolean =>
  id === newRuleId ||
  (id === undefined && [mute, muteWhen, muteSearch, fromSearch].some((given) => given !== undefined));

/** @param copyName Names a copy of a rule. */
export function initialDraftOf(
  search: RulesSearch,
  rules: readonly Rule[],
  {
    timeZone,
    levels,
    copyName,
  }: {
    readonly timeZone: string;
    readonly levels: Ranks;
    readonly copyName: (name: string) => string;
  },
): InitialDraft {
  const { mute, copy, example, muteSearch, fromSearch = muteSearch } = search;
  const copied = rules.findIndex(({ id }) => id === copy);
  const original = rules[copied];
  if (original) {
    const draft = { ...draftOf(original, timeZone), name: copyName(original.name).slice(0, 100) };
    return { draft, place: copied + 1 };
  }
  const found = fromSearch === undefined ? undefined : whenOfSearch(fromSearch, levels);
  const differences = found?.differences ?? [];
  // Without a condition it would mute everything.
  const canMute = muteSearch !== undefined && Object.keys(found?.when ?? {}).length > 0;
  const muted = mute !== undefined ? { host: [mute] } : canMute ? found?.when : undefined;
  const muteWhen = search.muteWhen ?? (muted && sparingCritical(muted, levels));
  if (muteWhen) {
    const draft = {
      ...draftOf({ name: '', when: muteWhen, then: { mute: true } }, timeZone),
      activeUntil: search.until ?? muteUntil('morning', Date.now(), timeZone),
    };
    // After a rule that stops the evaluation, it would mute nothing.
    return { draft, place: 0, differences, leftOut: Number(search.leftOut ?? 0) };
  }
  if (found)
    return {
      draft: draftOf({ name: '', when: found.when, then: {} }, timeZone),
      place: rules.length,
      differences,
    };
  const known = examples.find((name) => name === example);
  return { draft: known ? exampleDraft(known, timeZone) : newDraft(timeZone), place: rules.length };
}

/** Assigns the server's error to a field of the rule. */

export interface RuleProblem {
  /** As in `when.host`, `then.panels` or `activeUntil`; undefined if it belongs to no field of this rule. */
  readonly place?: string;
  /** Which of the place's values, counted from 0. */
  readonly at?: number;
  readonly text: string;
}

const fields = ['name', 'activeFrom', 'activeUntil', 'windows', 'timeZone', 'note', 'continue', 'enabled'];

/** @param index The index of the rule, if several were sent. */
export function locateProblem(error: unknown, index?: number): RuleProblem {
  if (!(error instanceof ApiError)) return { text: error instanceof Error ? error.message : String(error) };
  const { pointer = '' } = error.place;
  const rule = index === undefined ? '/' : `/rules/${index}/`;
  const steps = pointer.startsWith(rule) ? pointer.slice(rule.length).split('/') : [];
  const place = placeFrom(steps);
  if (place === undefined) return { text: error.message };
  const at = steps.slice(place.length).find(isIndex);
  return {
    place: place.join('.'),
    text: error.messageAfter(pathOf(steps)),
    ...(at !== undefined && { at: Number(at) }),
  };
}

const isIndex = (step: string) => /^\d+$/.test(step);

/** The path as in the server's error messages: `when.ip[0]`. */
const pathOf = (steps: readonly string[]) => steps.join('.').replace(/\.(\d+)(?=\.|$)/g, '[$1]');

/** The steps that name the field. */
function placeFrom(steps: readonly string[]): readonly string[] | undefined {
  const [head = '', first, second] = steps;
  if (fields.includes(head)) return [head];
  if (head === 'then' && first === 'suppress') {
    const inner = placeFrom(steps.slice(2));
    return second === 'when' && inner ? ['then', 'suppress', ...inner] : steps.slice(0, 3);
  }
  if (head === 'then') return steps.slice(0, 2);
  if (head !== 'when' || first === undefined) return undefined;
  const field = steps.slice(0, first === 'not' && second !== undefined ? 3 : 2);
  if (field.at(-1) !== 'labels') return field;
  // The name of a label may have dots, at which the server's path is split.
  return steps.length > field.length + 1 && isIndex(steps.at(-1) ?? '') ? steps.slice(0, -1) : steps;
}

/** The error of a field. */
export interface FieldProblem {
  readonly text: string;
  /** The id of its element. */
  readonly id: string;
  /** Which of the place's values. */
  readonly at?: number | undefined;
  /** The name of the label is wrong, and not its values. */
  readonly isOfName?: boolean;
}

/** Of one step of an escalation: the server names it by its index; without one, the steps that lack panels are meant. */
export function problemOfStep(
  problem: FieldProblem | undefined,
  step: EscalationStep,
  index: number,
): FieldProblem | undefined {
  const isMeant = problem?.at === undefined ? isEmptyTarget(step.panels) : problem.at === index;
  return problem && isMeant ? { id: problem.id, text: problem.text } : undefined;
}

export interface FieldProblems {
  at(place: string): FieldProblem | undefined;
}

/** What is right at a place, where one sentence can say it. The server's own sentence is English. */
function wrongAt({ place = '', at }: RuleProblem) {
  const field = place.replace('then.suppress.', '').replace('not.', '');
  if (field === 'activeUntil') return 'wrong.end';
  if (field === 'when.minLevel' || field === 'then.setLevel') return 'wrong.level';
  // Without an index it is the list that is wrong.
  if (at === undefined) return undefined;
  if (field === 'when.level') return 'wrong.level';
  if (field === 'when.token') return 'wrong.token';
  return field === 'when.ip' || field === 'when.sourceIp' ? 'wrong.address' : undefined;
}

/**
 * The errors of the fields: the server's, and missing values.
 *
 * @param showMissing False until the person tries to save. What is there and wrong is shown at once.
 */
export function useFieldProblems(
  problem: RuleProblem | undefined,
  missing: MissingFields,
  showMissing: boolean,
): FieldProblems {
  const { t } = useTranslation('rules');
  const id = useId();
  return useMemo(
    () => ({
      at(place) {
        const problemId = `${id}${place}`;
        if (problem?.place === place) {
          const wrong = wrongAt(problem);
          return { text: wrong ? t(wrong) : problem.text, id: problemId, at: problem.at };
        }
        const why = missing.get(place);
        if (why === undefined || (why.startsWith('missing.') && !showMissing)) return undefined;
        return { text: t(why), id: problemId, isOfName: why.includes('label') };
      },
    }),
    [problem, missing, showMissing, t, id],
  );
}
