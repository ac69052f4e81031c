/**
 * Routing: a tenant's rules decide which panels and channels get a notification, and may change its level or ttl, mute, throttle
 * or escalate it. `rules.ts` compiles the rules of one revision to a router; a rule that cannot work is skipped and reported, so
 * that intake goes on. The decision depends on the fields as they were sent, the time and the rules alone: there is no I/O, and
 * equal notifications get equal decisions at the same time. `rule-index.ts` finds the rules whose prefilters the notification
 * contains, and only those are evaluated, in the order of the rules. Regular expressions take linear time, and each tenant has a
 * budget of time for them (`regex.ts`). A throttle is decided after routing: it shows the first notification of a kind in a
 * period and counts the others on it (`throttle.ts`). `explain.ts` shows which rules were tried and why; `replay.ts` routes
 * recorded notifications again with draft rules and counts what would change. The route that was decided is stored with the
 * notification, with the revision of the rules, and never computed again.
 */
import type { PanelsTarget } from '#contract/history/notification.ts';
import { limits } from '#contract/limits.ts';
import type { RuleSpec, RuleThen } from '#contract/routing/rule.ts';
import type { Escalation, Ref, Route, RouteOnCall, SuppressKeys } from '../log/route.ts';
import { everyPanel, isEmpty, namesSize, noPanel, type Target, unite } from '../log/target.ts';
import type { OnCall, OnCallPlan } from '../on-call/on-call.ts';
import type { Condition, RankedLevels } from './conditions.ts';
import { regexBudgetSpent, regexTextTooLong } from './regex.ts';
import type { RuleIndex } from './rule-index.ts';
import { EvaluationContext, type RoutingSubject } from './subject.ts';
import { type CompiledSuppress, suppressKeysOf } from './suppress.ts';
import { type ThrottleDemand, throttleDemand } from './throttle.ts';
import type { Activity } from './windows.ts';

export interface RoutingContext {
  readonly levels: RankedLevels;
  /**
   * If given, a rule that cannot work, or that fails on a notification, is skipped and reported, so that intake goes on.
   * If not given, compiling throws the error of the first such rule. Must not throw.
   */
  readonly onError?: (error: unknown, rule: Ref) => void;
  /** The on-call schedules by id. A rule that names another one adds nobody. */
  readonly onCall?: ReadonlyMap<string, OnCallPlan> | undefined;
}

export interface Decision {
  readonly level: string;
  readonly rank: number;
  /** Milliseconds; 0 stays until cleared. */
  readonly ttl: number;
  /**
   * Equal decisions of one router are the same object, unless alarms suppress each other by it or somebody is on call. A muted notification's target is no
   * panel.
   */
  readonly route: Route;
  /** Pass these to `Throttle.check` before it is shown; empty if no panel shows it. */
  readonly throttle: readonly ThrottleDemand[];
  /** That of the last matching rule that escalates; undefined if none does, or no panel shows it. */
  readonly escalation: Escalation | undefined;
}

export interface CompiledRule {
  readonly ordinal: number;
  readonly spec: RuleSpec;
  readonly ref: Ref;
  readonly activity: Activity;
  readonly conditions: readonly Condition[];
  /** Its `then.suppress`. */
  readonly suppress: CompiledSuppress | undefined;
  /** The weight of its regular expressions; see `maxRegexWeight`. */
  readonly regexWeight: number;
  /** How much it counts for `limits.namesPerNotification`: one for the rule, and one for each panel, tag and channel in its `then`. */
  readonly names: number;
  /** Why it cannot work and is skipped; undefined if it works. */
  readonly broken: string | undefined;
}

type SuppressingRule = CompiledRule & { readonly suppress: CompiledSuppress };
const suppresses = (rule: CompiledRule): rule is SuppressingRule => rule.suppress !== undefined;

type Testable = Pick<CompiledRule, 'activity' | 'conditions'>;

interface Instructing {
  readonly rule: Ref;
  readonly ordinal: number;
  readonly text: string;
}

/** The combined effect of a set of matching rules, independent of the notification. */
interface Effect {
  readonly route: Route;
  readonly level: string | undefined;
  readonly ttl: number | undefined;
  /** The matching rules that throttle. */
  readonly throttling: readonly CompiledRule[];
  readonly escalation: Escalation | undefined;
}

