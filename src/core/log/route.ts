/** The routing decision about a notification, and the names that others use for what it is about. */
import type { GroupField } from '#contract/history/similar.ts';
import type { EscalationStep } from '#contract/routing/rule.ts';
import type { Target } from './target.ts';

/** A tenant's number inside this installation. No client sees it: the server reads it from the caller's credential. */
export type TenantId = number;

export interface Ref {
  readonly id: string;
  readonly name: string;
}

/** The routing decision, stored with the notification. `revision` is the revision of the rule set that made it. */
export interface Route {
  readonly revision: number;
  readonly rules: readonly Ref[];
  readonly muted: boolean;
  readonly target: Target;
  /** The channels that rules named, by id; absent when there are none. */
  readonly channels?: readonly string[];
  /** Who was on call by the schedules that rules named, by name; absent when none named one. */
  readonly onCall?: readonly RouteOnCall[];
  /** Set when its alarm was shelved then: it was not shown on the panels of `target`. */
  readonly shelved?: true;
  /** Set when it was suppressed then, and so not shown: by a notification of the alarm that was its cause, with this key. */
  readonly suppressed?: { readonly by: string; readonly key: string };
  /** Absent: it suppresses no alarm, and none suppresses it. */
  readonly suppress?: SuppressKeys;
  /** By what panels group it, as the last rule that says so; absent: by its title. */
  readonly group?: readonly GroupField[];
  /** How long an acknowledgement lasts, as the last rule that says so; 0: without end; absent: as its level says. */
  readonly acknowledgeForMs?: number;
  /** Set when Belfry sent it in the place of its token: the id of that own sender. */
  readonly origin?: string;
  /** Of an escalation: the notification that it sends again. */
  readonly escalates?: string;
  /** Of a repeat of what was escalated: the escalation whose level and panels it keeps. */
  readonly repeats?: string;
  /** Of an escalation, and of repeats of one. */
  readonly escalated?: Escalated;
}

/** An on-call schedule, and the names of those who were on call. */
export interface RouteOnCall extends Ref {
  readonly people: readonly string[];
}

export interface Escalated {
  /** How often the alarm was escalated: 1 after the first step. */
  readonly times: number;
  /** When the first notification of the alarm was received. */
  readonly since: number;
  /** Set when the step was sent because no panel had shown the alarm. */
  readonly unless?: 'shown';
  /** Ids of the rules that matched what was escalated: they may have instructions. Absent in older entries. */
  readonly rules?: readonly string[];
}

/**
 * The part of a notification in suppressing alarms, as the rules decided it. A cause and what it suppresses have a key in common,
 * which stands for a rule and the values that both have in the fields it names.
 */
export interface SuppressKeys {
  /** What it suppresses. */
  readonly causes: readonly SuppressKey[];
  /** By what it is suppressed while such an alarm stands. */
  readonly follows: readonly string[];
}

export interface SuppressKey {
  readonly key: string;
  /** The rule as it was then: another one when its `then.suppress` is changed. */
  readonly rule: string;
}

/** A rule by which alarms suppress others, and the newest revision of the rule set with which one came. */
export interface SuppressingRule {
  readonly tenant: TenantId;
  readonly rule: string;
  readonly revision: number;
}

/** The steps that follow when nobody acknowledges an alarm, and the rule that asks for them. */
export interface Escalation {
  readonly rule: Ref;
  readonly steps: readonly EscalationStep[];
}

/** Whether what has this route was on no panel of its target when it came. */
export const isOffPanels = ({ shelved, suppressed }: Pick<Route, 'shelved' | 'suppressed'>): boolean =>
  shelved === true || suppressed !== undefined;
