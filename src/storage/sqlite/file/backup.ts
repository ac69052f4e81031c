import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError, conflict } from '#core/errors.ts';
import { schemaVersion } from '../migrate.ts';
import {
  applicationId,
  type Db,
  flushToDisk,
  type Lock,
  openReadOnly,
  tryLock,
  whileOpen,
} from './database-file.ts';
import type { SyncingData } from './syncing-thread.ts';

export interface BackupResult {
  readonly bytes: number;
}

/**
 * Writes a consistent copy of the database, with its checksum, to `file`, readable by its owner only. The copy is on disk when this returns. A
 * running server may continue to write meanwhile. If the process is killed, a `<file>.<random>.partial` remains; the next
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
  removePartial(file);
  const partial = temporaryFile(file, 'partial');
  let lock: Lock | undefined;
  try {
    lock = tryLock(lockOf(partial));
    copyWhole(databasePath, partial, whileSyncing);
    addChecksum(partial);
    flushToDisk(partial);
    const { size } = statSync(partial);
    requireWritableTarget(databasePath, file, force);
    // SQLite would apply the journal of the overwritten database to the new one.
    removeSidecars(file);
    renameSync(partial, file);
    flushToDisk(dirname(file));
    return { bytes: size };
  } finally {
    removeWithSidecars(partial);
    lock?.release();
    rmSync(lockOf(partial), { force: true });
  }
}

/** Locked while a process writes the partial file. A process id is not enough: in containers, several processes have the same one. */
const lockOf = (partial: string): string => `${partial}-lock`;

/** Deletes the partial files of processes that no longer run. */
function removePartial(file: string): void {
  for (const partial of leftBehind(file, 'partial')) {
    try {
      const lock = tryLock(lockOf(partial));
      if (!lock) continue;
      removeWithSidecars(partial);
      lock.release();
      rmSync(lockOf(partial), { force: true });
    } catch {
      // The file belongs to another user. This must not fail the backup.
    }
  }
}

/**
 * Copies a database, its write-ahead log included, into one new file that is readable by its owner only. `around` runs the part that
 * writes.
 */
export function copyWhole(
  from: string,
  to: string,
  around = (_file: string, write: () => void) => write(),
): void {
  closeSync(openSync(to, 'wx', 0o600));
  const source = openReadOnly(from);
  try {
    around(to, () => source.prepare('VACUUM INTO ?').run(to));
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

/**
 * Runs `write`, which writes to `file`. Meanwhile a thread syncs that file again and again. Without it, the operating system would
 * write hundreds of megabytes at once, and a server that syncs its own file on the same disk would wait until they are written.
 */
function whileSyncing(file: string, write: () => void): void {
  const ended = new Int32Array(new SharedArrayBuffer(4));
  startSyncing({ path: file, ended });
  try {
    write();
  } finally {
    Atomics.store(ended, 0, 1);
    Atomics.notify(ended, 0);
  }
}

function startSyncing(data: SyncingData): void {
  const ignore = () => undefined;
  try {
    new Worker(new URL('./syncing-thread.ts', import.meta.url), { workerData: data }).on('error', ignore);
  } catch {
    // The process may start no more threads. The backup does not need this one: without it, a server waits longer.
  }
}

/** @throws AppError `conflict` when `path`, or a copy of it, is not a Belfry database, or damaged. */
function assertIntact(db: Db, path: string): void {
  if (schemaVersion(db) < 1 || db.pragma('application_id', { simple: true }) !== applicationId)
    throw notBelfryDatabase(path);
  const found = db.pragma('integrity_check(1)', { simple: true });
  if (found !== 'ok') throw damagedBackup(path, found);
}

export function damagedBackup(path: string, found: unknown): AppError {
  const why = found instanceof Error ? found.message : String(found);
  return conflict(`${path} is damaged (${why}): take another backup`);
}

export function notBelfryDatabase(path: string): AppError {
  return conflict(`${path} is no Belfry database: name a file that belfry backup made`);
}

/** Deletes the files that SQLite keeps beside an open database. */
export function removeSidecars(path: string): void {
  for (const suffix of ['-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}

export function removeWithSidecars(path: string): void {
  removeSidecars(path);
  rmSync(path, { force: true });
}

function requireWritableTarget(databasePath: string, file: string, force: boolean): void {
  if (!existsSync(file)) return;
  if (isSameFile(databasePath, file)) {
    throw conflict(`${file} is the database itself: name another file`);
  }
  if (statSync(file).isDirectory()) throw conflict(`${file} is a folder: name a file in it`);
  if (!force) throw conflict(`${file} exists: name another file, or overwrite it with --force`);
}

export function isSameFile(a: string, b: string): boolean {
  const [one, other] = [statSync(a), statSync(b)];
  return one.ino === other.ino && one.dev === other.dev;
}

/** The path of a temporary file, which is renamed to `file` once it is complete. */
export const temporaryFile = (file: string, suffix: string): string =>
  `${file}.${randomBytes(6).toString('hex')}.${suffix}`;

/** The existing files with names from {@link temporaryFile}. */
export function leftBehind(file: string, suffix: string): string[] {
  const [folder, start, end] = [dirname(file), `${basename(file)}.`, `.${suffix}`];
  return readdirSync(folder)
    .filter((name) => name.startsWith(start) && name.endsWith(end))
    .filter((name) => /^[0-9a-f]{12}$/.test(name.slice(start.length, -end.length)))
    .map((name) => join(folder, name));
}

/**
 * The checksum of a backup. It follows the last page of the file, where SQLite reads nothing, so that a backup stays one file and a
 * database. SQLite itself notices damage of its pages, but not of the texts in them.
 */

const mark = Buffer.from('belfry sha256 ');
const hashBytes = 32;
const trailerBytes = mark.length + hashBytes;
/** The smallest page of SQLite: the size of a database is a multiple of it. */
const pageBytes = 512;
const pieceBytes = 1024 * 1024;

/** Appends the checksum of all that the file contains. */
function addChecksum(path: string): void {
  const hash = whileOpen(path, (file) => hashOf(file, fstatSync(file).size));
  appendFileSync(path, Buffer.concat([mark, hash]));
}

/** Whether a file is as its checksum says. One without a checksum is: a copy of a database. */
export function matchesChecksum(path: string): boolean {
  return whileOpen(path, (file) => {
    const { size } = fstatSync(file);
    if (size % pageBytes === 0) return true;
    const end = Math.max(0, size - trailerBytes);
    const trailer = Buffer.alloc(trailerBytes);
    readSync(file, trailer, 0, trailerBytes, end);
    return trailer.equals(Buffer.concat([mark, hashOf(file, end)]));
  });
}

function hashOf(file: number, size: number): Buffer {
  const hash = createHash('sha256');
  const piece = Buffer.alloc(pieceBytes);
  for (let at = 0; at < size; ) {
    const bytes = readSync(file, piece, 0, Math.min(pieceBytes, size - at), at);
    if (bytes === 0) break;
    hash.update(piece.subarray(0, bytes));
    at += bytes;
  }
  return hash.digest();
}
