import { useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '#client/call.ts';
import type { ReplayResponse } from '#contract/routing/routing.ts';
import type { Rule, RuleCreate } from '#contract/routing/rule.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { useRuleChanges } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { showDone, showFailure, showToast } from '#web/dashboard/components/notice.tsx';
import { clip } from '#web/dashboard/formats/formats.ts';
import { type RuleWords, suggestedName } from '#web/dashboard/rule-text/rule-sentence.ts';
import {
  type Draft,
  type DraftRules,
  draftOf,
  type FieldProblems,
  type InitialDraft,
  isSame,
  locateProblem,
  missingIn,
  newRuleId,
  patchOf,
  type RuleProblem,
  ruleOf,
  useFieldProblems,
  withDraft,
} from './draft.ts';
import type { Replay, ReplayOutcome } from './replay-panel.tsx';
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

export const checkDays = 7;
/** A check that takes longer is aborted, and the person is asked. */
const checkTimeoutMs = 6_000;

/** Large changes are shown before they are saved: a hundred notifications, or a tenth of all if that is more than a few. */
const isLarge = ({ changed, considered }: ReplayResponse): boolean =>
  changed >= 100 || (changed >= 10 && changed * 10 > considered);

/** Why the person is asked before the rule is saved. */
export interface SaveWarning {
  /** The check found a large change; undefined when it did not finish. */
  readonly result: ReplayResponse | undefined;
  /** Why the check failed; undefined when it took too long or was cancelled. */
  readonly error: unknown;
  /** Saves what was checked, without later changes. The draft shows the server's error. */
  saveAnyway(): Promise<void>;
}

export interface Save {
  readonly isBusy: boolean;
  readonly warning: SaveWarning | undefined;
  forgetWarning(): void;
  /**
   * Replays the last days, then saves; asks first when much changes or the check did not finish. What is typed meanwhile
   * stays, unsaved.
   */
  check(): Promise<void>;
}

export function useSave(draft: RuleDraft, replay: Replay, onSaved: () => void): Save {
  const { t } = useTranslation(['rules', 'history']);
  const { create, change, remove } = useRuleChanges();
  const [isBusy, setBusy] = useState(false);
  const [warning, setWarning] = useState<SaveWarning>();
  const isRunning = useRef(false);
  const latest = useRef(draft);
  latest.current = draft;
  const send = async (): Promise<string> => {
    if (draft.isNew) {
      const isLast = draft.place >= draft.ruleSet.length - 1;
      return (await create({ ...draft.rule, ...(!isLast && { position: draft.place + 1 }) })).id;
    }
    const patch = patchOf(draft.saved, draft.rule);
    if (Object.keys(patch).length > 0) await change(draft.id, patch);
    return draft.id;
  };
  const commit = async () => {
    try {
      const id = await send();
      const { name, then } = draft.rule;
      if (draft.isNew && then.mute) showMuted(name, () => remove([id]));
      if (latest.current.fields === draft.fields) onSaved();
      else draft.noteSaved(draft.fields, id);
    } catch (error) {
      setWarning(undefined);
      draft.showError(error);
    }
  };
  const showMuted = (name: string, onUndo: () => Promise<void>) =>
    showDone(t('muteSaved', { name: clip(name, 80) }), {
      label: t('undo', { ns: 'history' }),
      onUndo: () =>
        void onUndo().then(
          () => showToast({ message: t('muteDeleted', { name: clip(name, 80) }) }),
          (error: unknown) =>
            showFailure({ title: t('failed', { ns: 'history' }), message: sentenceOf(error) }),
        ),
    });
  const check = async () => {
    if (!draft.isComplete) return draft.showMissing();
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    const outcome = draft.affectsRouting ? await checkEffect(draft, replay) : undefined;
    if (outcome && (!outcome.result || isLarge(outcome.result)))
      setWarning({ result: outcome.result, error: outcome.error, saveAnyway: commit });
    else await commit();
    isRunning.current = false;
    setBusy(false);
  };
  return { isBusy, warning, forgetWarning: () => setWarning(undefined), check };
}

/** A replay that has been run already is not run again. */
async function checkEffect({ ruleSet }: RuleDraft, replay: Replay): Promise<ReplayOutcome> {
  const { run } = replay;
  if (run?.rules === ruleSet && run.days >= checkDays) return { result: run.result };
  const timer = setTimeout(replay.cancel, checkTimeoutMs);
  try {
    return await replay.start(ruleSet, checkDays);
  } finally {
    clearTimeout(timer);
  }
}
