import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from '#core/errors.ts';
import { type Db, openReadOnly } from './database.ts';
import { applicationId, flushToDisk } from './database-file.ts';
import { schemaVersion } from './migrate.ts';

export interface BackupResult {
  readonly bytes: number;
}

/**
 * Writes a consistent copy of the database to `file`, readable by its owner only. The copy is on disk when this returns. A
 * running server may continue to write meanwhile. If the process is killed, a `<file>.<pid>.partial` remains; the next
 * backup to the same file deletes it.
 *
 * @throws AppError `conflict` when `file` exists and `force` is not set; `not-found` when there is no database.
 */
export function backUp(databasePath: string, file: string, { force = false } = {}): BackupResult {
  if (!existsSync(databasePath)) {
    throw new AppError(
      'not-found',
      `there is no database at ${databasePath}: set BELFRY_DATABASE_URL to where it is`,
    );
  }
  requireWritableTarget(databasePath, file, force);
  mkdirSync(dirname(file), { recursive: true });
  removeLeftovers(file, 'partial');
  const partial = `${file}.${process.pid}.partial`;
  try {
    copyWhole(databasePath, partial);
    flushToDisk(partial);
    const { size } = statSync(partial);
    requireWritableTarget(databasePath, file, force);
    // SQLite would apply the journal of the overwritten database to the new one.
    removeSidecars(file);
    renameSync(partial, file);
    flushToDisk(dirname(file));
    return { bytes: size };
  } finally {
    removeSidecars(partial);
    rmSync(partial, { force: true });
  }
}

/** Copies a database, its write-ahead log included, into one new file that is readable by its owner only. */
export function copyWhole(from: string, to: string): void {
  closeSync(openSync(to, 'wx', 0o600));
  const source = openReadOnly(from);
  try {
    source.prepare('VACUUM INTO ?').run(to);
  } finally {
    source.close();
  }
  const copy = openReadOnly(to);
  try {
    assertIntact(copy, from);
  } finally {
    copy.close();
  }
}

/** @throws AppError `conflict` when `path`, or a copy of it, is not a Belfry database, or damaged. */
function assertIntact(db: Db, path: string): void {
  if (schemaVersion(db) < 1 || db.pragma('application_id', { simple: true }) !== applicationId)
    throw notBelfryDatabase(path);
  const found = db.pragma('integrity_check(1)', { simple: true });
  if (found !== 'ok')
    throw new AppError('conflict', `${path} is damaged (${String(found)}): take another backup`);
}

export function notBelfryDatabase(path: string): AppError {
  return new AppError('conflict', `${path} is no Belfry database: name a file that belfry backup made`);
}

/** Deletes the files that SQLite keeps beside an open database. */
export function removeSidecars(path: string): void {
  for (const suffix of ['-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}

function requireWritableTarget(databasePath: string, file: string, force: boolean): void {
  if (!existsSync(file)) return;
  if (isSameFile(databasePath, file)) {
    throw new AppError('conflict', `${file} is the database itself: name another file`);
  }
  if (statSync(file).isDirectory()) throw new AppError('conflict', `${file} is a folder: name a file in it`);
  if (!force)
    throw new AppError('conflict', `${file} exists: name another file, or overwrite it with --force`);
}

export function isSameFile(a: string, b: string): boolean {
  const [one, other] = [statSync(a), statSync(b)];
  return one.ino === other.ino && one.dev === other.dev;
}

/** Deletes each `<file>.<pid>.<suffix>` whose process no longer runs. */
export function removeLeftovers(file: string, suffix: string): void {
  const [folder, prefix] = [dirname(file), `${basename(file)}.`];
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix)) continue;
    const [, pid, end] =
      /^(\d{1,10})\.([a-z]+)(?:-wal|-shm|-journal)?$/.exec(name.slice(prefix.length)) ?? [];
    if (end === suffix && !isRunning(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
