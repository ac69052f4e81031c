/** The panels and channels that a rule and its steps of escalation choose. */
import type { RuleEntry } from '#contract/configuration.ts';
import type { RuleThen } from '#contract/routing/rule.ts';

/** As the API has them, with ids, or as the file does, with names. */
type Then = RuleThen | RuleEntry['then'];
export type Path = readonly (string | number)[];

/** The effects of a rule with its panels, and those of its steps, in another form. `place`: where they stand in the rule. */
export function mapPanels<From extends Then, To extends Then>(
  then: From,
  to: (panels: NonNullable<From['panels']>, place: Path) => To['panels'],
): To {
  const of = ({ panels }: { readonly panels?: unknown }, place: Path) =>
    panels === undefined ? {} : { panels: to(panels as NonNullable<From['panels']>, place) };
  const { escalate } = then;
  return {
    ...then,
    ...of(then, ['then', 'panels']),
    ...(escalate && {
      escalate: escalate.map((step, i) => ({ ...step, ...of(step, ['then', 'escalate', i, 'panels']) })),
    }),
  } as unknown as To;
}

interface Known {
  readonly panels: { has(id: string): boolean };
  readonly channels: { has(id: string): boolean };
}

/**
 * What is left of it without deleted panels and channels: the server keeps their ids, and takes no rule that names one. A
 * rule that chose only deleted panels chooses none.
 */
export function withoutDeleted(then: RuleThen, { panels, channels }: Known): RuleThen {
  const left = mapPanels<RuleThen, RuleThen>(then, (target) => {
    if (typeof target !== 'object' || !('ids' in target)) return target;
    const ids = target.ids.filter((id) => panels.has(id));
    return ids.length > 0 ? { ids } : 'none';
  });
  const { channels: chosen, ...others } = left;
  const existing = chosen?.filter((id) => channels.has(id)) ?? [];
  return { ...others, ...(existing.length > 0 && { channels: existing }) };
}
