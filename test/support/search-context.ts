import { AppError } from '#core/errors.ts';
import { parseQuery } from '#core/search/search-parser.ts';
import type { SearchContext } from '#core/search/search-terms.ts';

/** The names that searches use in tests. */
const now = Date.UTC(2026, 10, 2, 12);
export const context: SearchContext = {
  now,
  timeZone: 'Europe/Berlin',
  levels: [
    { name: 'success', rank: 10 },
    { name: 'info', rank: 20 },
    { name: 'warning', rank: 30 },
    { name: 'error', rank: 40 },
    { name: 'critical', rank: 50 },
    { name: 'audit.log', rank: 20 },
  ],
  panels: [
    { id: 'p1', name: 'lobby', tags: ['front'] },
    { id: 'p2', name: 'NOC wall', tags: ['noc', 'big'] },
    { id: 'p3', name: 'NOC desk', tags: ['noc'] },
    { id: 'p4', name: 'Wall *', tags: [] },
  ],
  deletedPanels: [],
  tokens: [
    { id: 'aB3', name: 'ci' },
    { id: 'zz9', name: 'ci' },
    { id: 'q', name: 'Backup job' },
  ],
  rules: [{ id: 'r1', name: 'night mute' }],
};

/** The message of the error that parsing the text throws. @throws Error when there is none, or another kind of error. */
export function errorOf(text: string): string {
  try {
    parseQuery(text, context);
  } catch (error) {
    if (error instanceof AppError && error.code.startsWith('query.')) return error.message;
    throw error;
  }
  throw new Error(`${text} was accepted`);
}
