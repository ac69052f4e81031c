import { useId, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { RuleProblem } from './rule-problem.ts';

/** What is wrong at a place of the rule, to be shown there. */
export interface Fault {
  readonly text: string;
  /** Of the element that says it. */
  readonly id: string;
  /** Which of the place's values. */
  readonly at?: number | undefined;
}

export interface Faults {
  at(place: string): Fault | undefined;
}

/**
 * What the server refused, and what misses something.
 *
 * @param showMissing Nobody is told of what is missing before having had the time to fill it in.
 */
export function useFaults(
  problem: RuleProblem | undefined,
  missing: ReadonlySet<string>,
  showMissing: boolean,
): Faults {
  const { t } = useTranslation('rules');
  const id = useId();
  return useMemo(
    () => ({
      at(place) {
        const faultId = `${id}${place}`;
        if (problem?.place === place) return { text: problem.text, id: faultId, at: problem.at };
        if (!showMissing || !missing.has(place)) return undefined;
        return { text: t(place === 'then' ? 'missing.then' : 'missing.values'), id: faultId };
      },
    }),
    [problem, missing, showMissing, t, id],
  );
}
