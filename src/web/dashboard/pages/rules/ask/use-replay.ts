import { useCallback, useEffect, useRef, useState } from 'react';
import type { ReplayResponse } from '#contract/routing.ts';
import { askReplay } from '#web/dashboard/api/routing.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import type { DraftRules } from '../editor/draft-set.ts';

export const replayDays = [1, 7, 30] as const;

export interface ReplayRun {
  readonly rules: DraftRules;
  readonly days: number;
  readonly result: ReplayResponse;
}

/** Neither of both when it was cancelled. */
export interface ReplayOutcome {
  readonly result?: ReplayResponse;
  readonly error?: unknown;
}

export interface Replay {
  /** The last that came to an end. */
  readonly run: ReplayRun | undefined;
  readonly runningSince: number | undefined;
  readonly error: unknown;
  /** Never throws. */
  start(rules: DraftRules, days: number): Promise<ReplayOutcome>;
  cancel(): void;
}

/** One replay at a time; the server stops with the one that is no longer waited for. */
export function useReplay(): Replay {
  const tenant = useTenant();
  const [run, setRun] = useState<ReplayRun>();
  const [runningSince, setRunningSince] = useState<number>();
  const [error, setError] = useState<unknown>();
  const current = useRef<AbortController>(undefined);
  const cancel = useCallback(() => {
    current.current?.abort();
    current.current = undefined;
    setRunningSince(undefined);
  }, []);
  useEffect(() => () => current.current?.abort(), []);
  const start = async (rules: DraftRules, days: number): Promise<ReplayOutcome> => {
    cancel();
    const controller = new AbortController();
    current.current = controller;
    setError(undefined);
    setRunningSince(Date.now());
    try {
      const result = await askReplay(tenant, { rules, days }, controller.signal);
      setRun({ rules, days, result });
      return { result };
    } catch (reason) {
      if (controller.signal.aborted) return {};
      setError(reason);
      return { error: reason };
    } finally {
      if (current.current === controller) {
        current.current = undefined;
        setRunningSince(undefined);
      }
    }
  };
  return { run, runningSince, error, start, cancel };
}
