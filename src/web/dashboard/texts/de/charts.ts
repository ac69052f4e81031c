import type { TranslatedPage } from '../translated.ts';

export const charts: TranslatedPage<'charts'> = {
  time: 'Zeit',
  sum: 'Alle',
  nothing: 'nichts',
  asTable: 'Als Tabelle zeigen',
};
