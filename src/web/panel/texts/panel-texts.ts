import type { Translate } from '#web/language.ts';
import type { en } from './en.ts';

/** The keys of English are the keys of every language. */
export type PanelTexts = Readonly<Record<keyof typeof en, string>>;
export type PanelTranslate = Translate<PanelTexts>;
