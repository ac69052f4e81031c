/** When a rule is active: between two instants, and within weekly windows in the wall time of a time zone. */
import { type RuleSpec, type RuleWindow, weekdays } from '#contract/routing/rule.ts';
import { badField } from '../errors.ts';
import { checkTimeZone, zoneOffset } from '../time/time.ts';

export interface Activity {
  /** Whether the rule is active at `now` (Unix milliseconds). */
  isActive(now: number): boolean;
  /** Why it is not active at `now`, as a sentence. */
  reason(now: number): string;
}

type Times = Pick<RuleSpec, 'activeFrom' | 'activeUntil' | 'windows' | 'timeZone'>;

const minuteMs = 60_000;
const minutesPerDay = 1440;

/**
 * Active from `activeFrom` up to but not including `activeUntil`, and in any of the windows (none: always).
 *
 * Windows follow the wall clock of the time zone: a window that contains the hour skipped in spring is shorter on that day, and
 * one that contains the hour repeated in autumn includes it twice. Where `until` is at or before `from` the window starts on its
 * day and ends on the next.
 *
 * @throws AppError `bad-request` for an unknown time zone, an invalid time, or an end that is not after its start.
 */
export function compileActivity(times: Times): Activity {
  const from = instant(times.activeFrom, 'activeFrom') ?? Number.NEGATIVE_INFINITY;
  const until = instant(times.activeUntil, 'activeUntil') ?? Number.POSITIVE_INFINITY;
  if (from >= until) throw badField('activeUntil', 'must be after activeFrom');
  const clock = wallClock(times.timeZone, 'timeZone');
  const minutes = times.windows.length === 0 ? undefined : minutesOfWeek(times.windows, 'windows');
  const inWindow = (now: number) => minutes === undefined || minutes[clock(now)] === 1;
  return {
    isActive: (now) => from <= now && now < until && inWindow(now),
    reason: (now) => {
      if (now < from) return `not active before ${times.activeFrom}`;
      if (now >= until) return `not active since ${times.activeUntil}`;
      return `outside its windows: ${times.windows.map(windowText).join(', ')} ${times.timeZone}`;
    },
  };
}

function instant(text: string | null, path: string): number | undefined {
  if (text === null) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw badField(path, `"${text}" is no time; write 2026-11-01T18:00:00Z`);
  return at;
}

/** One mark for each minute of the week, Monday 00:00 first. */
function minutesOfWeek(windows: readonly RuleWindow[], path: string): Uint8Array {
  const marks = new Uint8Array(7 * minutesPerDay);
  for (const [i, window] of windows.entries()) {
    const from = minuteOfDay(window.from, `${path}[${i}].from`);
    const until = minuteOfDay(window.until, `${path}[${i}].until`);
    const length = until > from ? until - from : until - from + minutesPerDay;
    for (const day of window.days) {
      const start = weekdays.indexOf(day) * minutesPerDay + from;
      for (let minute = start; minute < start + length; minute++) marks[minute % marks.length] = 1;
    }
  }
  return marks;
}

function minuteOfDay(text: string, path: string): number {
  if (!/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(text))
    throw badField(path, `"${text}" is no time of day; write 08:00`);
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
}

/** Days in a row as a span: "mon–fri 08:00–18:00". */
function windowText({ days, from, until }: RuleWindow): string {
  const sorted = weekdays.filter((day) => days.includes(day));
  const first = weekdays.indexOf(sorted[0] ?? 'mon');
  const inARow = sorted.length > 2 && sorted.every((day, i) => weekdays.indexOf(day) === first + i);
  return `${inARow ? `${sorted[0]}–${sorted.at(-1)}` : sorted.join(' ')} ${from}–${until}`;
}

type WallClock = (now: number) => number;
const clocks = new Map<string, WallClock>();

/**
 * The minute of the week in a time zone. `Intl` takes microseconds, so the result is cached for a minute: no zone in use changes
 * its offset within one.
 */
function wallClock(timeZone: string, path: string): WallClock {
  const known = clocks.get(timeZone);
  if (known) return known;
  checkTimeZone(timeZone, path);
  let minute = Number.NaN;
  let minuteOfWeek = 0;
  const clock = (now: number) => {
    const current = Math.floor(now / minuteMs);
    if (current !== minute) {
      minuteOfWeek = readMinuteOfWeek(now, timeZone);
      minute = current;
    }
    return minuteOfWeek;
  };
  // There are about 600 zones, but any mix of upper and lower case names one.
  if (clocks.size < 1000) clocks.set(timeZone, clock);
  return clock;
}

function readMinuteOfWeek(now: number, timeZone: string): number {
  const wall = new Date(now + zoneOffset(now, timeZone));
  const mondayFirst = (wall.getUTCDay() + 6) % 7;
  return mondayFirst * minutesPerDay + wall.getUTCHours() * 60 + wall.getUTCMinutes();
}
