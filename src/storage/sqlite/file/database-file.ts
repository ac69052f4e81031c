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
import { AppError } from '#core/errors.ts';

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
    if (!isNew)
      throw new AppError('conflict', `${file} is a link or no file: another process has replaced it`);
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
    throw new AppError(
      'conflict',
      `${path} is no database of Belfry: set BELFRY_DATABASE_URL to another place, or put a backup in its place with belfry restore FILE`,
    );
}

/** Whether the header of a file is that of a Belfry database. */
export const hasOurHeader = (path: string): boolean => isOurs(readHeader(path));

/** Returns when a file's content, or a folder's list of files, is on disk. */
export function flushToDisk(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

const isOurs = (header: Buffer): boolean =>
  header.length === headerBytes &&
  header.toString('latin1', 0, 16) === 'SQLite format 3\0' &&
  header.readUInt32BE(applicationIdOffset) === applicationId;

function readHeader(path: string): Buffer {
  const handle = openSync(path, 'r');
  try {
    const header = Buffer.alloc(headerBytes);
    return header.subarray(0, readSync(handle, header, 0, headerBytes, 0));
  } finally {
    closeSync(handle);
  }
}
