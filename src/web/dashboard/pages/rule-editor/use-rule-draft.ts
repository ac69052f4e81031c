import { useMemo, useState } from 'react';
import { ApiError } from '#client/api-error.ts';
import type { Rule, RuleCreate } from '#contract/routing/rule.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { type RuleWords, suggestedName } from '#web/dashboard/rule-text/rule-sentence.ts';
import {
  type Draft,
  type DraftRules,
  draftOf,
  isSame,
  missingIn,
  newRuleId,
  ruleOf,
  withDraft,
} from './draft.ts';
import type { InitialDraft } from './initial-draft.ts';
import { type FieldProblems, locateProblem, type RuleProblem, useFieldProblems } from './rule-problem.ts';
import { type Explain, useExplain } from './use-explain.ts';

/** The rule that is opened, or what a new one starts as. */
export type Opening = { readonly rule: Rule } | InitialDraft;

export interface RuleDraft {
  /** Of the saved rule, or `newRuleId`. */
  readonly id: string;
  readonly isNew: boolean;
  /** The fields as they are. */
  readonly fields: Draft;
  change(some: Partial<Draft>): void;
  /** Replaces all fields, as by JSON. */
  take(rule: RuleCreate): void;
  readonly place: number;
  setPlace(place: number): void;
  /** As it would be sent. */
  readonly rule: Required<RuleCreate>;
  /** As it was opened or last saved. */
  readonly saved: Required<RuleCreate>;
  /** Those fields are saved, as the rule of that id; later changes stay. */
  noteSaved(fields: Draft, id: string): void;
  readonly suggestedName: string;
  readonly isChanged: boolean;
  /** A change affects where notifications go. */
  readonly affectsRouting: boolean;
  /** No field is missing. */
  readonly isComplete: boolean;
  /** The server's answer names a field that is wrong. */
  readonly isInvalid: boolean;
  /** All rules with this one among them. */
  readonly ruleSet: DraftRules;
  readonly explain: Explain;
  readonly problems: FieldProblems;
  /** An error that belongs to no field. */
  readonly otherError: string | undefined;
  showMissing(): void;
  showError(error: unknown): void;
}

export function useRuleDraft(
  opening: Opening,
  options: {
    readonly rules: readonly Rule[];
    readonly version: string;
    readonly explain: string | undefined;
    readonly words: RuleWords;
  },
): RuleDraft {
  const { rules, version, words } = options;
  const { timeZone } = useTenant();
  const isOpened = 'rule' in opening;
  const [id, setId] = useState(isOpened ? opening.rule.id : newRuleId);
  const [base, setBase] = useState(() => (isOpened ? draftOf(opening.rule, timeZone) : opening.draft));
  const [fields, setFields] = useState(base);
  const [place, setPlace] = useState(isOpened ? 0 : opening.place);
  const [isMissingShown, setMissingShown] = useState(false);
  const [error, setError] = useState<RuleProblem>();
  const isNew = id === newRuleId;
  const isChanged = !isSame(fields, base);
  const name = useMemo(() => suggestedName(ruleOf(fields, ''), words), [fields, words]);
  const rule = useMemo(() => ruleOf(fields, name), [fields, name]);
  const saved = useMemo(() => ruleOf(base, name), [base, name]);
  const missing = useMemo(() => missingIn(fields), [fields]);
  const set = useMemo(() => withDraft(rules, rule, { id, place }), [rules, rule, id, place]);
  const explain = useExplain(isNew || isChanged ? set.rules : undefined, {
    version,
    enabled: missing.size === 0 || !(isNew || isChanged),
    id: options.explain,
  });
  const invalid =
    explain.error instanceof ApiError && explain.error.status === 400
      ? locateProblem(explain.error, set.index)
      : undefined;
  const isInvalid = invalid?.place !== undefined;
  const replaceFields = (next: (current: Draft) => Draft) => {
    setError(undefined);
    setFields(next);
  };
  return {
    id,
    isNew,
    fields,
    change: (some) => replaceFields((current) => ({ ...current, ...some })),
    take: (taken) => replaceFields(() => draftOf(taken, timeZone)),
    place,
    setPlace,
    rule,
    saved,
    noteSaved(sent, savedId) {
      setBase(sent);
      setId(savedId);
    },
    suggestedName: name,
    isChanged,
    affectsRouting: (isNew && rule.enabled) || !isSame(routingOf(rule), routingOf(saved)),
    isComplete: missing.size === 0,
    isInvalid,
    ruleSet: set.rules,
    explain,
    problems: useFieldProblems(error ?? (isInvalid ? invalid : undefined), missing, isMissingShown),
    otherError: error && error.place === undefined ? error.text : undefined,
    showMissing: () => setMissingShown(true),
    showError: (reason) => setError(locateProblem(reason)),
  };
}

const routingOf = ({ name: _name, note: _note, ...rest }: RuleCreate) => rest;
