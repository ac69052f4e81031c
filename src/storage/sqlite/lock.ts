import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';

/** Held for as long as a server runs on a database file. */
export interface ServerLock {
  release(): void;
}

/**
 * Lets one server at a time run on a database file. The lock is SQLite's own on a small file beside it, so it goes with
 * the process, however that ends; undefined when another process holds it.
 */
export function tryServerLock(databasePath: string): ServerLock | undefined {
  mkdirSync(dirname(databasePath), { recursive: true });
  const db = new Database(`${databasePath}-lock`, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
}
