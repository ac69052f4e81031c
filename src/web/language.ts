import { createInstance } from 'i18next';

/** A language's texts by key; plurals end in _one and _other, as Intl.PluralRules names them. */
export type Texts = Readonly<Record<string, string>>;

type Singular<K> = K extends `${infer Base}_one` | `${infer Base}_other` ? Base : K;

/** Answers the text of a key in the chosen language, with what is inserted. */
export type Translate<T extends Texts> = (
  key: Singular<keyof T & string>,
  values?: Readonly<Record<string, string | number>>,
) => string;

/**
 * The texts of the first language that is wanted and there; English, which is complete, where there is none.
 * @param wanted BCP 47 tags, the most wanted first.
 */
export function createTranslate<T extends Texts>(
  languages: Readonly<Record<string, T>> & { readonly en: T },
  wanted: readonly string[],
): { readonly language: string; readonly translate: Translate<T> } {
  const known = Object.keys(languages);
  const language = wanted.map(baseOf).find((base) => known.includes(base)) ?? 'en';
  const i18n = createInstance();
  void i18n.init({
    lng: language,
    fallbackLng: 'en',
    initAsync: false,
    keySeparator: false,
    nsSeparator: false,
    // Texts are set as text, never as markup: escaping would be shown.
    interpolation: { escapeValue: false },
    resources: Object.fromEntries(
      Object.entries(languages).map(([name, texts]) => [name, { translation: texts }]),
    ),
  });
  // The dashboard types its keys for the library as a whole; a page's own texts are typed by T.
  const t = i18n.t as unknown as (key: string, values: Record<string, unknown>) => string;
  return { language, translate: (key, values = {}) => t(key, values) };
}

function baseOf(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}
