/** The dashboard's texts: of one language, and of the pages that are open; the rest is loaded when it is wanted. */
import i18next, { type ResourceLanguage } from 'i18next';
import { initReactI18next } from 'react-i18next';
import type { en } from './texts/en.ts';

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;
/** The texts of a page, or of something that several have. */
export type TextsName = keyof typeof en;

const storageKey = 'belfry.language';
/** What every page has. */
const always: readonly TextsName[] = ['shell'];
const files = import.meta.glob<Readonly<Record<string, ResourceLanguage>>>('./texts/*/*.ts');
const inUse = new Set<TextsName>();

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'shell';
    resources: typeof en;
    keySeparator: false;
    nsSeparator: false;
  }
}

const isLanguage = (value: string | null | undefined): value is Language =>
  value !== null && value !== undefined && Object.hasOwn(languages, value);

/** As chosen on this machine, else the first of the browser's languages that is there. */
function wanted(): Language {
  try {
    const stored = localStorage.getItem(storageKey);
    if (isLanguage(stored)) return stored;
  } catch {
    // Storage may be closed to us: the browser's languages it is.
  }
  return navigator.languages.map((tag) => tag.toLowerCase().split('-')[0]).find(isLanguage) ?? 'en';
}

async function load(language: string, names: Iterable<TextsName>): Promise<void> {
  await Promise.all(
    [...names].map(async (name) => {
      if (i18next.hasResourceBundle(language, name)) return;
      const file = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      const module = await files[`./texts/${language}/${file}.ts`]?.();
      if (module?.[name]) i18next.addResourceBundle(language, name, module[name]);
    }),
  );
}

/** Resolves once these texts are there in the person's language: for what is about to be drawn. */
export async function needTexts(...names: readonly TextsName[]): Promise<void> {
  for (const name of names) inUse.add(name);
  // What cannot be had in the language is told in English rather than not at all.
  await load(i18next.language, names).catch(() => load('en', names));
}

/** Resolves once the frame of the pages can be drawn. */
export async function startLanguage(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: wanted(),
    fallbackLng: 'en',
    resources: {},
    defaultNS: 'shell',
    keySeparator: false,
    nsSeparator: false,
    // React sets texts as text, never as markup.
    interpolation: { escapeValue: false },
    saveMissing: true,
    missingKeyHandler: (_languages, name, key) => console.error(`no text "${key}" of ${name}: is it loaded?`),
  });
  await needTexts(...always);
  document.documentElement.lang = i18next.language;
  addEventListener('storage', ({ key, newValue }) => {
    if (key === storageKey && isLanguage(newValue)) void showIn(newValue);
  });
}

/** Holds in every window of this browser, and from then on. */
export async function chooseLanguage(language: Language): Promise<void> {
  try {
    localStorage.setItem(storageKey, language);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
  await showIn(language);
}

async function showIn(language: Language): Promise<void> {
  await load(language, inUse);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}