const nothing: readonly ThrottleDemand[] = [];
const nobody: readonly OnCall[] = [];
/** The most bytes of the names in cached effects. */
const maxCachedBytes = 4_000_000;
/** Why a rule is not tried after `limits.namesPerNotification`. */
export const tooManyNames = new Error(
  `the rules before it that match, and what they name, come to ${limits.namesPerNotification}: it is not tried`,
);

interface IndexedRules {
  readonly revision: number;
  readonly rules: readonly CompiledRule[];
  readonly index: RuleIndex;
}

/** The compiled rules of a tenant, which decide where its notifications go. */
export class Router {
  readonly revision: number;
  /** In the order of evaluation. */
  readonly rules: readonly CompiledRule[];
  readonly levels: RankedLevels;
  readonly onCall: ReadonlyMap<string, OnCallPlan>;
  /** The rules with instructions, by id. */
  readonly instructing: ReadonlyMap<string, Instructing>;
  /** The sum of all its rules. */
  readonly regexWeight: number;
  readonly #onError: NonNullable<RoutingContext['onError']>;
  readonly #index: RuleIndex;
  readonly #unmatched: Effect;
  readonly #single: (Effect | undefined)[] = [];
  /** Cache for two or more matching rules, by their ordinals. */
  readonly #several = new Map<string, Effect>();
  /** The rules that suppress; those beyond the limit of a tenant do not. */
  readonly #suppressing: readonly SuppressingRule[];

  #enabledIds: ReadonlySet<string> | undefined;
  #cachedBytes = 0;
  /** Errors that every notification may cause; each is reported once. */
  readonly #reported = new Set<unknown>();

  constructor({ revision, rules, index }: IndexedRules, { levels, onError, onCall }: RoutingContext) {
    this.onCall = onCall ?? new Map();
    this.revision = revision;
    this.rules = rules;
    this.levels = levels;
    this.instructing = new Map(rules.flatMap(instructingOf));
    this.regexWeight = rules.reduce((sum, { regexWeight }) => sum + regexWeight, 0);
    this.#onError = onError ?? (() => {});
    this.#index = index;
    this.#suppressing = rules.filter(suppresses).slice(0, limits.suppressRules);
    this.#unmatched = this.#effectOf([]);
  }

