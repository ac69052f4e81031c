import { chmodSync, chownSync, copyFileSync, existsSync, linkSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '#core/errors.ts';
import { purge } from '../log/maintenance.ts';
import { assertSchema, migrate } from '../migrate.ts';
import {
  copyWhole,
  damagedBackup,
  isSameFile,
  leftBehind,
  notBelfryDatabase,
  removeSidecars,
  removeWithSidecars,
  temporaryFile,
} from './backup.ts';
import { flushToDisk, hasOurHeader, realDatabasePath } from './database-file.ts';
import { isBusy, isDamage } from './disk-errors.ts';
import { tryServerLock } from './lock.ts';

export interface RestoreResult {
  /** Where the database that was there before is now; undefined when there was none. */
  readonly kept: string | undefined;
}

/** How long another process may need to finish with the old database. */
const busyMs = 2_000;

/**
 * Puts the backup `file` in the place of the database, with a new epoch: every panel hears that what it has is void.
 * With `purges`, what retention does not keep is no longer in the file. The old database is kept beside it. A crash at any step leaves either the old one or the new one, whole.
 *
 * @throws AppError `not-found` without such a file; `conflict` when it is no whole Belfry database or of a newer Belfry, and
 * while a server runs on the database or another process has it open.
 */
export function restore(
  configuredPath: string,
  file: string,
  now: number,
  options: { readonly purges?: boolean } = {},
): RestoreResult {
  // A link stays a link: what it leads to is what is replaced.
  const databasePath = realDatabasePath(configuredPath);
  if (!existsSync(file)) {
    throw new AppError('not-found', `there is no backup at ${file}: name a file that belfry backup made`);
  }
  if (existsSync(databasePath) && isSameFile(databasePath, file)) {
    throw new AppError('conflict', `${file} is the database itself: name a file that belfry backup made`);
  }
  // A large file of something else would be copied for nothing.
  if (statSync(file).isDirectory() || !hasOurHeader(file)) throw notBelfryDatabase(file);
  const lock = tryServerLock(databasePath);
  if (!lock) throw new AppError('conflict', `a Belfry server runs on ${databasePath}: stop it first`);
  const fresh = temporaryFile(databasePath, 'restoring');
  try {
    // Who holds the lock is the only one that restores.
    for (const path of leftBehind(databasePath, 'restoring')) removeWithSidecars(path);
    copyBackup(file, fresh);
    renew(fresh, file, options.purges ?? false);
    likeBefore(databasePath, fresh);
    flushToDisk(fresh);
    const kept = setAside(databasePath, now);
    renameSync(fresh, databasePath);
    flushToDisk(dirname(databasePath));
    return { kept };
  } finally {
    removeWithSidecars(fresh);
    lock.release();
  }
}

function copyBackup(file: string, fresh: string): void {
  try {
    copyWhole(file, fresh);
  } catch (error) {
    throw isDamage(error) ? damagedBackup(file, error) : error;
  }
}

/** Brings the schema up to date, starts a new epoch, and signs everybody out. */
function renew(path: string, file: string, purges: boolean): void {
  const db = new Database(path);
  try {
    db.pragma('synchronous = FULL');
    migrate(db);
    assertSchema(db, file);
    db.exec("UPDATE meta SET value = lower(hex(randomblob(5))) WHERE name = 'epoch'");
    // A session that was ended since the backup would be in force again.
    db.exec('DELETE FROM sessions; DELETE FROM verifications');
    if (purges) purge(db);
  } finally {
    db.close();
  }
}

/** The server must be able to open what root restored for it. */
function likeBefore(databasePath: string, fresh: string): void {
  if (!existsSync(databasePath)) return;
  const { mode, uid, gid } = statSync(databasePath);
  chmodSync(fresh, mode & 0o777);
  if (process.getuid?.() === 0) chownSync(fresh, uid, gid);
}

/**
 * Gives the old database a second name, under which it stays when the new one takes the first. Its write-ahead log must
 * be gone by then: SQLite would play it into the new one.
 */
function setAside(databasePath: string, now: number): string | undefined {
  if (!existsSync(databasePath)) {
    removeSidecars(databasePath);
    return undefined;
  }
  const time = new Date(now).toISOString().replaceAll(/[-:]/g, '');
  const kept = `${databasePath}.before-restore-${time}`;
  foldLog(databasePath);
  duplicate(databasePath, kept);
  removeSidecars(databasePath);
  flushToDisk(dirname(databasePath));
  return kept;
}

/**
 * Brings what is in the write-ahead log into the database file, as far as that can still be read.
 * @throws AppError `conflict` when another process has the database open.
 */
function foldLog(databasePath: string): void {
  const db = new Database(databasePath, { timeout: busyMs });
  try {
    // Leaving WAL mode needs the database to itself, writes back the log and deletes it.
    db.pragma('journal_mode = DELETE');
  } catch (error) {
    if (isDamage(error)) return;
    if (!isBusy(error)) throw error;
    throw new AppError('conflict', `another process has ${databasePath} open: wait for it, or end it`);
  } finally {
    db.close();
  }
}

function duplicate(path: string, copy: string): void {
  try {
    linkSync(path, copy);
  } catch {
    // Not every file system has hard links.
    copyFileSync(path, copy);
    flushToDisk(copy);
  }
}
