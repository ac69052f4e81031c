/** Makes the lists of terms that searches read, in the background (migration 0019), and watches how far they are behind the log. */
import type pg from 'pg';
import type { Storage } from '../storage.ts';
import type { Connections } from './connections.ts';
import { isTimeout } from './errors.ts';

/** Rows whose lists are made together, usually; at most 32,767. A search tests those that are in no list yet. */
export const blockRows = 8_192;
/** Bounds how long it takes to make the lists of a block whose texts are long. */
const termsABlock = 500_000;
/** A statement that takes longer is given up, and fewer rows are tried: a server that stops has to wait for it. */
const mostMs = 1_500;
/** The operator is warned when so many blocks are missing, and no fewer than `watchMs` ago. */
const mostBlocks = 10;
const watchMs = 300_000;

export function createIndexing(
  connections: Connections,
  blockRows: number,
  warn: (message: string) => void,
): Required<Pick<Storage, 'indexNext' | 'indexBacklog'>> {
  let rowsAtOnce = blockRows;
  let backlog = 0;
  let watched = { backlog, at: performance.now() };

  const watch = async () => {
    const [found] = await connections.query<{ rows: number }>('all', 'SELECT list_backlog() AS rows');
    backlog = found?.rows ?? backlog;
    if (performance.now() < watched.at + watchMs) return;
    const isStuck = watched.backlog >= mostBlocks * blockRows && backlog >= watched.backlog;
    watched = { backlog, at: performance.now() };
    if (!isStuck) return;
    const [held] = await connections.query<{ by: string | null }>('all', 'SELECT list_obstacle() AS by');
    const cause = held?.by ? `a transaction holds them up: end it (${held.by})` : 'they come too fast';
    warn(`searches get slower: ${backlog} notifications are not indexed, because ${cause}`);
  };

  return {
    indexBacklog: () => backlog,

    async indexNext() {
      await watch();
      const startedAt = performance.now();
      const text = `SET LOCAL statement_timeout = ${mostMs}; SELECT list_terms(${rowsAtOnce}, ${termsABlock}) AS more`;
      try {
        const results: unknown = await connections.run('all', (client) => client.query(text));
        const [, listed] = results as pg.QueryResult<{ more: boolean | null }>[];
        const { more = null } = listed?.rows[0] ?? {};
        if (more && performance.now() < startedAt + mostMs / 4)
          rowsAtOnce = Math.min(blockRows, 2 * rowsAtOnce);
        return more !== false;
      } catch (error) {
        if (!isTimeout(error) || rowsAtOnce === 1) throw error;
        rowsAtOnce >>= 1;
        return true;
      }
    },
  };
}
