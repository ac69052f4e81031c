/** Where in a rule the server's sentence belongs. */

export interface RuleProblem {
  /** As in `when.host`, `then.panels` or `activeUntil`; undefined: it is not about a field of this rule. */
  readonly place?: string;
  /** Which of the place's values, counted from 0. */
  readonly at?: number;
  readonly text: string;
}

const fields = ['name', 'activeFrom', 'activeUntil', 'windows', 'timeZone', 'note', 'continue', 'enabled'];

/**
 * Reads both kinds of refusal: `rule "db": when.ip[0]: "x" is no address` of what cannot work, and
 * `body.rules.3.when.host.0 must NOT have fewer than 1 characters` of what has not the right form.
 *
 * @param rule The name the rule was sent with, and its place among the rules that were sent, if there were several.
 */
export function locateProblem(
  message: string,
  rule: { readonly name: string; readonly index?: number | undefined },
): RuleProblem {
  const named = `rule "${rule.name}": `;
  const path = message.startsWith(named) ? message.slice(named.length) : ofBody(message, rule.index);
  const found = path === undefined ? null : /^([A-Za-z]+(?:\.\w+|\[\d+\])*)(: | )/.exec(path);
  const steps = found?.[1]?.split(/[.[\]]+/).filter((step) => step !== '') ?? [];
  const place = placeFrom(steps);
  if (path === undefined || place === undefined) return { text: message };
  const at = steps.slice(place.split('.').length).find((step) => /^\d+$/.test(step));
  const text = found?.[2] === ': ' ? path.slice(found[0].length) : path;
  return { place, text, ...(at !== undefined && { at: Number(at) }) };
}

function ofBody(message: string, index: number | undefined): string | undefined {
  if (!message.startsWith('body.')) return undefined;
  const rest = message.slice('body.'.length);
  if (index === undefined) return rest;
  const prefix = `rules.${index}.`;
  return rest.startsWith(prefix) ? rest.slice(prefix.length) : undefined;
}

function placeFrom([head = '', ...rest]: readonly string[]): string | undefined {
  if (fields.includes(head)) return head;
  if (head === 'then') return rest[0] === undefined ? head : `then.${rest[0]}`;
  if (head !== 'when' || rest[0] === undefined) return undefined;
  return rest[0] === 'not' && rest[1] !== undefined ? `when.not.${rest[1]}` : `when.${rest[0]}`;
}
