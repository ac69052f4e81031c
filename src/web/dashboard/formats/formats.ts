/** Dates and numbers: in the reader's language, and in the time zone of the tenant. */
import { useTranslation } from 'react-i18next';
import { useTenant } from '../api/tenant.tsx';

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
  /** "3 minutes ago", "in 2 days". */
  relative(at: Instant, now?: number): string;
  number(value: number): string;
  /** "30 s", "2 min", "1 h 30 min". */
  duration(ms: number): string;
}

/** The symbols of units are the same in all languages. */
const steps = [
  ['day', 86_400_000, 'd'],
  ['hour', 3_600_000, 'h'],
  ['minute', 60_000, 'min'],
  ['second', 1_000, 's'],
] as const;

function createFormats(locale: string, timeZone: string): Formats {
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
  const unit = (value: number, symbol: string) => `${number.format(value)}\u00a0${symbol}`;
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
      return relative.format(Math.trunc(distance / ms), name);
    },
    number: (value) => number.format(value),
    duration(ms) {
      if (ms < 1_000) return unit(ms, 'ms');
      const parts: string[] = [];
      let rest = ms;
      for (const [, length, symbol] of steps) {
        const count = Math.floor(rest / length);
        if (count > 0 && parts.length < 2) parts.push(unit(count, symbol));
        rest -= count * length;
      }
      return parts.join(' ');
    },
  };
}

/** Cached by language and time zone, because creating Intl formats is slow and lists use them hundreds of times. */
const formatsCache = new Map<string, Formats>();

function formatsFor(locale: string, timeZone: string): Formats {
  const key = `${locale} ${timeZone}`;
  const formats = formatsCache.get(key) ?? createFormats(locale, timeZone);
  formatsCache.set(key, formats);
  return formats;
}

export function useFormats(): Formats {
  const { i18n } = useTranslation();
  return formatsFor(localeOf(i18n.language), useTenant().timeZone);
}

/** For pages outside of a tenant: formats in the browser's time zone. */
export function useBrowserFormats(): Formats {
  const { i18n } = useTranslation();
  return formatsFor(localeOf(i18n.language), Intl.DateTimeFormat().resolvedOptions().timeZone);
}

/** The thousands and decimal separators: 1,234.5 or 1.234,5. */
export function separatorsOf(locale: string): { thousandSeparator: string; decimalSeparator: string } {
  const parts = new Intl.NumberFormat(locale).formatToParts(1_234_567.5);
  const separator = (type: 'group' | 'decimal') => parts.find((part) => part.type === type)?.value;
  return { thousandSeparator: separator('group') ?? '', decimalSeparator: separator('decimal') ?? '.' };
}

/** The browser's variant of the chosen language (de-CH for de), or the language itself. */
export function localeOf(language: string): string {
  return navigator.languages.find((tag) => tag.toLowerCase().startsWith(language)) ?? language;
}
