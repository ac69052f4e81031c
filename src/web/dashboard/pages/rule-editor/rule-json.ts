/** A rule as the JSON that the API takes: to keep as code, and to bring back. */
import { Errors } from 'typebox/value';
import { RuleCreate } from '#contract/routing/rule.ts';

export interface JsonProblem {
  readonly problem: 'syntax' | 'shape' | 'unknown';
  /** Where, or what the parser said. */
  readonly detail: string;
}

/** The server adds these to a rule; in a copied rule they are left out. */
const addedByServer = ['id', 'hits', 'lastHitAt', 'createdAt', 'updatedAt'];

/** Without fields that have their default. */
export function jsonOf({ name, when, then, timeZone, ...rest }: Required<RuleCreate>): string {
  const { enabled, note, windows, activeFrom, activeUntil } = rest;
  const rule = {
    name,
    ...(!enabled && { enabled }),
    when,
    then,
    ...(rest.continue && { continue: true }),
    ...(activeFrom !== null && { activeFrom }),
    ...(activeUntil !== null && { activeUntil }),
    ...(windows.length > 0 && { windows, timeZone }),
    ...(note !== '' && { note }),
  };
  return JSON.stringify(rule, undefined, 2);
}

/** A rule of the contract's form; it may have no name yet. */
export function ruleFromJson(text: string): { readonly rule: RuleCreate } | JsonProblem {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    return { problem: 'syntax', detail: error instanceof Error ? error.message : '' };
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read))
    return { problem: 'shape', detail: '{"name": …, "when": …, "then": …}' };
  const rule = Object.fromEntries(Object.entries(read).filter(([key]) => !addedByServer.includes(key)));
  const [error] = Errors(RuleCreate, { ...rule, name: rule.name || 'unnamed' });
  if (!error) return { rule: { name: '', ...rule } as RuleCreate };
  const isMissing = error.keyword === 'required';
  const steps = `${error.instancePath}${isMissing ? `/${error.params.requiredProperties.join()}` : ''}`.split(
    '/',
  );
  return { problem: error.keyword === 'boolean' ? 'unknown' : 'shape', detail: placeOf(steps.slice(1)) };
}

/** As in `then.panels`, `when.not.host`, `when.labels.env` or `then.suppress.when.host`. */
function placeOf([head = '', ...rest]: readonly string[]): string {
  if (rest[0] === 'suppress' && rest.length > 1) return `then.suppress.${placeOf(rest.slice(1))}`;
  const depth = rest[0] === 'not' ? 2 : 1;
  const steps = rest.slice(0, rest[depth - 1] === 'labels' ? depth + 1 : depth);
  return [head, ...(head === 'when' || head === 'then' ? steps : [])].join('.');
}
