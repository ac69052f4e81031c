/** Dates and numbers of one language and time zone, without React. */
import i18next from 'i18next';
import { durationParts } from '#contract/time.ts';

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

/** A duration as a form field: an amount and a unit. */

export const durationUnits = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export type DurationUnit = keyof typeof durationUnits;
export const unitNames = Object.keys(durationUnits) as DurationUnit[];

export interface Duration {
  readonly amount: number | string;
  readonly unit: DurationUnit;
}

/** Uses the largest unit that gives a whole number. The amount is empty unless `ms` is above 0. */
export function durationOf(ms: number): Duration {
  if (!(ms > 0)) return { amount: '', unit: 's' };
  const unit = unitNames.findLast((name) => ms % durationUnits[name] === 0) ?? 's';
  return { amount: ms / durationUnits[unit], unit };
}

/** Milliseconds; NaN when the amount is missing or not above 0. */
export function msOf({ amount, unit }: Duration): number {
  const ms = Math.round(Number(amount) * durationUnits[unit]);
  return amount !== '' && ms > 0 ? ms : Number.NaN;
}

/** The API names who changed something: "key deploy", "token ci", or a person. These are the words of the reader's language. */

const kinds = ['key', 'token'] as const;
/** Without a name of its own: Belfry itself, and its command line. */
const own = ['cli', 'live-limit', 'retention'] as const;

export function actorText(actor: string): string {
  const itself = own.find((each) => each === actor);
  if (itself) return i18next.t(`actor.${itself}`);
  const kind = kinds.find((each) => actor.startsWith(`${each} `));
  return kind === undefined ? actor : i18next.t(`actor.${kind}`, { name: actor.slice(kind.length + 1) });
}

/** The API's name for what {@link actorText} shows. */
export function actorFrom(text: string): string {
  const itself = own.find((each) => text === i18next.t(`actor.${each}`));
  if (itself) return itself;
  for (const kind of kinds) {
    const start = i18next.t(`actor.${kind}`, { name: '' });
    if (text.startsWith(start)) return `${kind} ${text.slice(start.length)}`;
  }
  return text;
}

/** The beginning of a long text; it ends with an ellipsis, and never with half a character, which the server refuses. */
export const clip = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…`;

const germanLetters: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };

/** A short name from a title: "Plant 2, Hall B" gives plant-2-hall-b, and "Klinikum Süd" klinikum-sued. */
export function shortNameOf(title: string): string {
  return title
    .toLowerCase()
    .normalize('NFC')
    .replace(/[äöüß]/g, (letter) => germanLetters[letter] as string)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');
}
