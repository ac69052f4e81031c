import Database from 'better-sqlite3';
import { makePrivateFile, realDatabasePath } from './database-file.ts';
import { isBusy } from './disk-errors.ts';

export interface Lock {
  release(): void;
}

/** The lock that allows only one server at a time on a database file, whatever path leads to it. A server holds it while it runs. */
export const tryServerLock = (databasePath: string, waitMs = 0): Lock | undefined =>
  tryLock(`${realDatabasePath(databasePath)}-lock`, waitMs);

/**
 * Locks a small separate file with SQLite's lock. The lock ends with the process, in whatever way that ends, and it also excludes
 * processes in other containers. Returns undefined when another process still holds it after `waitMs`.
 */
export function tryLock(path: string, waitMs = 0): Lock | undefined {
  makePrivateFile(path);
  const db = new Database(path, { timeout: waitMs });
  try {
    db.exec('BEGIN EXCLUSIVE');
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}
