type English = typeof import('./en.ts');

/** A whole language: the keys of English, none missing and none invented. */
export type Translated = {
  readonly [Page in keyof English]: Readonly<Record<keyof English[Page], string>>;
};

/** One page of a language. */
export type TranslatedPage<Page extends keyof English> = Translated[Page];
