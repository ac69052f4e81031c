/** The ends of a mute that are one click away, by the tenant's clock. */
import { nextClock, nextMonday } from './wall-clock.ts';

export const muteEnds = ['hour', 'morning', 'monday', 'never'] as const;
export type MuteEnd = (typeof muteEnds)[number];

/** When work begins: nights and weekends are muted until then. */
const morningHour = 8;

/** null: the mute has no end. */
export function muteUntil(end: MuteEnd, now: number, timeZone: string): string | null {
  const at = {
    hour: () => now + 3_600_000,
    morning: () => nextClock(now, timeZone, morningHour),
    monday: () => nextMonday(now, timeZone, morningHour),
    never: () => null,
  }[end]();
  return at === null ? null : new Date(at).toISOString();
}
