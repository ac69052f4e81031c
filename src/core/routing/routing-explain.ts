import type { RuleTrace } from '../../contract/routing.ts';
import type { RuleSpec } from '../../contract/rule.ts';
import { regexBudgetSpent, regexWorkPerNotification } from './regex-budget.ts';
import type { CompiledRule, Decision, Router } from './router.ts';
import { Facts, type RoutingSubject } from './subject.ts';

export interface Explanation {
  /** What `router.route` decides. */
  readonly decision: Decision;
  /** Every rule, in the order of the walk. */
  readonly rules: readonly RuleTrace[];
}

/** Tells what each rule had to do with a decision: for people, so every rule up to the end of the walk is tested. */
export function explain(router: Router, subject: RoutingSubject, now: number): Explanation {
  // Rules that the walk need not look at are tested here too.
  const facts = new Facts(subject, 8 * regexWorkPerNotification);
  let endedBy: number | undefined;
  const rules = router.rules.map((rule): RuleTrace => {
    if (endedBy !== undefined)
      return { ...rule.ref, outcome: 'not-tried', reason: `rule ${endedBy + 1} ends the walk` };
    const trace = traceRule(rule, facts, now);
    if (trace.outcome === 'matched' && !rule.spec.continue) endedBy = rule.ordinal;
    return trace;
  });
  return { decision: router.route(subject, now), rules };
}

/** At most `most` traces, in order: those of the rules that matched before any other. */
export function clipTraces(
  traces: readonly RuleTrace[],
  most = 1000,
): { rules: RuleTrace[]; rulesOmitted: number } {
  const matched = traces.filter(({ outcome }) => outcome === 'matched').length;
  let others = Math.max(0, most - matched);
  const rules = traces
    .filter(({ outcome }) => {
      if (outcome === 'matched') return true;
      others -= 1;
      return others >= 0;
    })
    .slice(0, most);
  return { rules, rulesOmitted: traces.length - rules.length };
}

function traceRule(
  { spec, ref, broken, activity, conditions }: CompiledRule,
  facts: Facts,
  now: number,
): RuleTrace {
  if (!spec.enabled) return { ...ref, outcome: 'disabled', reason: 'disabled' };
  if (broken !== undefined) return { ...ref, outcome: 'failed', reason: `cannot work: ${broken}` };
  try {
    if (!activity.isActive(now)) return { ...ref, outcome: 'inactive', reason: activity.reason(now) };
    const failed = conditions.find((condition) => !condition.holds(facts));
    if (failed) return { ...ref, outcome: 'failed', condition: failed.name, reason: failed.reason(facts) };
    return { ...ref, outcome: 'matched', reason: deeds(spec) };
  } catch (error) {
    const reason =
      error === regexBudgetSpent
        ? 'skipped: the regular expressions of the rules before it took all the time there is for one notification'
        : 'failed with an error, so it is skipped';
    return { ...ref, outcome: 'failed', reason };
  }
}

/** What a rule does once it has matched. */
function deeds({ then, continue: goesOn }: RuleSpec): string {
  const done: string[] = [];
  if (then.panels !== undefined) done.push(`names ${panelsText(then.panels)}`);
  if (then.setLevel !== undefined) done.push(`sets the level to ${then.setLevel}`);
  if (then.setTtl !== undefined)
    done.push(then.setTtl === 0 ? 'keeps it until cleared' : `sets the ttl to ${then.setTtl} ms`);
  if (then.mute) done.push('mutes it');
  if (then.throttle) done.push(`shows one in ${then.throttle.perMs / 1000} s${sameText(then.throttle.by)}`);
  return `${done.length > 0 ? done.join(', ') : 'does nothing'}; the walk ${goesOn ? 'goes on' : 'ends here'}`;
}

function panelsText(panels: NonNullable<RuleSpec['then']['panels']>): string {
  if (panels === 'all') return 'every panel';
  if (panels === 'none') return 'no panel';
  if ('tags' in panels) return `panels tagged ${panels.tags.join(', ')}`;
  return panels.ids.length === 1 ? 'one panel' : `${panels.ids.length} panels`;
}

const sameText = (by: readonly string[]) => (by.length === 0 ? '' : ` of the same ${by.join(', ')}`);
