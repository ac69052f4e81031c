/**
 * What is on the buttons of notifications. In the pages, only the service worker may import this file: it is built as one file, and
 * would have to load what it shares with another page.
 */
import type { Button } from './buttons.ts';

export const buttonLabels: Readonly<Record<Button, { readonly en: string; readonly de: string }>> = {
  acknowledge: { en: 'Acknowledge', de: 'Quittieren' },
  shelve: { en: 'Shelve for 1 h', de: '1 h zurückstellen' },
};
