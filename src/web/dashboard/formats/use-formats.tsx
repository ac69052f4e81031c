/** Dates and numbers: in the reader's language, and in the time zone of the tenant. */
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useTenant } from '../api/tenant.tsx';
import { createFormats, type Formats } from './formats.ts';

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

/** The time zone in parentheses, unless it is the browser's: " (Europe/Berlin)". */
export function zoneRemark(timeZone: string): string {
  const resolved = (zone?: string) =>
    Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  return resolved(timeZone) === resolved() ? '' : ` (${timeZone.replaceAll('_', ' ')})`;
}

/** Times in a time zone that is named unless it is the browser's: "7 Dec 09:00 (Europe/Berlin)". */
export function useZonedTime(): (at: string, timeZone: string) => string {
  const { i18n } = useTranslation();
  return (at, timeZone) => formatsFor(localeOf(i18n.language), timeZone).dayTime(at) + zoneRemark(timeZone);
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

/** The time, kept up to date. */
export function useNow(everyMs = 10_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** How long ago, kept up to date; the exact time as a tooltip. `never` is shown if there is no time. */
export function Ago({ at, never = '' }: { at: string | null; never?: string }) {
  const formats = useFormats();
  const now = useNow();
  if (at === null) return <span className="muted">{never}</span>;
  return (
    <time dateTime={at} title={formats.dateTime(at)}>
      {formats.relative(at, Math.max(now, Date.parse(at)))}
    </time>
  );
}

/** In how long a channel is tried again. */
export function NextAttempt({ retryAt }: { retryAt: string | null }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const leftMs = Date.parse(retryAt ?? '') - useNow(1_000);
  // The refreshed list may say later that it was tried.
  const isNow = !(leftMs >= 1_000);
  return isNow ? t('retryNow') : t('retryIn', { time: formats.duration(Math.ceil(leftMs / 1_000) * 1_000) });
}
