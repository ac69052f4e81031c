import Database from 'better-sqlite3';
import { makePrivateFile, realDatabasePath } from './database-file.ts';

/** Held for as long as a server runs on a database file. */
export interface ServerLock {
  release(): void;
}

/**
 * Lets one server at a time run on a database file. The lock is SQLite's own on a small file beside it, so it goes with
 * the process, however that ends; undefined when another process still holds it after `waitMs`. The database is one and the
 * same by whichever path it is reached.
 */
export function tryServerLock(databasePath: string, waitMs = 0): ServerLock | undefined {
  const path = `${realDatabasePath(databasePath)}-lock`;
  makePrivateFile(path);
  const db = new Database(path, { timeout: waitMs });
  try {
    db.exec('BEGIN EXCLUSIVE');
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
}
