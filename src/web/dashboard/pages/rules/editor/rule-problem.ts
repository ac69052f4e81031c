/** Where in a rule an error of the server belongs. */
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
