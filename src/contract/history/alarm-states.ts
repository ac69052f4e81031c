/** The states of alarms, without the schemas of `alarm.ts`: pages need only these. */

/**
 * `open`: nobody takes care of it. `shelved`: off the panels until a time. `suppressed`: off them while its cause stands. `ended`:
 * cleared, resolved or expired.
 */
export const alarmStates = ['open', 'acknowledged', 'shelved', 'suppressed', 'ended'] as const;
/** The states of alarms that have not ended: each is in one of these. */
export const standingStates = ['open', 'acknowledged', 'shelved', 'suppressed'] as const;
export type StandingState = (typeof standingStates)[number];

/** The tabs of the page Alarms: a state each, and `active`, which has what is open and then what is acknowledged. */
export const alarmsTabs = ['open', 'active', 'acknowledged', 'shelved', 'suppressed'] as const;
export type AlarmsTab = (typeof alarmsTabs)[number];
