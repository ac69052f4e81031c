/** Where in a rule an error of the server belongs. */

import { useId, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '#client/api-error.ts';

export interface RuleProblem {
  /** As in `when.host`, `then.panels` or `activeUntil`; undefined: it is not about a field of this rule. */
  readonly place?: string;
  /** Which of the place's values, counted from 0. */
  readonly at?: number;
  readonly text: string;
}

const fields = ['name', 'activeFrom', 'activeUntil', 'windows', 'timeZone', 'note', 'continue', 'enabled'];

/** @param index The place of the rule among the rules that were sent, if there were several. */
export function locateProblem(error: unknown, index?: number): RuleProblem {
  if (!(error instanceof ApiError)) return { text: error instanceof Error ? error.message : String(error) };
  const { pointer = '' } = error.place;
  const rule = index === undefined ? '/' : `/rules/${index}/`;
  const steps = pointer.startsWith(rule) ? pointer.slice(rule.length).split('/') : [];
  const place = placeFrom(steps);
  if (place === undefined) return { text: error.message };
  const at = steps.slice(place.split('.').length).find((step) => /^\d+$/.test(step));
  return { place, text: error.messageAfter(pathOf(steps)), ...(at !== undefined && { at: Number(at) }) };
}

/** As sentences name it: `when.ip[0]`. */
const pathOf = (steps: readonly string[]) => steps.join('.').replace(/\.(\d+)(?=\.|$)/g, '[$1]');

function placeFrom([head = '', ...rest]: readonly string[]): string | undefined {
  if (fields.includes(head)) return head;
  if (head === 'then') return rest[0] === undefined ? head : `then.${rest[0]}`;
  if (head !== 'when' || rest[0] === undefined) return undefined;
  return rest[0] === 'not' && rest[1] !== undefined ? `when.not.${rest[1]}` : `when.${rest[0]}`;
}

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
