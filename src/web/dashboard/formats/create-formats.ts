/** Dates and numbers of one language and time zone, without React. */
import { durationParts } from '#contract/duration.ts';

type Instant = string | number | Date;

export interface Formats {
  /** 21:41:07.214 */
  clock(at: Instant): string;
  /** 21:41 */
  shortClock(at: Instant): string;
  /** 21 Nov 2026, 21:41 */
  dateTime(at: Instant): string;
  /** 21 Nov, 21:41:07.214; what a list of several days shows. */
  dayClock(at: Instant): string;
  /** 21 Nov 21:41; with numbers (21.11. 21:41) in languages whose month names are long. */
  dayTime(at: Instant): string;
  date(at: Instant): string;
  /** "3 min ago", "in 2 days". */
  relative(at: Instant, now?: number): string;
  number(value: number): string;
  /** "340 ms", "30 s", "2 min", "1 h 30 min": as the texts of server and command line have it, in the reader's numbers. */
  duration(ms: number): string;
}

const steps = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

const units = { hour: 'h', minute: 'min', second: 's' } as const;

export function createFormats(locale: string, timeZone: string): Formats {
  const make = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { timeZone, hourCycle: 'h23', ...options });
    return (at: Instant) => format.format(typeof at === 'string' ? new Date(at) : at);
  };
  const time = { hour: '2-digit', minute: '2-digit' } as const;
  const exact = { ...time, second: '2-digit', fractionalSecondDigits: 3 } as const;
  const shortClock = make(time);
  const dayInWords = make({ day: '2-digit', month: 'short' });
  const dayInNumbers = make({ day: '2-digit', month: '2-digit' });
  const day = (at: Instant) => (dayInWords(at).length <= 6 ? dayInWords(at) : dayInNumbers(at));
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  const number = new Intl.NumberFormat(locale);
  return {
    clock: make(exact),
    shortClock,
    dateTime: make({ day: 'numeric', month: 'short', year: 'numeric', ...time }),
    dayClock: make({ day: '2-digit', month: 'short', ...exact }),
    dayTime: (at) => `${day(at)} ${shortClock(at)}`,
    date: make({ day: 'numeric', month: 'short', year: 'numeric' }),
    relative(at, now = Date.now()) {
      const distance = new Date(at).getTime() - now;
      const [name, ms] = steps.find(([, length]) => Math.abs(distance) >= length) ?? steps[3];
      const text = relative.format(Math.trunc(distance / ms), name);
      // Units as in `duration`: "9 h ago", "vor 9 h".
      return name === 'day' ? text : text.replace(/(?<=\d)\s*\p{L}+\.?/u, `\u00a0${units[name]}`);
    },
    number: (value) => number.format(value),
    duration: (ms) =>
      durationParts(ms)
        .map(({ amount, unit }) => `${number.format(amount)}\u00a0${unit}`)
        .join(' '),
  };
}
