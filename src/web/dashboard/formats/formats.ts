/** Dates and numbers: in the reader's language, and in the time zone of the tenant. */
import { useTranslation } from 'react-i18next';
import { useTenant } from '../api/tenant.tsx';
import { createFormats, type Formats } from './create-formats.ts';

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
