import { useRef, useState } from 'react';
import type { ReplayResponse } from '#contract/routing.ts';
import { useRuleChanges } from '#web/dashboard/api/rules.ts';
import { patchOf } from './draft.ts';
import type { Replay, ReplayOutcome } from './replay-panel.tsx';
import type { RuleDraft } from './use-rule-draft.ts';

export const checkDays = 7;
/** A check that takes longer than this is given up; saving is asked about then. */
const patienceMs = 6_000;

/** So much changes that one should have seen it: a hundred, or a tenth of all where that is more than a handful. */
const isLarge = ({ changed, considered }: Pick<ReplayResponse, 'changed' | 'considered'>): boolean =>
  changed >= 100 || (changed >= 10 && changed * 10 > considered);

/** Why the person is asked before the rule is saved. */
export interface SaveWarning {
  /** The check found that much changes; undefined when it did not finish. */
  readonly result: ReplayResponse | undefined;
  /** Why the check failed; undefined when it took too long or was cancelled. */
  readonly error: unknown;
  /** Saves what was checked, whatever was written since. What the server refuses is told in the draft. */
  saveAnyway(): Promise<void>;
}

export interface Save {
  readonly isBusy: boolean;
  readonly warning: SaveWarning | undefined;
  forgetWarning(): void;
  /**
   * Checks by a replay of the last days, then saves; asks first when much changes or the check did not finish. What is
   * written meanwhile stays, unsaved.
   */
  check(): Promise<void>;
}

export function useSave(draft: RuleDraft, replay: Replay, onSaved: () => void): Save {
  const { create, change } = useRuleChanges();
  const [isBusy, setBusy] = useState(false);
  const [warning, setWarning] = useState<SaveWarning>();
  const isOn = useRef(false);
  const latest = useRef(draft);
  latest.current = draft;
  const send = async (): Promise<string> => {
    if (draft.isNew) {
      const isLast = draft.place >= draft.ruleSet.length - 1;
      return (await create({ ...draft.rule, ...(!isLast && { position: draft.place + 1 }) })).id;
    }
    const patch = patchOf(draft.before, draft.rule);
    if (Object.keys(patch).length > 0) await change(draft.id, patch);
    return draft.id;
  };
  const commit = async () => {
    try {
      const id = await send();
      if (latest.current.draft === draft.draft) onSaved();
      else draft.settle(draft.draft, id);
    } catch (error) {
      setWarning(undefined);
      draft.noteRefusal(error);
    }
  };
  const check = async () => {
    if (!draft.isWhole) {
      draft.showMissing();
      return;
    }
    if (isOn.current) return;
    isOn.current = true;
    setBusy(true);
    const outcome = draft.decidesAnew ? await checkEffect(draft, replay) : undefined;
    if (outcome && (!outcome.result || isLarge(outcome.result)))
      setWarning({ result: outcome.result, error: outcome.error, saveAnyway: commit });
    else await commit();
    isOn.current = false;
    setBusy(false);
  };
  return { isBusy, warning, forgetWarning: () => setWarning(undefined), check };
}

/** What is known already is not asked again. */
async function checkEffect(draft: RuleDraft, replay: Replay): Promise<ReplayOutcome> {
  const { run } = replay;
  if (run && run.rules === draft.ruleSet && run.days >= checkDays) return { result: run.result };
  const timer = setTimeout(replay.cancel, patienceMs);
  try {
    return await replay.start(draft.ruleSet, checkDays);
  } finally {
    clearTimeout(timer);
  }
}
