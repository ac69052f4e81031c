/** The store of test servers: SQLite, or PostgreSQL with TEST_STORE=postgres. */
import { join } from 'node:path';
import { databaseOf } from './postgres.ts';

const { TEST_STORE: store, TEST_POSTGRES_URL: server } = process.env;
export const testStore = store === 'postgres' && server ? 'postgres' : 'sqlite';

/** Settings of a server that stores in this folder, or in the folder's database. */
export function storeSettings(folder: string): Record<string, string> {
  if (testStore === 'sqlite') return { BELFRY_DATABASE_URL: `sqlite:${join(folder, 'belfry.db')}` };
  return {
    BELFRY_DATABASE_URL: databaseOf(server ?? '', folder),
    BELFRY_KEY_FILE: join(folder, 'belfry.db.key'),
  };
}
