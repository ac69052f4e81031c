/** Times as the API has them, and time zones. */
import { badField } from '../errors.ts';

/** ISO 8601, in UTC. */
export const iso = (at: number): string => new Date(at).toISOString();
export const isoOrNull = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : iso(at);

/** @throws AppError `bad-request` when `timeZone` is not a known IANA name. */
export function checkTimeZone(timeZone: string, field: string): void {
  try {
    // Intl accepts plain offsets too, but they have no daylight saving time.
    if (!/^[A-Za-z]/.test(timeZone)) throw new RangeError();
    new Intl.DateTimeFormat('en', { timeZone });
  } catch {
    throw badField(field, `"${timeZone}" is no time zone; write an IANA name, as in Europe/Berlin or UTC`);
  }
}

/**
 * The time at which the wall clock of a time zone shows `wall`, given as if it were in UTC. A time that the clock skips in spring is as
 * much later; of one that comes twice in autumn it is the first.
 */
export function zonedTime(wall: number, timeZone: string): number {
  const before = zoneOffset(wall - dayMs, timeZone);
  const first = wall - before;
  if (zoneOffset(first, timeZone) === before) return first;
  const after = zoneOffset(wall + dayMs, timeZone);
  return zoneOffset(wall - after, timeZone) === after ? wall - after : first;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const dayMs = 86_400_000;
/** Offsets at the beginning of days (UTC), by zone and number of the day: asking Intl is slow. */
const dayOffsets = new Map<string, Map<number, number>>();
const mostDaysOfZone = 100;

/** The time on the wall clock of a time zone, as in "2026-11-30 18:00". */
export const wallText = (at: number, timeZone: string): string =>
  new Date(at + zoneOffset(at, timeZone)).toISOString().slice(0, 16).replace('T', ' ');

/** How many milliseconds the wall clock of a time zone is ahead of UTC. */
export function zoneOffset(instant: number, timeZone: string): number {
  const day = Math.floor(instant / dayMs);
  const atStart = offsetOfDay(day, timeZone);
  // No zone changes its clock there and back within a day.
  return atStart === offsetOfDay(day + 1, timeZone) ? atStart : computeOffset(instant, timeZone);
}

function offsetOfDay(day: number, timeZone: string): number {
  const known = dayOffsets.get(timeZone) ?? new Map<number, number>();
  const before = known.get(day);
  if (before !== undefined) return before;
  const offset = computeOffset(day * dayMs, timeZone);
  if (known.size >= mostDaysOfZone) known.clear();
  known.set(day, offset);
  // Only as many as there are formats.
  if (formats.has(timeZone)) dayOffsets.set(timeZone, known);
  return offset;
}

function computeOffset(instant: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (!format) {
    const shape = {
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', era: 'short', ...shape });
    // There are about 600 zones, but any mix of upper and lower case names one.
    if (formats.size < 1000) formats.set(timeZone, format);
  }
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of format.formatToParts(instant)) parts[type] = value;
  const year = parts.era === 'BC' ? 1 - Number(parts.year) : Number(parts.year);
  const wall = new Date(Date.UTC(2000, 0, 1, Number(parts.hour), Number(parts.minute), Number(parts.second)));
  wall.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day));
  return wall.getTime() - Math.floor(instant / 1000) * 1000;
}
