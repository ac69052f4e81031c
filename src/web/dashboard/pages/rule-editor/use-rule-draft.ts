import { useMemo, useState } from 'react';
import { ApiError } from '#client/api-error.ts';
import type { Rule, RuleCreate } from '#contract/rule.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { type RuleWords, suggestedName } from '#web/dashboard/components/rule-sentence.ts';
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
import type { Beginning } from './initial-draft.ts';
import { type Faults, locateProblem, type RuleProblem, useFaults } from './rule-problem.ts';
import { type Explain, useExplain } from './use-explain.ts';

/** The rule that is opened, or what a new one begins with. */
export type Opening = { readonly rule: Rule } | Beginning;

export interface RuleDraft {
  /** Of the rule as it is saved, or `newRuleId`. */
  readonly id: string;
  readonly draft: Draft;
  /** This much of it is saved, as the rule of that id; what was written since stays. */
  settle(saved: Draft, id: string): void;
  set(change: Partial<Draft>): void;
  /** Takes another rule in its place, as from JSON. */
  take(rule: RuleCreate): void;
  readonly place: number;
  setPlace(place: number): void;
  /** As it would be sent. */
  readonly rule: Required<RuleCreate>;
  /** As it was when it was opened or, later, saved. */
  readonly before: Required<RuleCreate>;
  readonly suggestion: string;
  readonly isChanged: boolean;
  /** Something is changed that decides where notifications go. */
  readonly decidesAnew: boolean;
  readonly isWhole: boolean;
  /** The server refuses it as it is, and the form says where. */
  readonly isRefused: boolean;
  readonly isNew: boolean;
  readonly ruleSet: DraftRules;
  readonly explain: Explain;
  readonly faults: Faults;
  /** What the server refuses, not at a field of this rule. */
  readonly otherProblem: string | undefined;
  showMissing(): void;
  noteRefusal(error: unknown): void;
}

export function useRuleDraft(
  rules: readonly Rule[],
  opening: Opening,
  { words, version, explain: begin }: { words: RuleWords; version: string; explain: string | undefined },
): RuleDraft {
  const { timeZone } = useTenant();
  const [id, setId] = useState(() => ('rule' in opening ? opening.rule.id : newRuleId));
  const isNew = id === newRuleId;
  const [base, setBase] = useState(() =>
    'rule' in opening ? draftOf(opening.rule, timeZone) : opening.draft,
  );
  const [draft, setDraft] = useState(base);
  const [place, setPlace] = useState('rule' in opening ? 0 : opening.place);
  const [isTold, setTold] = useState(false);
  const [refusal, setRefusal] = useState<RuleProblem>();
  const suggestion = useMemo(() => suggestedName(ruleOf(draft, ''), words), [draft, words]);
  const rule = useMemo(() => ruleOf(draft, suggestion), [draft, suggestion]);
  const before = useMemo(() => ruleOf(base, suggestion), [base, suggestion]);
  const missing = useMemo(() => missingIn(draft), [draft]);
  const set = useMemo(() => withDraft(rules, rule, { id, place }), [rules, rule, id, place]);
  const isWhole = missing.size === 0;
  const isChanged = !isSame(draft, base);
  const explain = useExplain(isNew || isChanged ? set.rules : undefined, {
    version,
    isAsking: isWhole || !(isNew || isChanged),
    begin,
  });
  const asked = explain.error instanceof ApiError && explain.error.status === 400 ? explain.error : undefined;
  const found = asked && locateProblem(asked, set.index);
  const problem = refusal ?? (found?.place === undefined ? undefined : found);
  return {
    id,
    draft,
    place,
    rule,
    before,
    suggestion,
    isChanged,
    isWhole,
    isRefused: found?.place !== undefined,
    isNew,
    explain,
    set: (change) => {
      setRefusal(undefined);
      setDraft((current) => ({ ...current, ...change }));
    },
    take: (taken) => {
      setRefusal(undefined);
      setDraft(draftOf(taken, timeZone));
    },
    setPlace,
    settle: (saved, savedId) => {
      setBase(saved);
      setId(savedId);
    },
    decidesAnew: (isNew && rule.enabled) || !isSame(deciding(rule), deciding(before)),
    ruleSet: set.rules,
    faults: useFaults(problem, missing, isTold),
    otherProblem: refusal && refusal.place === undefined ? refusal.text : undefined,
    showMissing: () => setTold(true),
    noteRefusal: (error) => setRefusal(locateProblem(error)),
  };
}

const deciding = ({ name: _name, note: _note, ...rest }: RuleCreate) => rest;
