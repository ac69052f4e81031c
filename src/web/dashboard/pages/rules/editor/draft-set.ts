/** The rules as they would be with a draft among them: what explain and replay are asked with. */
import type { ReplayRequest } from '#contract/routing.ts';
import type { Rule, RuleCreate } from '#contract/rule.ts';

export type DraftRules = ReplayRequest['rules'];

/** The id that a rule goes by while it has none. */
export const newRuleId = 'new';

/** @param place Where a new rule is to stand, counted from 0; one that is there stays where it is. */
export function withDraft(
  rules: readonly Rule[],
  draft: RuleCreate,
  { id, place }: { readonly id: string; readonly place: number },
): { readonly rules: DraftRules; readonly index: number } {
  const set: DraftRules = rules.map(specOf);
  const known = rules.findIndex((rule) => rule.id === id);
  const index = known >= 0 ? known : Math.min(place, set.length);
  set.splice(index, known >= 0 ? 1 : 0, { id, ...draft });
  return { rules: set, index };
}

/** A rule without what is counted. */
export function specOf({ hits: _h, lastHitAt: _l, createdAt: _c, updatedAt: _u, ...spec }: Rule) {
  return spec;
}
