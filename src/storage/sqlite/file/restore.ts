import { copyFileSync, existsSync, linkSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { AppError, conflict } from '#core/errors.ts';
import { purge } from '../log/maintenance.ts';
import { ensurePartition } from '../log/partitions.ts';
import { assertSchema, migrate } from '../migrate.ts';
import {
  copyWhole,
  damagedBackup,
  isSameFile,
  leftBehind,
  matchesChecksum,
  notBelfryDatabase,
  removeSidecars,
  removeWithSidecars,
  temporaryFile,
} from './backup.ts';
import {
  flushToDisk,
  giveToOwnerOf,
  hasOurHeader,
  isBusy,
  isDamage,
  realDatabasePath,
  tryServerLock,
} from './database-file.ts';

export interface RestoreResult {
  /** The new path of the previous database; undefined when there was none. */
  readonly kept: string | undefined;
}

/** How long another process may need to finish with the old database. */
const busyMs = 2_000;

/**
 * Puts the backup `file` in the place of the database, with a new epoch, so that every panel resets. With `purges`, the file
 * contains only what retention keeps. The old database is kept beside the new one. After a crash at any step, the database is
 * either the complete old one or the complete new one.
 *
 * @throws AppError `not-found` without such a file; `conflict` when it is not a complete Belfry database, is from before the first
 * release or from a newer Belfry, and while a server runs on the database or another process has it open.
 */
export function restore(
  configuredPath: string,
  file: string,
  now: number,
  options: { readonly purges?: boolean } = {},
): RestoreResult {
  // A symbolic link stays: the file that it leads to is replaced.
  const databasePath = realDatabasePath(configuredPath);
  if (!existsSync(file)) {
    throw new AppError('not-found', `there is no backup at ${file}: name a file that belfry backup made`);
  }
  if (existsSync(databasePath) && isSameFile(databasePath, file)) {
    throw conflict(`${file} is the database itself: name a file that belfry backup made`);
  }
  // Checked first, because a large foreign file would be copied in vain.
  if (!isBackup(file)) throw notBelfryDatabase(file);
  const lock = tryServerLock(databasePath);
  if (!lock) throw conflict(`a Belfry server runs on ${databasePath}: stop it first`);
  const fresh = temporaryFile(databasePath, 'restoring');
  try {
    // Only the holder of the lock restores, so these files belong to nobody.
    for (const path of leftBehind(databasePath, 'restoring')) removeWithSidecars(path);
    copyBackup(file, fresh);
    startNewEpoch(fresh, file, options.purges ?? false);
    // Last, because any other error of the file explains more.
    if (!matchesChecksum(file))
      throw damagedBackup(file, 'it is not as its checksum says, so it has changed since it was written');
    copyOwnerAndMode(databasePath, fresh);
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

/** @throws AppError `conflict` when this user may not read the file. */
function isBackup(file: string): boolean {
  try {
    return statSync(file).isFile() && hasOurHeader(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw conflict(`cannot read ${file} (${code}): make it readable for this user`);
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
function startNewEpoch(path: string, file: string, purges: boolean): void {
  const db = new Database(path);
  try {
    db.pragma('synchronous = FULL');
    migrate(db);
    assertSchema(db, file);
    ensurePartition(db);
    // It begins with its time: ids of Gotify rise with it.
    db.exec(
      "UPDATE meta SET value = printf('%08x', unixepoch()) || lower(hex(randomblob(4))) WHERE name = 'epoch'",
    );
    // Otherwise sessions that ended after the backup would be valid again.
    db.exec('DELETE FROM sessions; DELETE FROM verifications');
    if (purges) purge(db);
  } finally {
    db.close();
  }
}

/** Copies the permissions and the owner of the old database; without one, the owner of the folder. */
function copyOwnerAndMode(databasePath: string, fresh: string): void {
  const isThere = existsSync(databasePath);
  const mode = isThere ? statSync(databasePath).mode & 0o777 : undefined;
  giveToOwnerOf(isThere ? databasePath : dirname(databasePath), fresh, mode);
}

/**
 * Gives the old database a second name, which stays when the new database takes the first name. Before that, the old write-ahead
 * log must be gone, because SQLite would apply it to the new database.
 */
function setAside(databasePath: string, now: number): string | undefined {
  if (!existsSync(databasePath)) {
    removeSidecars(databasePath);
    return undefined;
  }
  const time = new Date(now).toISOString().replaceAll(/[-:]/g, '');
  const kept = `${databasePath}.before-restore-${time}`;
  checkpointAndLeaveWal(databasePath);
  duplicate(databasePath, kept);
  removeSidecars(databasePath);
  flushToDisk(dirname(databasePath));
  return kept;
}

/**
 * Moves the write-ahead log into the database file, as far as both are still readable.
 * @throws AppError `conflict` when another process has the database open.
 */
function checkpointAndLeaveWal(databasePath: string): void {
  const db = new Database(databasePath, { timeout: busyMs });
  try {
    // Leaving WAL mode needs exclusive access. It writes the log into the database and deletes it.
    db.pragma('journal_mode = DELETE');
  } catch (error) {
    if (isDamage(error)) return;
    if (!isBusy(error)) throw error;
    throw conflict(`another process has ${databasePath} open: wait for it, or end it`);
  } finally {
    db.close();
  }
}

function duplicate(path: string, copy: string): void {
  try {
    linkSync(path, copy);
  } catch {
    // Some file systems have no hard links.
    copyFileSync(path, copy);
    flushToDisk(copy);
  }
}
