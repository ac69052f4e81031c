/** Local time in any time zone. */

interface WallTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local time at an instant. */
export function wallTimeOf(at: number, timeZone: string): WallTime {
  const read: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(at)) read[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = read;
  return { year, month, day, hour, minute };
}

/**
 * The instant of a local time; days and hours may run over, as in the 32nd. A time that is
 * skipped in spring is an hour later, of one that is repeated in autumn it is one of the two.
 */
function instantOf({ year, month, day, hour, minute }: WallTime, timeZone: string): number {
  const asUtc = Date.UTC(year, month - 1, day, hour, minute);
  const guess = asUtc - offsetMs(asUtc, timeZone);
  return asUtc - offsetMs(guess, timeZone);
}

/** Work begins at this hour. */
const morning = { hour: 8, minute: 0 };

/** The next morning after `now`. */
export function nextMorning(now: number, timeZone: string): number {
  const today = { ...wallTimeOf(now, timeZone), ...morning };
  const at = instantOf(today, timeZone);
  return at > now ? at : instantOf({ ...today, day: today.day + 1 }, timeZone);
}

/** The next Monday morning after `now`. */
export function nextMonday(now: number, timeZone: string): number {
  const today = { ...wallTimeOf(now, timeZone), ...morning };
  const weekday = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay();
  const at = instantOf({ ...today, day: today.day + ((8 - weekday) % 7) }, timeZone);
  return at > now ? at : instantOf({ ...today, day: today.day + 7 }, timeZone);
}

/** Reads 8, 8:30, 08.30 or 0830 as 08:00 or 08:30, and 24:00 as 00:00; undefined for what is no time. Nothing stays nothing. */
export function parseTime(text: string): string | undefined {
  if (text.trim() === '') return '';
  const [, hour = '', minute = '00'] = /^(\d{1,2})(?:[:.]?(\d\d))?$/.exec(text.trim()) ?? [];
  if (hour === '' || Number(hour) > 24 || Number(minute) > (Number(hour) === 24 ? 0 : 59)) return undefined;
  return `${String(Number(hour) % 24).padStart(2, '0')}:${minute}`;
}

/** In the form of a date and time field: 2026-11-21T08:00. */
export function toDateTimeField(at: number, timeZone: string): string {
  const { year, month, day, hour, minute } = wallTimeOf(at, timeZone);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}`;
}

/** undefined when the field does not hold a whole date and time. */
export function fromDateTimeField(text: string, timeZone: string): number | undefined {
  const found = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(text);
  if (!found) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = found.slice(1).map(Number);
  return instantOf({ year, month, day, hour, minute }, timeZone);
}

function offsetMs(at: number, timeZone: string): number {
  const { year, month, day, hour, minute } = wallTimeOf(at, timeZone);
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(at / 60_000) * 60_000;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    const part = '2-digit';
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: part, day: part, hour: part, minute: part },
    });
    formats.set(timeZone, format);
  }
  return format;
}

export const muteEnds = ['hour', 'morning', 'monday', 'never'] as const;
export type MuteEnd = (typeof muteEnds)[number];

/** null: the mute has no end. */
export function muteUntil(end: MuteEnd, now: number, timeZone: string): string | null {
  const at = {
    hour: () => now + 3_600_000,
    morning: () => nextMorning(now, timeZone),
    monday: () => nextMonday(now, timeZone),
    never: () => null,
  }[end]();
  return at === null ? null : new Date(at).toISOString();
}

/** 2026-11-22T08:00 in the order of the locale: 22/11/2026 08:00 for en-GB, 22.11.2026 08:00 for de. */
export function dateTimeText(field: string, locale: string): string {
  const [date = '', time = ''] = field.split('T');
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return field;
  return `${dateFormat(locale).format(Date.parse(date))} ${time.slice(0, 5)}`;
}

/** Reads what {@link dateTimeText} writes, and 2026-11-22 08:00 in every locale; undefined when it is no date and time. */
export function parseDateTime(text: string, locale: string): string | undefined {
  const found = /^(\d{1,4})\D+(\d{1,2})\D+(\d{1,4})\D+(\d{1,2}):(\d\d)$/.exec(text.trim());
  if (!found) return undefined;
  const [first = '', second = '', third = '', hour = '', minute = ''] = found.slice(1);
  const order = dateFormat(locale)
    .formatToParts(0)
    .flatMap(({ type }) => (type === 'year' || type === 'month' || type === 'day' ? [type] : []));
  const typed = [first, second, third];
  const part = (type: 'year' | 'month' | 'day') =>
    typed[(first.length > 2 ? ['year', 'month', 'day'] : order).indexOf(type)] ?? '';
  const year = part('year').length === 2 ? `20${part('year')}` : part('year');
  const two = (digits: string) => digits.padStart(2, '0');
  const field = `${year}-${two(part('month'))}-${two(part('day'))}T${two(hour)}:${minute}`;
  const at = Date.parse(`${field}Z`);
  // A day that does not exist, such as 31 February, moves to another day or is no date.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(field) ? field : undefined;
}

const dateFormat = (locale: string) =>
  new Intl.DateTimeFormat(locale, { timeZone: 'UTC', year: 'numeric', month: '2-digit', day: '2-digit' });
