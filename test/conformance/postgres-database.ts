import { createDirectory } from '../../src/storage/directory.ts';
import { createPostgresBuilder } from '../../src/storage/postgres/database.ts';
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
    builder: createPostgresBuilder(),
    executor: storage.executor,
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
    return {
      history: storage.history,
      statistics: storage.statistics,
      receipts: storage.history,
      directory: createDirectory(createPostgresBuilder(), storage.executor),
      sweep: (now) => storage.sweep(now),
      async reopen() {
        await storage.close();
        return open();
      },
      async close() {
        await storage.close();
        await dropDatabase(server, url);
      },
    };
  };
  return { url, database: await open() };
}

function onProblem(message: string | undefined): void {
  throw new Error(message ?? 'a problem has ended that never was');
}
