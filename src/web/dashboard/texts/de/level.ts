import type { TranslatedPage } from '../translated.ts';

export const level: TranslatedPage<'level'> = {
  success: 'Erfolg',
  info: 'Info',
  warning: 'Warnung',
  error: 'Fehler',
  critical: 'kritisch',
};
