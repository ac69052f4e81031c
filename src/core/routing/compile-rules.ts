/** The rules of a tenant, compiled: which panels show a notification, and as what. No I/O; the same question, the same answer. */
import type { RuleSpec } from '#contract/rule.ts';
import type { RuleSet } from '../directory.ts';
import { AppError, badField } from '../errors.ts';
import type { YieldToEventLoop } from '../yield-to-event-loop.ts';
import { compileConditions, type RankedLevels } from './conditions.ts';
import { IndexedRouter } from './indexed-router.ts';
import { prepareRegexes } from './regex-budget.ts';
import type { CompiledRule, Router, RoutingContext } from './router.ts';
import { RuleIndex } from './rule-index.ts';
import { type Activity, compileActivity } from './windows.ts';

/** @throws AppError `bad-request` naming rule and field, unless `onError` is given. */
export function compileRules(set: RuleSet, context: RoutingContext): Router {
  const steps = compileSteps(set, context);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * As `compileRules`, letting other work go first in between; rules that `previous` holds as the same objects are taken
 * over from it. It must have been compiled for the same levels.
 */
export async function compileRulesInSlices(
  set: RuleSet,
  context: RoutingContext,
  {
    yieldToEventLoop,
    previous,
  }: { readonly yieldToEventLoop: YieldToEventLoop; readonly previous?: Router | undefined },
): Promise<Router> {
  const prepared = await prepareRegexes(set.rules, yieldToEventLoop, { limited: false });
  const steps = compileSteps(set, context, previous);
  for (;;) {
    const { done, value } = steps.next();
    // Held up to here: until a rule holds it, what was prepared may be collected.
    if (done && prepared) return value;
    const pause = yieldToEventLoop();
    if (pause) await pause;
  }
}

function* compileSteps(
  { revision, rules }: RuleSet,
  context: RoutingContext,
  previous?: Router,
): Generator<undefined, Router> {
  const before = new Map(previous?.rules.map((rule) => [rule.spec, rule]));
  const compiled: CompiledRule[] = [];
  for (const [ordinal, spec] of rules.entries()) {
    const same = before.get(spec);
    compiled.push(same ? { ...same, ordinal } : compileRule(spec, ordinal, context));
    yield;
  }
  const index = yield* RuleIndex.build(
    compiled.filter(({ spec, broken }) => spec.enabled && broken === undefined),
  );
  return new IndexedRouter({ revision, rules: compiled, index }, context);
}

function compileRule(spec: RuleSpec, ordinal: number, { levels, onError }: RoutingContext): CompiledRule {
  const ref = { id: spec.id, name: spec.name };
  const rule = {
    ordinal,
    spec,
    ref,
    activity: never,
    conditions: [],
    regexWeight: 0,
    broken: undefined,
  };
  if (!spec.enabled) return rule;
  try {
    return inRule(spec.name, () => {
      checkSetLevel(spec, levels);
      const conditions = compileConditions(spec.when, levels);
      const regexWeight = conditions.reduce((sum, each) => sum + each.regexWeight, 0);
      return { ...rule, activity: compileActivity(spec), conditions, regexWeight };
    });
  } catch (error) {
    if (!onError) throw error;
    onError(error, ref);
    return { ...rule, broken: error instanceof AppError ? error.message : 'it cannot be read' };
  }
}

const never: Activity = { isActive: () => false, reason: () => 'disabled' };

/** @throws AppError `bad-request` when the level to be set does not exist. */
export function checkSetLevel({ then: { setLevel } }: RuleSpec, levels: RankedLevels): void {
  if (setLevel === undefined || levels.has(setLevel)) return;
  throw badField(
    'then.setLevel',
    `"${setLevel}" is no level here; the levels are ${[...levels.keys()].join(', ')}`,
  );
}

/** Errors of a rule begin with its name. */
export function inRule<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, `rule "${name}": ${error.message}`, { place: error.place });
  }
}
