/** Deletions that are refused while a rule names what they delete. */
import type { RuleSpec } from '#contract/routing/rule.ts';
import { type AppError, conflict, notFound } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Services } from '../services.ts';

/** How often a deletion is tried again when someone changes the rules at the same time. */
const removeAttempts = 50;
const maxNamesInError = 5;

interface Removal {
  /** What it is, as in "level". */
  readonly kind: string;
  readonly name: string;
  readonly rulesThatName: (rules: readonly RuleSpec[]) => readonly RuleSpec[];
  /** false when there is none; undefined when the rules are no longer those of this revision, or something else names it now. */
  readonly remove: (revision: number) => Promise<boolean | undefined>;
}

/**
 * Deletes what no rule names. Tries again when the rules change at the same time.
 *
 * @throws AppError `conflict`, naming the rules; `not-found`.
 */
export async function removeUnnamed(
  { directory: { rules } }: Services,
  tenant: TenantId,
  { kind, name, rulesThatName, remove }: Removal,
): Promise<void> {
  for (let attempt = 0; attempt < removeAttempts; attempt++) {
    const { revision, rules: inForce } = await rules.set(tenant);
    const users = rulesThatName(inForce);
    if (users.length > 0) throw inUse(`${kind} ${name}`, 'rules', users);
    const removed = await remove(revision);
    if (removed) return;
    if (removed === false) throw notFound(kind);
  }
  throw conflict('the rules are being changed by others: try again');
}

export function inUse(
  what: string,
  by: 'rules' | 'panels',
  users: readonly { readonly name: string }[],
): AppError {
  const names = users.slice(0, maxNamesInError).map(({ name }) => `"${name}"`);
  const more = users.length > maxNamesInError ? ` and ${users.length - maxNamesInError} more` : '';
  return conflict(`${by} name the ${what}: ${names.join(', ')}${more}; change them first`);
}
