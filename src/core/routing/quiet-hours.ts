/** The hours in which a phone does not ring. */
import type { DisplaySettings } from '#contract/panels/panel.ts';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import { weekdays } from '#contract/time.ts';
import { createLruMap } from '../limits/lru-map.ts';
import { type Activity, compileActivity } from './windows.ts';

export interface QuietHours {
  isQuiet(now: number): boolean;
  /** From this rank on, alarms ring in quiet hours too. */
  readonly ringsFrom: number;
}

/** Many phones have the same hours. */
const compiled = createLruMap<string, Activity>(200);

/** Undefined: it always rings. `timeZone`: that of the tenant. */
export function quietHoursOf(
  display: Pick<DisplaySettings, 'quietFrom' | 'quietUntil' | 'quietDays' | 'criticalRings' | 'timeZone'>,
  timeZone: string,
): QuietHours | undefined {
  const { quietFrom: from, quietUntil: until, quietDays: days = weekdays, criticalRings = true } = display;
  if (from === undefined || until === undefined) return undefined;
  const times = {
    ...{ activeFrom: null, activeUntil: null, timeZone: display.timeZone ?? timeZone },
    windows: [{ days: [...days], from, until }],
  };
  const name = JSON.stringify(times);
  const activity = compiled.get(name) ?? compileActivity(times);
  compiled.set(name, activity);
  return {
    isQuiet: (now) => activity.isActive(now),
    ringsFrom: criticalRings ? builtInStyles.critical.rank : Number.POSITIVE_INFINITY,
  };
}
