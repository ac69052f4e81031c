import { useRef, useState } from 'react';
import type { ReplayResponse } from '../../../../../contract/routing.ts';
import { useRuleChanges } from '../../../api/rules.ts';
import type { Replay } from '../ask/use-replay.ts';
import { patchOf } from './draft.ts';
import type { RuleDraft } from './use-rule-draft.ts';

export const checkDays = 7;
/** A check that takes longer than this is not waited for. */
const patienceMs = 6_000;

/** So much changes that one should have seen it: a hundred, or a tenth of all where that is more than a handful. */
export const isLarge = ({ changed, considered }: Pick<ReplayResponse, 'changed' | 'considered'>): boolean =>
  changed >= 100 || (changed >= 10 && changed * 10 > considered);

export interface Doubt {
  readonly result: ReplayResponse;
  /** Saves what was checked, whatever was written since. What the server refuses is told in the draft. */
  saveAnyway(): Promise<void>;
}

export interface Save {
  readonly isBusy: boolean;
  /** What is asked about before it is saved. */
  readonly doubt: Doubt | undefined;
  forgetDoubt(): void;
  /** Checks by a replay of the last days, then saves, unless that changes much. What is written meanwhile stays, unsaved. */
  check(): Promise<void>;
}

export function useSave(draft: RuleDraft, replay: Replay, onSaved: () => void): Save {
  const { create, change } = useRuleChanges();
  const [isBusy, setBusy] = useState(false);
  const [doubt, setDoubt] = useState<Doubt>();
  const isOn = useRef(false);
  const latest = useRef(draft);
  latest.current = draft;
  const send = async (): Promise<string> => {
    if (draft.isNew) return (await create(draft.rule, draft.place)).id;
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
      setDoubt(undefined);
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
    const result = draft.decidesAnew ? await foretell(draft, replay) : undefined;
    if (result && isLarge(result)) setDoubt({ result, saveAnyway: commit });
    else await commit();
    isOn.current = false;
    setBusy(false);
  };
  return { isBusy, doubt, forgetDoubt: () => setDoubt(undefined), check };
}

/** What is known already is not asked again. */
async function foretell(draft: RuleDraft, replay: Replay): Promise<ReplayResponse | undefined> {
  const { run } = replay;
  if (run && run.rules === draft.ruleSet && run.days >= checkDays) return run.result;
  const timer = setTimeout(replay.cancel, patienceMs);
  try {
    return await replay.start(draft.ruleSet, checkDays);
  } finally {
    clearTimeout(timer);
  }
}
