/** The states of alarms, without the schemas of `alarm.ts`: pages need only these. */

/**
 * `open`: nobody takes care of it. `shelved`: off the panels until a time. `suppressed`: off them while its cause stands. `ended`:
 * cleared, resolved or expired.
 */
export const alarmStates = ['open', 'acknowledged', 'shelved', 'suppressed', 'ended'] as const;
/** The states of alarms that have not ended: each is in one of these. */
export const standingStates = ['open', 'acknowledged', 'shelved', 'suppressed'] as const;
export type StandingState = (typeof standingStates)[number];
