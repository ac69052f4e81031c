/** The rules of a tenant, compiled: which panels show a notification, and as what. No I/O; the same question, the same answer. */
import type { RuleSpec } from '../../contract/rule.ts';
import type { Breathe } from '../breathe.ts';
import type { RuleSet } from '../directory.ts';
import { AppError, badRequest } from '../errors.ts';
import type { Ref, Route } from '../ports.ts';
import { type Condition, compileConditions, type RankedLevels } from './conditions.ts';
import { IndexedRouter } from './indexed-router.ts';
import { prepareRegexes } from './regex-budget.ts';
import { RuleIndex } from './rule-index.ts';
import type { RoutingSubject } from './subject.ts';
import type { ThrottleDemand } from './throttle.ts';
import { type Activity, compileActivity } from './windows.ts';

export interface RoutingContext {
  readonly levels: RankedLevels;
  /**
   * Given, a rule that cannot work is left out and reported, as is one that fails on a notification: intake goes on.
   * Not given, compiling throws what is wrong with the first such rule. Must not throw.
   */
  readonly onError?: (error: unknown, rule: Ref) => void;
}

export interface Decision {
  readonly level: string;
  readonly rank: number;
  /** Milliseconds; 0 stays until cleared. */
  readonly ttl: number;
  /** Equal decisions of one router are the same object. A muted notification's target is no panel. */
  readonly route: Route;
  /** For `Throttle.check`, before it is shown; empty when it is shown nowhere. */
  readonly throttle: readonly ThrottleDemand[];
}

export interface CompiledRule {
  readonly ordinal: number;
  readonly spec: RuleSpec;
  readonly ref: Ref;
  readonly activity: Activity;
  readonly conditions: readonly Condition[];
  /** Of its regular expressions; see `maxRegexWeight`. */
  readonly regexWeight: number;
  /** Why it cannot work, and is skipped. */
  readonly broken: string | undefined;
}

export interface Router {
  readonly revision: number;
  /** In the order of the walk. */
  readonly rules: readonly CompiledRule[];
  readonly levels: RankedLevels;
  /** Of all its rules. */
  readonly regexWeight: number;
  /**
   * Decides where a notification goes.
   *
   * Rules are walked in order; one that is disabled or not active at `now` is skipped. Conditions are tested against
   * the notification as it was sent, not as an earlier rule changed it. The first rule whose conditions all hold ends
   * the walk, unless it says `continue`: then the panels of all that match are united, a later setLevel or setTtl
   * replaces an earlier one, and one `mute` is enough. A rule that matches without naming panels adds none; when no
   * matching rule names panels, the target is every panel. "none" names panels.
   *
   * The ttl is that of the last matching rule that sets one, else the sender's, else the duration of the level the
   * notification ends up with.
   *
   * Never throws: a rule that fails is skipped and reported, as is one whose regular expressions would take more than
   * is left of `regexWork`.
   */
  route(subject: RoutingSubject, now: number, regexWork?: number): Decision;
  /** The rank of a level; one that is not known has that of info. */
  rankOf(level: string): number;
  /** How many rules are tested for such a notification when none ends the walk: what its cost grows with. */
  countCandidates(subject: RoutingSubject): number;
}

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
  { breathe, previous }: { readonly breathe: Breathe; readonly previous?: Router | undefined },
): Promise<Router> {
  const prepared = await prepareRegexes(set.rules, breathe, { limited: false });
  const steps = compileSteps(set, context, previous);
  for (;;) {
    const { done, value } = steps.next();
    // Held up to here: until a rule holds it, what was prepared may be collected.
    if (done && prepared) return value;
    const pause = breathe();
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
    const where = `rule "${spec.name}"`;
    checkSetLevel(spec, levels, where);
    const conditions = compileConditions(spec.when, levels, `${where}: when`);
    return {
      ...rule,
      activity: compileActivity(spec, where),
      conditions,
      regexWeight: conditions.reduce((sum, { regexWeight }) => sum + regexWeight, 0),
    };
  } catch (error) {
    if (!onError) throw error;
    onError(error, ref);
    return { ...rule, broken: error instanceof AppError ? error.message : 'it cannot be read' };
  }
}

const never: Activity = { isActive: () => false, reason: () => 'disabled' };

/** @throws AppError `bad-request` when the level to be set does not exist. */
export function checkSetLevel({ then: { setLevel } }: RuleSpec, levels: RankedLevels, where: string): void {
  if (setLevel === undefined || levels.has(setLevel)) return;
  throw badRequest(
    `${where}: then.setLevel: "${setLevel}" is no level here; the levels are ${[...levels.keys()].join(', ')}`,
  );
}
