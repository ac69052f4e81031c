/** Assigns the server's error to a field of the rule. */
import { useId, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '#client/api-error.ts';
import type { EscalationStep } from '#contract/routing/rule.ts';
import { isEmptyTarget } from './draft.ts';

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
  const at = steps.slice(place.split('.').length).find((step) => /^\d+$/.test(step));
  return { place, text: error.messageAfter(pathOf(steps)), ...(at !== undefined && { at: Number(at) }) };
}

/** The path as in the server's error messages: `when.ip[0]`. */
const pathOf = (steps: readonly string[]) => steps.join('.').replace(/\.(\d+)(?=\.|$)/g, '[$1]');

function placeFrom([head = '', ...rest]: readonly string[]): string | undefined {
  if (fields.includes(head)) return head;
  if (head === 'then') return rest[0] === undefined ? head : `then.${rest[0]}`;
  if (head !== 'when' || rest[0] === undefined) return undefined;
  return rest[0] === 'not' && rest[1] !== undefined ? `when.not.${rest[1]}` : `when.${rest[0]}`;
}

/** The error of a field. */
export interface FieldProblem {
  readonly text: string;
  /** The id of its element. */
  readonly id: string;
  /** Which of the place's values. */
  readonly at?: number | undefined;
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
  const field = place.replace('not.', '');
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
 * @param showMissing False until the person tries to save.
 */
export function useFieldProblems(
  problem: RuleProblem | undefined,
  missing: ReadonlySet<string>,
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
        if (!showMissing || !missing.has(place)) return undefined;
        return { text: t(place === 'then' ? 'missing.then' : 'missing.values'), id: problemId };
      },
    }),
    [problem, missing, showMissing, t, id],
  );
}