  /** The same rules with other on-call schedules. */
  withOnCall(onCall: ReadonlyMap<string, OnCallPlan>): Router {
    const { revision, rules, levels } = this;
    return new Router({ revision, rules, index: this.#index }, { levels, onError: this.#onError, onCall });
  }

  /** The rules by which alarms suppress others, as in {@link SuppressKey}. */
  get suppressing(): readonly string[] {
    return this.#suppressing.map(({ suppress: { rule } }) => rule);
  }

  hasEnabled(rule: string): boolean {
    this.#enabledIds ??= new Set(this.rules.flatMap(({ ref, spec }) => (spec.enabled ? ref.id : [])));
    return this.#enabledIds.has(rule);
  }

  /** The rank of a level; an unknown level has the rank of info. */
  rankOf(level: string): number {
    return this.levels.get(level)?.rank ?? this.levels.get('info')?.rank ?? 20;
  }

  /** How many rules are tested for such a notification if none ends the evaluation. The cost of routing grows with it. */
  countCandidates(subject: RoutingSubject): number {
    const candidates = this.#index.candidates(new EvaluationContext(subject));
    let count = 0;
    while (candidates.next() !== undefined) count += 1;
    return count;
  }

  /**
   * Decides where a notification goes.
   *
   * Rules are tested in order; one that is disabled or not active at `now` is skipped. Conditions are tested against
   * the notification as it was sent, not as an earlier rule changed it. The first rule whose conditions all hold ends
   * the evaluation, unless it has `continue`: then the panels of all matching rules are united, a later setLevel, setTtl,
   * group or acknowledgeForMs replaces an earlier one, and one `mute` is enough. A matching rule that names no panels adds none; when no
   * matching rule names panels, the target is every panel. "none" counts as naming panels. Channels are united, too; a
   * muted notification goes to no channel. When the matching rules have reached `limits.namesPerNotification`, the rules
   * after them are not tried, and this is reported.
   *
   * Whoever is on call at `now` by a schedule that a matching rule names is added: their panels and channels. This does not count as
   * naming panels. `recorded`: who was on call in fact, by the schedules of an earlier decision.
   *
   * The ttl is that of the last matching rule that sets one, else the sender's, else the duration of the level the
   * notification ends up with.
   *
   * Never throws: a rule that fails is skipped and reported, as is one whose regular expressions would take more than
   * is left of `regexWork`, or find nothing in the part of a long text that they read.
   */
  route(
    subject: RoutingSubject,
    now: number,
    regexWork?: number,
    recorded?: readonly RouteOnCall[],
  ): Decision {
    const context = new EvaluationContext(subject, regexWork);
    const matching = this.#walk(context, now);
    const onCall = this.#onCallOf(matching, now, recorded);
    // These effects depend on the time, so they are not cached.
    const of = onCall.length > 0 ? this.#effectOf(matching, onCall) : this.#effect(matching);
    const { level = subject.level, ttl, throttling, escalation, ...effect } = of;
    const suppress = isEmpty(effect.route.target) ? undefined : this.#suppressKeys(context, matching, now);
    return {
      level,
      rank: level === subject.level ? subject.rank : this.rankOf(level),
      ttl: ttl ?? subject.ttl ?? this.#durationOf(level),
      route: suppress ? { ...effect.route, suppress } : effect.route,
      throttle: throttling.length === 0 ? nothing : demandsOf(throttling, subject),
      escalation,
    };
  }

  #suppressKeys(
    context: EvaluationContext,
    matching: readonly number[],
    now: number,
  ): SuppressKeys | undefined {
    if (this.#suppressing.length === 0) return undefined;
    const asCause = this.#suppressing.filter(({ ordinal }) => matching.includes(ordinal));
    const asSuppressed = this.#suppressing.filter(({ ref, activity, suppress: { conditions } }) =>
      this.#matches({ ref, activity, conditions }, context, now),
    );
    const suppressOf = ({ suppress }: SuppressingRule) => suppress;
    return suppressKeysOf(
      { asCause: asCause.map(suppressOf), asSuppressed: asSuppressed.map(suppressOf) },
      context.subject,
    );
  }

  /** The ordinals of the rules that match. */
  #walk(context: EvaluationContext, now: number): readonly number[] {
    const candidates = this.#index.candidates(context);
    const matching: number[] = [];
    let names = 0;
    for (let ordinal = candidates.next(); ordinal !== undefined; ordinal = candidates.next()) {
      const rule = this.rules[ordinal] as CompiledRule;
      if (names >= limits.namesPerNotification) {
        this.#report(tooManyNames, rule.ref);
        break;
      }
      if (!this.#matches(rule, context, now)) continue;
      matching.push(ordinal);
      names += rule.names;
      if (!rule.spec.continue) break;
    }
    return matching;
  }

  #matches(rule: Testable & Pick<CompiledRule, 'ref'>, context: EvaluationContext, now: number): boolean {
    try {
      return matchesRule(rule, context, now);
    } catch (error) {
      this.#report(error, rule.ref);
      return false;
    }
  }

