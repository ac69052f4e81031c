/** Where the servers of tests store: in SQLite, or with TEST_STORE=postgres in PostgreSQL. */
import { join } from 'node:path';
import { databaseOf } from './postgres.ts';

export const testStore = process.env.TEST_STORE === 'postgres' ? 'postgres' : 'sqlite';

/** Settings of a server whose data belong to a folder. */
export function storeSettings(folder: string): Record<string, string> {
  if (testStore === 'sqlite') return { BELFRY_DATABASE_URL: `sqlite:${join(folder, 'belfry.db')}` };
  return {
    BELFRY_DATABASE_URL: databaseOf(process.env.TEST_POSTGRES_URL ?? '', folder),
    BELFRY_KEY_FILE: join(folder, 'belfry.db.key'),
  };
}
