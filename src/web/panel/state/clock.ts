/** Times and dates in the screen's locale and time zone. */

export interface Clock {
  readonly timeZone: string;
  /** As in 21:47. */
  time(at: number): string;
  /** As in Fri 20 Nov. */
  date(at: number): string;
  /** The time, with the date unless that is the one of `now`. */
  moment(at: number, now: number): string;
  /** Minutes since midnight. */
  minuteOfDay(at: number): number;
}

/** Falls back to UTC, or to the browser's locale, if the browser does not know the given one. */
export function createClock(locale: string | undefined, timeZone: string): Clock {
  const zone = isKnown(() => new Intl.DateTimeFormat('en', { timeZone })) ? timeZone : 'UTC';
  const tag = isKnown(() => new Intl.DateTimeFormat(locale)) ? locale : undefined;
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(tag, { timeZone: zone, ...options });
  const time = format({ hour: '2-digit', minute: '2-digit' });
  const date = format({ weekday: 'short', day: 'numeric', month: 'short' });
  const minutes = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' });
  return {
    timeZone: zone,
    time: (at) => time.format(at),
    date: (at) => date.format(at),
    moment: (at, now) =>
      date.format(at) === date.format(now) ? time.format(at) : `${date.format(at)}, ${time.format(at)}`,
    minuteOfDay(at) {
      const [hour, minute] = minutes.format(at).split(':').map(Number);
      return ((hour ?? 0) % 24) * 60 + (minute ?? 0);
    },
  };
}

function isKnown(make: () => unknown): boolean {
  try {
    make();
    return true;
  } catch {
    return false;
  }
}

/** A part of each day, as in 22:00 to 06:00; it may cross midnight. */
export interface DailyWindow {
  readonly from: string;
  readonly until: string;
}

/** Whether a minute of the day is in the window. A window that ends where it begins is the whole day. */
export function isWithin({ from, until }: DailyWindow, minute: number): boolean {
  const [start, end] = [minutesOf(from), minutesOf(until)];
  return start < end ? minute >= start && minute < end : minute >= start || minute < end;
}

function minutesOf(text: string): number {
  const [hour, minute] = text.split(':').map(Number);
  return (hour ?? 0) * 60 + (minute ?? 0);
}
