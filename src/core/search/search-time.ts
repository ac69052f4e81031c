/** Times in a search: ages, dates, and dates with a time, in a time zone or with an offset. */
import { zoneOffset } from '../time.ts';
import { literalOf, patternText } from './search-glob.ts';
import { searchError, shown, type Value } from './search-lexer.ts';

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
/** The last instant with a year of four digits. */
const lastInstant = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const dayMs = 86_400_000;

/** `now` minus an age such as 90s, 2h or 1d12h; not before 1970. */
export function readAge({ pattern, column, length }: Value, now: number): number {
  const text = patternText(pattern);
  const age = text.toLowerCase();
  if (!/^(\d{1,9}[smhdw])+$/.test(age)) {
    throw searchError(
      `"since" cannot be ${shown(text)}`,
      column,
      `; write an age such as 30s, 15m, 2h, 7d or 1w`,
      { length },
    );
  }
  let ms = 0;
  for (const [, count, unit] of age.matchAll(/(\d+)([smhdw])/g))
    ms += Number(count) * (unitMs[unit as string] as number);
  return clamp(now - ms);
}

const clamp = (instant: number) => Math.min(lastInstant, Math.max(0, instant));

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly ms: number;
}

const dateForm = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](.+))?$/i;
const timeForm = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

/**
 * The instant a value names: 2026-11-01 (its first moment), 2026-11-01T10:00, 2026-11-01T10:00:30.5Z, …+02:00, or 10:00 today.
 * Without an offset it is the wall clock of `timeZone`; a time skipped in spring is moved behind the gap, and of a repeated time
 * in autumn the first is used.
 */
export function readInstant(
  key: string,
  { pattern, column, length }: Value,
  { now, timeZone }: { now: number; timeZone: string },
): number {
  const text = patternText(pattern);
  const [, year, month, day, rest] = dateForm.exec(text) ?? [];
  const [time, hour, minute, second, fraction, offset] =
    timeForm.exec(year === undefined ? text : (rest ?? '00:00')) ?? [];
  if (time === undefined || literalOf(pattern) === undefined) {
    const example =
      'write 2026-11-01, 2026-11-01T10:00, 2026-11-01T10:00Z, 2026-11-01T10:00+02:00 or 10:00 for today';
    throw searchError(`"${key}" cannot be ${shown(text)}`, column, `; ${example}`, { length });
  }
  const shiftMs = offset === undefined ? undefined : offsetMs(offset);
  const today = new Date(now + (shiftMs ?? zoneOffset(now, timeZone)));
  const parts: Parts = {
    year: year === undefined ? today.getUTCFullYear() : Number(year),
    month: month === undefined ? today.getUTCMonth() + 1 : Number(month),
    day: day === undefined ? today.getUTCDate() : Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second ?? 0),
    ms: fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0')),
  };
  const wall = wallTime(parts);
  if (wall === undefined || (shiftMs !== undefined && Math.abs(shiftMs) > dayMs)) {
    throw searchError(`${shown(text)}`, column, ' is no day and time that exists', { length });
  }
  return clamp(shiftMs === undefined ? fromWallTime(wall, timeZone) : wall - shiftMs);
}

/** A wall time as if it were UTC; undefined for 30 February and 25:00. */
function wallTime({ year, month, day, hour, minute, second, ms }: Parts): number | undefined {
  // Date.UTC interprets years below 100 as 19xx.
  const date = new Date(Date.UTC(2000, 0, 1, hour, minute, second, ms));
  date.setUTCFullYear(year, month - 1, day);
  const fits = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return fits && hour < 24 && minute < 60 && second < 60 ? date.getTime() : undefined;
}

function offsetMs(text: string): number {
  if (/^z$/i.test(text)) return 0;
  const digits = text.slice(1).replace(':', '').padEnd(4, '0');
  const ms = Number(digits.slice(0, 2)) * 3_600_000 + Number(digits.slice(2)) * 60_000;
  return text.startsWith('-') ? -ms : ms;
}

function fromWallTime(wall: number, timeZone: string): number {
  const before = zoneOffset(wall - dayMs, timeZone);
  const after = zoneOffset(wall + dayMs, timeZone);
  const fitting = [before, after].filter((offset) => zoneOffset(wall - offset, timeZone) === offset);
  return wall - (fitting.length > 0 ? Math.max(...fitting) : before);
}
