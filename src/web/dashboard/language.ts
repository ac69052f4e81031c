/** The dashboard's texts: those of one language and of the open pages; the others are loaded when they are needed. */
import i18next, { type ResourceLanguage } from 'i18next';
import { initReactI18next } from 'react-i18next';
import { createStoredChoice } from './store.ts';
import type * as en from './texts/en.ts';

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;
/** The texts of a page, or of a part of several pages. */
export type TextsName = keyof typeof en;

/** Needed by every page. */
const always: readonly TextsName[] = ['shell'];
const files = import.meta.glob<Readonly<Record<string, ResourceLanguage>>>('./texts/*/*.ts');
/** Texts without a file of their own name: the file that has them beside others which the same people read. */
const sharedFiles: Partial<Record<TextsName, string>> = {
  entry: 'account',
  channels: 'settings',
  expectations: 'settings',
  levels: 'settings',
  members: 'settings',
  tenant: 'settings',
  integrations: 'sending',
  tokens: 'sending',
  welcome: 'sending',
};
const inUse = new Set<TextsName>();

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'shell';
    fallbackNS: 'shell';
    resources: typeof en;
    keySeparator: false;
    nsSeparator: false;
  }
}

const isLanguage = (value: string | undefined): value is Language =>
  value !== undefined && Object.hasOwn(languages, value);

/** The choice on this machine, else the first of the browser's languages that exists. */
const language = createStoredChoice('belfry.language', (stored): Language => {
  const ofBrowser = navigator.languages.map((tag) => tag.toLowerCase().split('-')[0]);
  return [stored, ...ofBrowser].find(isLanguage) ?? 'en';
});

async function load(language: string, names: Iterable<TextsName>): Promise<void> {
  await Promise.all(
    [...names].map(async (name) => {
      if (i18next.hasResourceBundle(language, name)) return;
      const ownFile = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      const fileNamed = (file: string | undefined) => files[`./texts/${language}/${file}.ts`];
      const module = await (fileNamed(ownFile) ?? fileNamed(sharedFiles[name]))?.();
      if (module?.[name]) i18next.addResourceBundle(language, name, module[name]);
    }),
  );
}

/** Resolves when these texts are loaded in the person's language. */
export async function needTexts(...names: readonly TextsName[]): Promise<void> {
  for (const name of names) inUse.add(name);
  // Texts that cannot be loaded are shown in English.
  await load(i18next.language, names).catch(() => load('en', names));
}

/** Resolves when the layout can be drawn. */
export async function startLanguage(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: language.get(),
    fallbackLng: 'en',
    resources: {},
    defaultNS: 'shell',
    // Texts that several pages share.
    fallbackNS: 'shell',
    keySeparator: false,
    nsSeparator: false,
    // React escapes texts.
    interpolation: { escapeValue: false },
    saveMissing: true,
    missingKeyHandler: (_languages, name, key) => console.error(`no text "${key}" of ${name}: is it loaded?`),
  });
  await needTexts(...always);
  document.documentElement.lang = i18next.language;
  language.subscribe(() => void showLanguage());
}

/** The person's choice, for every window of this browser. */
export const chooseLanguage = (chosen: Language): void => language.set(chosen);

async function showLanguage(): Promise<void> {
  await load(language.get(), inUse);
  await i18next.changeLanguage(language.get());
  document.documentElement.lang = i18next.language;
}
