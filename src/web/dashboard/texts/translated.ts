import type { en } from './en.ts';

/** A whole language: the keys of English, none missing and none invented. */
export type Translated = {
  readonly [Page in keyof typeof en]: Readonly<Record<keyof (typeof en)[Page], string>>;
};
/** One page of a language. */
export type TranslatedPage<Page extends keyof typeof en> = Translated[Page];
