import { createDeliveryQueue } from '#storage/deliveries/deliveries.ts';
import type { Storage } from '../../src/storage/database/storage.ts';
import { createDirectory } from '../../src/storage/directory/directory.ts';
import { createDueTimes } from '../../src/storage/directory/due-times.ts';
import { openPostgres, type PostgresOptions } from '../../src/storage/postgres/open.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import type { DirectoryDatabase } from './directory.ts';
import type { HistoryDatabase, OpenHistory } from './history-lab.ts';

/** An empty, migrated database of a server. */
export async function openDirectoryDatabase(server: string): Promise<DirectoryDatabase> {
  const url = await createDatabase(server);
  const storage = await openPostgres({ url, queueCapacity: 10_000, onProblem });
  return {
    dialect: 'postgres',
    db: storage.db,
    async close() {
      await storage.close();
      await dropDatabase(server, url);
    },
  };
}

/** Opens histories on new databases of a server. */
export function historyOpener(server: () => string, own: Partial<PostgresOptions> = {}): OpenHistory {
  return async (options) => (await openHistoryOn(server(), { ...own, ...options })).database;
}

/** A history on a new database, and the URL of that. */
export async function openHistoryOn(
  server: string,
  options: Partial<PostgresOptions> = {},
): Promise<{ readonly url: string; readonly database: HistoryDatabase }> {
  const url = await createDatabase(server);
  const open = async (): Promise<HistoryDatabase> => {
    const storage = await openPostgres({
      queueCapacity: 10_000,
      trustsOwnClock: true,
      onProblem,
      ...options,
      url,
    });
    const closing = new AbortController();
    return {
      history: indexing(storage, closing.signal),
      statistics: storage.statistics,
      receipts: storage.history,
      directory: createDirectory(storage.db),
      dueTimes: createDueTimes(storage.db),
      deliveries: createDeliveryQueue(storage.db, { name: 'server' }),
      nodes: 2,
      sweep: (now) => storage.sweep(now),
      async reopen() {
        closing.abort();
        await storage.close();
        return open();
      },
      async close() {
        closing.abort();
        await storage.close();
        await dropDatabase(server, url);
      },
    };
  };
  return { url, database: await open() };
}

/** The history of a storage that indexes after some of what is stored, so that searches meet all states of an index. */
function indexing({ history, indexNext }: Storage, closing: AbortSignal): Storage['history'] {
  let stored = 0;
  return {
    ...history,
    async append(...given) {
      const result = await history.append(...given);
      stored += 1;
      const isWhole = stored % 31 === 0;
      while ((isWhole || stored % 4 === 0) && !closing.aborted && (await indexNext?.()) && isWhole);
      return result;
    },
  };
}

function onProblem(message: string | undefined): void {
  throw new Error(message ?? 'a problem has ended that never was');
}
