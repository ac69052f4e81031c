import type { RuleSpec } from '#contract/rule.ts';
import type { Ref, Route } from '../ports.ts';
import type { Condition, RankedLevels } from './conditions.ts';
import type { RoutingSubject } from './subject.ts';
import type { ThrottleDemand } from './throttle.ts';
import type { Activity } from './windows.ts';

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
