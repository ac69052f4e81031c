import { useRef, useState } from 'react';
import type { ReplayResponse } from '#contract/routing/routing.ts';
import { useRuleChanges } from '#web/dashboard/api/rules.ts';
import { patchOf } from './draft.ts';
import type { Replay, ReplayOutcome } from './replay-panel.tsx';
import type { RuleDraft } from './use-rule-draft.ts';

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
  const { create, change } = useRuleChanges();
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
      if (latest.current.fields === draft.fields) onSaved();
      else draft.noteSaved(draft.fields, id);
    } catch (error) {
      setWarning(undefined);
      draft.showError(error);
    }
  };
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