  #report(error: unknown, rule: Ref): void {
    if (error === regexBudgetSpent || error === regexTextTooLong || error === tooManyNames) {
      if (this.#reported.has(error)) return;
      this.#reported.add(error);
    }
    this.#onError(error, rule);
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
      const bytes = name.length + routeSize(effect.route);
      this.#cachedBytes += bytes;
      // The cache only saves work, so it may be cleared.
      if (this.#cachedBytes > maxCachedBytes) {
        this.#several.clear();
        this.#cachedBytes = bytes;
      }
      this.#several.set(name, effect);
    }
    return effect;
  }

  /** By each schedule that the rules name. */
  #onCallOf(
    matching: readonly number[],
    now: number,
    recorded: readonly RouteOnCall[] = [],
  ): readonly OnCall[] {
    if (this.onCall.size === 0) return nobody;
    const named = matching.flatMap((ordinal) => this.rules[ordinal]?.spec.then.onCall ?? []);
    return [...new Set(named)].flatMap((id) => {
      const plan = this.onCall.get(id);
      const known = recorded.find((each) => each.id === id);
      return plan ? (known ? plan.named(known.people) : plan.at(now)) : [];
    });
  }

  #effectOf(matching: readonly number[], onCall: readonly OnCall[] = nobody): Effect {
    const rules = matching.map((ordinal) => this.rules[ordinal] as CompiledRule);
    const muted = rules.some(({ spec }) => spec.then.mute === true);
    const reached = onCall.flatMap(({ people }) => people);
    const target = muted ? noPanel : unite(targetOf(rules), panelsOf(reached));
    const channels = muted
      ? []
      : [...new Set([...channelsOf(rules), ...reached.flatMap((person) => person.channels ?? [])])];
    const shown = isEmpty(target) ? [] : rules;
    const group = lastOf(shown, 'group');
    const acknowledgeForMs = lastOf(shown, 'acknowledgeForMs');
    return {
      route: {
        revision: this.revision,
        rules: rules.map(({ ref }) => ref),
        muted,
        target,
        ...(channels.length > 0 && { channels }),
        ...(onCall.length > 0 && { onCall: onCall.map(namesOf) }),
        ...(group && { group }),
        ...(acknowledgeForMs !== undefined && { acknowledgeForMs }),
      },
      level: lastOf(rules, 'setLevel'),
      ttl: lastOf(rules, 'setTtl'),
      throttling:
        isEmpty(target) && channels.length === 0
          ? []
          : rules.filter(({ spec }) => spec.then.throttle !== undefined),
      escalation: escalationOf(shown),
    };
  }

  #durationOf(level: string): number {
    return (this.levels.get(level) ?? this.levels.get('info'))?.durationMs ?? 30_000;
  }
}

function routeSize({ rules, target, channels = [], group = [] }: Route): number {
  const refs = rules.flatMap(({ id, name }) => [id, name]);
  return namesSize([...refs, ...target.ids, ...target.tags, ...channels, ...group]);
}

/** As the last rule that says so. */
const lastOf = <Name extends keyof RuleThen>(
  rules: readonly CompiledRule[],
  name: Name,
): RuleThen[Name] | undefined => rules.findLast(({ spec }) => spec.then[name] !== undefined)?.spec.then[name];

function escalationOf(rules: readonly CompiledRule[]): Escalation | undefined {
  const last = rules.findLast(({ spec }) => spec.then.escalate !== undefined);
  return last?.spec.then.escalate && { rule: last.ref, steps: last.spec.then.escalate };
}

/** Whether a rule is active and all its conditions hold. */
export function matchesRule(
  { activity, conditions }: Testable,
  context: EvaluationContext,
  now: number,
): boolean {
  if (!activity.isActive(now)) return false;
  for (const condition of conditions) if (!condition.holds(context)) return false;
  return true;
}

function demandsOf(throttling: readonly CompiledRule[], subject: RoutingSubject): readonly ThrottleDemand[] {
  return throttling.flatMap(({ spec }) =>
    spec.then.throttle ? [throttleDemand(spec.id, spec.then.throttle, subject)] : [],
  );
}

/** The channels that any of the rules names. */
function channelsOf(rules: readonly CompiledRule[]): readonly string[] {
  return [...new Set(rules.flatMap(({ spec }) => spec.then.channels ?? []))];
}

/** The panels by which these people are reached. */
const panelsOf = (people: OnCall['people']): Target =>
  people.reduce((target, { panels }) => (panels ? unite(target, targetNamed([panels])) : target), noPanel);

const namesOf = ({ schedule, people }: OnCall): RouteOnCall => ({
  ...schedule,
  people: people.map(({ name }) => name),
});

/** The panels that any of the rules names; every panel when none names any. */
function targetOf(rules: readonly CompiledRule[]): Target {
  return targetNamed(rules.flatMap(({ spec }) => (spec.then.panels === undefined ? [] : [spec.then.panels])));
}

/** The panels that are named; every panel when none is. */
export function targetNamed(named: readonly PanelsTarget[]): Target {
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

function instructingOf({ ref, ordinal, spec }: CompiledRule): [id: string, Instructing][] {
  const { instructions: text } = spec.then;
  return text === undefined ? [] : [[ref.id, { rule: ref, ordinal, text }]];
}
