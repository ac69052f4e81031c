import Database from 'better-sqlite3';
import { makePrivateFile, realDatabasePath } from './database-file.ts';
import { isBusy } from './disk-errors.ts';

export interface Lock {
  release(): void;
}

/**
 * Lets one server at a time run on a database file, which is one and the same by whichever path it is reached. Held for as long
 * as the server runs.
 */
export const tryServerLock = (databasePath: string, waitMs = 0): Lock | undefined =>
  tryLock(`${realDatabasePath(databasePath)}-lock`, waitMs);

/**
 * Locks a small file of its own with SQLite's lock, so that it goes with the process, however that ends, and also holds against
 * processes of other containers; undefined when another one still holds it after `waitMs`.
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
