import type { RuleSpec } from '../contract/rule.ts';
import { compileConditions, type RankedLevels } from './conditions.ts';
import { badRequest } from './errors.ts';
import { checkSetLevel } from './routing.ts';
import { compileActivity } from './windows.ts';

export interface RuleSurroundings {
  readonly levels: RankedLevels;
  /** The tenant's panels by id. */
  readonly panels: { has(id: string): boolean };
}

/**
 * Refuses a rule that cannot work: bad patterns, levels, panels and time zones that do not exist, times that never
 * come, and a `then` that does nothing. Tags and tokens need not exist yet. A disabled rule is held to the same.
 *
 * @throws AppError `bad-request`, naming rule and field: rule "db to the NOC": when.ip[0]: …
 */
export function validateRule(spec: RuleSpec, { levels, panels }: RuleSurroundings): void {
  const where = `rule "${spec.name}"`;
  compileConditions(spec.when, levels, `${where}: when`);
  compileActivity(spec, where);
  checkSetLevel(spec, levels, where);
  checkPanels(spec, panels, where);
  if (!doesAnything(spec))
    throw badRequest(`${where}: then: does nothing; give panels, setLevel, setTtl, mute or throttle`);
}

function checkPanels({ then }: RuleSpec, known: RuleSurroundings['panels'], where: string): void {
  if (typeof then.panels !== 'object' || !('ids' in then.panels)) return;
  const unknown = then.panels.ids.findIndex((id) => !known.has(id));
  if (unknown < 0) return;
  throw badRequest(
    `${where}: then.panels.ids[${unknown}]: "${then.panels.ids[unknown]}" is no panel's id; GET /api/panels lists them`,
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
