/** The rules of a tenant, compiled: which panels show a notification, and as what. No I/O; the same question, the same answer. */
import type { RuleSpec } from '../contract/rule.ts';
import { type Condition, compileConditions, type RankedLevels } from './conditions.ts';
import type { RuleSet } from './directory.ts';
import { AppError, badRequest } from './errors.ts';
import type { Ref, Route, Target } from './ports.ts';
import { RuleIndex } from './rule-index.ts';
import { Facts, type RoutingSubject } from './subject.ts';
import { everyPanel, isEmpty, noPanel } from './target.ts';
import { type ThrottleDemand, throttleDemand } from './throttle.ts';
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
  /** Why it cannot work, and is skipped. */
  readonly broken: string | undefined;
}

export interface Router {
  readonly revision: number;
  /** In the order of the walk. */
  readonly rules: readonly CompiledRule[];
  readonly levels: RankedLevels;
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
   * Never throws: a rule that fails is skipped and reported.
   */
  route(subject: RoutingSubject, now: number): Decision;
  /** The rank of a level; one that is not known has that of info. */
  rankOf(level: string): number;
  /** How many rules are tested for such a notification when none ends the walk: what its cost grows with. */
  countCandidates(subject: RoutingSubject): number;
}

/** @throws AppError `bad-request` naming rule and field, unless `onError` is given. */
export function compileRules({ revision, rules }: RuleSet, context: RoutingContext): Router {
  const compiled = rules.map((spec, ordinal) => compileRule(spec, ordinal, context));
  return new IndexedRouter(revision, compiled, context);
}

function compileRule(spec: RuleSpec, ordinal: number, { levels, onError }: RoutingContext): CompiledRule {
  const ref = { id: spec.id, name: spec.name };
  const rule = { ordinal, spec, ref, activity: never, conditions: [], broken: undefined };
  if (!spec.enabled) return rule;
  try {
    const where = `rule "${spec.name}"`;
    checkSetLevel(spec, levels, where);
    return {
      ...rule,
      activity: compileActivity(spec, where),
      conditions: compileConditions(spec.when, levels, `${where}: when`),
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

/** What a set of matching rules amounts to, whatever the notification. */
interface Effect {
  readonly route: Route;
  readonly level: string | undefined;
  readonly ttl: number | undefined;
  /** The matching rules that throttle. */
  readonly throttling: readonly CompiledRule[];
}

const nothing: readonly ThrottleDemand[] = [];
const maxEffects = 10_000;

class IndexedRouter implements Router {
  readonly revision: number;
  readonly rules: readonly CompiledRule[];
  readonly levels: RankedLevels;
  readonly #onError: NonNullable<RoutingContext['onError']>;
  readonly #index: RuleIndex;
  readonly #unmatched: Effect;
  readonly #single: (Effect | undefined)[] = [];
  /** By the ordinals of the rules that match, for two and more. */
  readonly #several = new Map<string, Effect>();

  constructor(revision: number, rules: readonly CompiledRule[], { levels, onError }: RoutingContext) {
    this.revision = revision;
    this.rules = rules;
    this.levels = levels;
    this.#onError = onError ?? (() => {});
    this.#index = new RuleIndex(rules.filter(({ spec, broken }) => spec.enabled && broken === undefined));
    this.#unmatched = this.#effectOf([]);
  }

  rankOf(level: string): number {
    return this.levels.get(level)?.rank ?? this.levels.get('info')?.rank ?? 20;
  }

  countCandidates(subject: RoutingSubject): number {
    const candidates = this.#index.candidates(new Facts(subject));
    let count = 0;
    while (candidates.next() !== undefined) count += 1;
    return count;
  }

  route(subject: RoutingSubject, now: number): Decision {
    const { route, level = subject.level, ttl, throttling } = this.#effect(this.#walk(subject, now));
    return {
      level,
      rank: level === subject.level ? subject.rank : this.rankOf(level),
      ttl: ttl ?? subject.ttl ?? this.#durationOf(level),
      route,
      throttle: throttling.length === 0 ? nothing : demandsOf(throttling, subject),
    };
  }

  /** The ordinals of the rules that match. */
  #walk(subject: RoutingSubject, now: number): readonly number[] {
    const facts = new Facts(subject);
    const candidates = this.#index.candidates(facts);
    const matching: number[] = [];
    for (let ordinal = candidates.next(); ordinal !== undefined; ordinal = candidates.next()) {
      const rule = this.rules[ordinal] as CompiledRule;
      if (!this.#matches(rule, facts, now)) continue;
      matching.push(ordinal);
      if (!rule.spec.continue) break;
    }
    return matching;
  }

  #matches(rule: CompiledRule, facts: Facts, now: number): boolean {
    try {
      return matchesRule(rule, facts, now);
    } catch (error) {
      this.#onError(error, rule.ref);
      return false;
    }
  }

  #effect(matching: readonly number[]): Effect {
    const [first] = matching;
    if (first === undefined) return this.#unmatched;
    if (matching.length === 1) {
      this.#single[first] ??= this.#effectOf(matching);
      return this.#single[first];
    }
    const name = matching.join();
    let effect = this.#several.get(name);
    if (!effect) {
      effect = this.#effectOf(matching);
      // Interning saves work; doing without for a while does no harm.
      if (this.#several.size === maxEffects) this.#several.clear();
      this.#several.set(name, effect);
    }
    return effect;
  }

  #effectOf(matching: readonly number[]): Effect {
    const rules = matching.map((ordinal) => this.rules[ordinal] as CompiledRule);
    const muted = rules.some(({ spec }) => spec.then.mute === true);
    const target = muted ? noPanel : targetOf(rules);
    return {
      route: { revision: this.revision, rules: rules.map(({ ref }) => ref), muted, target },
      level: rules.findLast(({ spec }) => spec.then.setLevel !== undefined)?.spec.then.setLevel,
      ttl: rules.findLast(({ spec }) => spec.then.setTtl !== undefined)?.spec.then.setTtl,
      throttling: isEmpty(target) ? [] : rules.filter(({ spec }) => spec.then.throttle !== undefined),
    };
  }

  #durationOf(level: string): number {
    return (this.levels.get(level) ?? this.levels.get('info'))?.durationMs ?? 30_000;
  }
}

/** Whether a rule is active and all its conditions hold. */
export function matchesRule({ activity, conditions }: CompiledRule, facts: Facts, now: number): boolean {
  if (!activity.isActive(now)) return false;
  for (const condition of conditions) if (!condition.holds(facts)) return false;
  return true;
}

function demandsOf(throttling: readonly CompiledRule[], subject: RoutingSubject): readonly ThrottleDemand[] {
  return throttling.flatMap(({ spec }) =>
    spec.then.throttle ? [throttleDemand(spec.id, spec.then.throttle, subject)] : [],
  );
}

/** The panels that any of the rules names; every panel when none names any. */
function targetOf(rules: readonly CompiledRule[]): Target {
  const named = rules.flatMap(({ spec }) => (spec.then.panels === undefined ? [] : [spec.then.panels]));
  if (named.length === 0 || named.includes('all')) return everyPanel;
  const ids = new Set<string>();
  const tags = new Set<string>();
  for (const panels of named) {
    if (typeof panels === 'string') continue;
    if ('ids' in panels) for (const id of panels.ids) ids.add(id);
    else for (const tag of panels.tags) tags.add(tag);
  }
  return ids.size === 0 && tags.size === 0 ? noPanel : { all: false, ids: [...ids], tags: [...tags] };
}
