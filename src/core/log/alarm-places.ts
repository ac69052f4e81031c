/** The list of alarms: what is asked for, and the places that a page has. */
import type { StandingState } from '#contract/history/alarm-states.ts';

/** A standing alarm in the order of a list. */
export interface AlarmPlace {
  /** Of the notification that stands. */
  readonly position: number;
  readonly id: string;
  readonly rank: number;
  readonly since: number;
  readonly state: StandingState;
}

/** Which alarms of a list are wanted. */
export interface AlarmsWanted {
  readonly now: number;
  /** Only alarms whose standing notification is at one of these positions. Default: all. */
  readonly among?: readonly number[];
  readonly states: readonly StandingState[];
  /** The place after which the page begins. */
  readonly after?: AlarmCursor;
  readonly limit: number;
}

export type AlarmCursor = Pick<AlarmPlace, 'rank' | 'since' | 'position'>;

export interface AlarmPlaces {
  readonly places: readonly AlarmPlace[];
  /** How many of all alarms, or of those `among`, are in each state. */
  readonly counts: Readonly<Record<StandingState, number>>;
}
