/** Makes the lists of terms that searches read, in the background, and watches how far they are behind the log. */
import type pg from 'pg';
import type { Storage } from '../../storage.ts';
import type { Connections } from '../connections.ts';
import { isMissingTable, isTimeout } from '../errors.ts';

/** Rows whose lists are made together, usually; at most 32,767. A search tests those that are in no list yet. */
export const blockRows = 8_192;
/** A statement that takes longer is given up, and fewer rows are tried: a server that stops has to wait for it. */
const mostMs = 1_500;
/** More rows are tried again after a step that took little time, and after so many steps: each may have to wait for the network. */
const stepsToMore = 20;
/** The operator is warned when so many blocks are missing, and no fewer were `watchMs` earlier. */
const mostBlocks = 10;
const watchMs = 300_000;

export function createIndexing(
  connections: Connections,
  blockRows: number,
  warn: (message: string) => void,
): Required<Pick<Storage, 'indexNext' | 'indexBacklog'>> {
  let rowsAtOnce = blockRows;
  let steps = 0;
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
    const cause = held?.by ? `; a transaction may hold them up (${held.by})` : '';
    warn(
      `searches get slower: ${backlog} entries of the log are not indexed, and no fewer were five minutes ago${cause}`,
    );
  };

  return {
    indexBacklog: () => backlog,

    async indexNext() {
      await watch();
      const text = `SET LOCAL statement_timeout = ${mostMs}; SELECT list_terms(${rowsAtOnce}) AS more`;
      let startedAt = 0;
      try {
        const results: unknown = await connections.run('all', (client) => {
          startedAt = performance.now();
          return client.query(text);
        });
        const [, listed] = results as pg.QueryResult<{ more: boolean | null }>[];
        const { more = null } = listed?.rows[0] ?? {};
        if (more && (performance.now() < startedAt + mostMs / 4 || ++steps % stepsToMore === 0))
          rowsAtOnce = Math.min(blockRows, 2 * rowsAtOnce);
        return more !== false;
      } catch (error) {
        // The partition was dropped meanwhile.
        if (isMissingTable(error)) return false;
        if (!isTimeout(error) || rowsAtOnce === 1) throw error;
        rowsAtOnce >>= 1;
        steps = 0;
        return true;
      }
    },
  };
}
