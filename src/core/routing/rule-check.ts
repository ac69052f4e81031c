import type { RuleSpec } from '#contract/rule.ts';
import { badField } from '../errors.ts';
import { checkSetLevel, inRule } from './compile-rules.ts';
import { compileConditions, type RankedLevels } from './conditions.ts';
import { checkRegexWeight } from './regex-budget.ts';
import type { Router } from './router.ts';
import { compileActivity } from './windows.ts';

export interface RuleSurroundings {
  readonly levels: RankedLevels;
  /** The tenant's panels by id. */
  readonly panels: { has(id: string): boolean };
  /** The rules in force, next to which it is to stand. */
  readonly router?: Pick<Router, 'rules' | 'regexWeight'>;
}

/**
 * Refuses a rule that cannot work: bad patterns, levels, panels and time zones that do not exist, times that never
 * come, regular expressions that are too many for a tenant, and a `then` that does nothing. Tags and tokens need not exist yet. A disabled rule is held to the same.
 *
 * @throws AppError `bad-request`, naming rule and field: rule "db to the NOC": when.ip[0]: …
 */
export function validateRule(spec: RuleSpec, { levels, panels, router }: RuleSurroundings): void {
  inRule(spec.name, () => {
    const conditions = compileConditions(spec.when, levels);
    const own = conditions.reduce((sum, { regexWeight }) => sum + regexWeight, 0);
    const before = router?.rules.find(({ ref }) => ref.id === spec.id)?.regexWeight ?? 0;
    // What costs no more than before is let through: a tenant beyond the bound can still mend its rules.
    if (own > before) checkRegexWeight(own - before + (router?.regexWeight ?? 0));
    compileActivity(spec);
    checkSetLevel(spec, levels);
    checkPanels(spec, panels);
    if (!doesAnything(spec))
      throw badField('then', 'does nothing; give panels, setLevel, setTtl, mute or throttle');
  });
}

function checkPanels({ then }: RuleSpec, known: RuleSurroundings['panels']): void {
  if (typeof then.panels !== 'object' || !('ids' in then.panels)) return;
  const unknown = then.panels.ids.findIndex((id) => !known.has(id));
  if (unknown < 0) return;
  throw badField(
    `then.panels.ids[${unknown}]`,
    `"${then.panels.ids[unknown]}" is no panel's id; GET /api/panels lists them`,
  );
}

function doesAnything({ then }: RuleSpec): boolean {
  return (
    then.panels !== undefined ||
    then.setLevel !== undefined ||
    then.setTtl !== undefined ||
    then.mute === true ||
    then.throttle !== undefined
  );
}
