/** Rules that choose panels which are deleted: the server keeps their ids, and takes no rule that names one. */
import type { RuleThen } from '#contract/rule.ts';

/** What is left of it without the panels that `has` does not know; a rule that chose only those chooses none. */
export function withoutDeletedPanels(then: RuleThen, has: (id: string) => boolean): RuleThen {
  const left = (panels: NonNullable<RuleThen['panels']>): NonNullable<RuleThen['panels']> => {
    if (typeof panels !== 'object' || !('ids' in panels)) return panels;
    const ids = panels.ids.filter(has);
    return ids.length > 0 ? { ids } : 'none';
  };
  return {
    ...then,
    ...(then.panels !== undefined && { panels: left(then.panels) }),
    ...(then.escalate && {
      escalate: then.escalate.map((step) => (step.panels ? { ...step, panels: left(step.panels) } : step)),
    }),
  };
}
