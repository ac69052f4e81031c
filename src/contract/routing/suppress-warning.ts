/** What is valid in `then.suppress` of a rule, and probably a mistake. Pages load this file: it has no schemas. */
import type { RuleWhen, Suppress } from './rule.ts';

export interface SuppressingDraft {
  readonly when?: RuleWhen | undefined;
  readonly then?: { readonly suppress?: Suppress | undefined } | undefined;
}

/**
 * `all`: it suppresses every other alarm. `each-other`: it suppresses the alarms that it matches;
 * `each-other-equal`: those of them with equal values.
 */
export function suppressWarning({
  when = {},
  then,
}: SuppressingDraft): 'all' | 'each-other' | 'each-other-equal' | undefined {
  const suppress = then?.suppress;
  if (!suppress) return undefined;
  const isEmpty = Object.keys(suppress.when).length === 0;
  if (isEmpty && suppress.equal.length === 0) return 'all';
  if (JSON.stringify(suppress.when) !== JSON.stringify(when)) return undefined;
  return suppress.equal.length === 0 ? 'each-other' : 'each-other-equal';
}
