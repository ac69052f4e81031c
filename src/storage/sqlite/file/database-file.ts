/** The database as a file: its real path, its permissions, and whether it is Belfry's. */
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { conflict } from '#core/errors.ts';

/** Marks a SQLite file as Belfry's ("Belf"): `PRAGMA application_id`, kept in the file's header. */
export const applicationId = 0x42656c66;

const headerBytes = 100;
const applicationIdOffset = 68;

/**
 * The path of the file itself, with links resolved. SQLite puts its write-ahead log beside this path, and so must Belfry with
 * all its other files, so that processes find them by any path. The file need not exist.
 */
export function realDatabasePath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const link = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    if (link) return realDatabasePath(resolve(dirname(path), readlinkSync(path)));
    const folder = dirname(resolve(path));
    return folder === resolve(path) ? folder : join(realDatabasePath(folder), basename(path));
  }
}

/** Creates a folder and its missing parent folders, for this user only; root gives each the owner of the folder that it is in. */
export function makePrivateFolder(path: string): void {
  if (existsSync(path)) return;
  makePrivateFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process makes the same folder.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  const parent = dirname(path);
  if (process.getuid?.() === 0 && statSync(parent).uid !== 0) giveToOwnerOf(parent, path);
}

/** Creates a file and its missing parent folders, for this user only; an existing file or folder keeps its permissions. */
export function makePrivateFile(path: string): void {
  makePrivateFolder(dirname(path));
  const isNew = !existsSync(path);
  closeSync(openSync(path, 'a', 0o600));
  if (isNew) giveToOwnerOf(dirname(path), path);
}

/**
 * Root may run a command, and a server of another user must open what it made: so root gives `file`, a file or an empty folder, the owner
 * of `model`. That user may put a link in the place of `file`, to another user's file. So no link is followed, and a file with a second
 * name is refused, as is a folder with content. A pipe in its place is refused too, and without waiting for its writer.
 */
export function giveToOwnerOf(model: string, file: string, mode?: number): void {
  const handle = openSync(
    file,
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  );
  try {
    const made = fstatSync(handle);
    const isNew = made.isDirectory() ? readdirSync(file).length === 0 : made.isFile() && made.nlink === 1;
    if (!isNew) throw conflict(`${file} is a link or no file: another process has replaced it`);
    const { uid, gid } = statSync(model);
    if (mode !== undefined) fchmodSync(handle, mode);
    if (process.getuid?.() === 0) fchownSync(handle, uid, gid);
  } finally {
    closeSync(handle);
  }
}

/**
 * Reads the header without SQLite, because SQLite might write: it may finish a transaction, or create files beside the database.
 *
 * @throws AppError `conflict` when the file is not a database of Belfry; an empty file is a new database.
 */
export function assertOurs(path: string): void {
  const header = readHeader(path);
  if (header.length > 0 && !isOurs(header))
    throw conflict(
      `${path} is no database of Belfry: set BELFRY_DATABASE_URL to another place, or put a backup in its place with belfry restore FILE`,
    );
}

/** Whether the header of a file is that of a Belfry database. */
export const hasOurHeader = (path: string): boolean => isOurs(readHeader(path));

/** Opens a file, or a folder, for as long as `read` takes. */
export function whileOpen<T>(path: string, read: (handle: number) => T): T {
  const handle = openSync(path, 'r');
  try {
    return read(handle);
  } finally {
    closeSync(handle);
  }
}

/** Returns when a file's content, or a folder's list of files, is on disk. */
export const flushToDisk = (path: string): void => whileOpen(path, fsyncSync);

const isOurs = (header: Buffer): boolean =>
  header.length === headerBytes &&
  header.toString('latin1', 0, 16) === 'SQLite format 3\0' &&
  header.readUInt32BE(applicationIdOffset) === applicationId;

function readHeader(path: string): Buffer {
  const header = Buffer.alloc(headerBytes);
  const bytes = whileOpen(path, (handle) => readSync(handle, header, 0, headerBytes, 0));
  return header.subarray(0, bytes);
}

/** Opens SQLite so that a commit is durable, and checks the settings that ensure it. */

export type Db = Database.Database;

const busyTimeoutMs = 5_000;
/** A checkpoint truncates the write-ahead log to this size, so that it does not stay large after a burst. */
const walKeptBytes = 64 * 1024 * 1024;

/**
 * A connection with WAL and `synchronous=FULL`: when COMMIT returns, the rows have been fsynced.
 * The driver is compiled so that it sets `synchronous=NORMAL` when it first reads a file in WAL mode. Then a power cut loses
 * acknowledged rows. So both are set, a first query is run, and both are read back.
 *
 * @throws Error when the database has other settings afterwards.
 */
export function openWritable(path: string): Db {
  const db = new Database(path, { timeout: busyTimeoutMs });
  try {
    // Set before WAL mode, so that the header has the application id from the first write on.
    if (db.pragma('page_count', { simple: true }) === 0) db.pragma(`application_id = ${applicationId}`);
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    assertPragma(db, 'journal_mode', 'wal');
    assertPragma(db, 'synchronous', 2);
    db.pragma(`journal_size_limit = ${walKeptBytes}`);
    db.pragma('wal_autocheckpoint = 2000');
    db.pragma('temp_store = MEMORY');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A connection that cannot write to the database; temporary tables are its own, in memory. */
export function openReadOnly(path: string): Db {
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  db.pragma('temp_store = MEMORY');
  return db;
}

/** Closes a connection that has failed. If this fails too, the connection ends with its thread. */
export function closeQuietly(db: Db | undefined): void {
  try {
    db?.close();
  } catch {
    // The connection is unusable already.
  }
}

function assertPragma(db: Db, name: string, expected: string | number): void {
  const actual: unknown = db.pragma(name, { simple: true });
  if (actual !== expected) {
    throw new Error(
      `SQLite answers ${name}=${String(actual)} where ${expected} was set: commits would not be durable`,
    );
  }
}

/** The errors of SQLite that are caused by the file or its disk. */

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** A page of the file differs from what SQLite wrote. A retry does not help; data on other pages is still readable. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));

/** The disk failed or is full. The connection must not be used any more; a new one may work. */
export const isDiskFailure = (error: unknown): boolean =>
  /^SQLITE_(IOERR|FULL|CANTOPEN|READONLY|NOMEM)/.test(codeOf(error));

/** Another process holds the database. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

export const isFull = (error: unknown): boolean => codeOf(error) === 'SQLITE_FULL';

/** For answers to requests and for /readyz, which is public. So the details are only in the log. */
export const damaged = 'the database file is damaged: the server log says more';

/** For the log: the damage, the work that found it, and how to repair it. */
export function damageReport(error: unknown, doing: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return `the database file is damaged (${codeOf(error)}: ${message}; met by ${doing}): stop the server, copy its folder, check the disk, and put a backup in place with belfry restore FILE`;
}

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
