/** The database as a file: where it really is, who may read it, and whether it is Belfry's. */
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError } from '#core/errors.ts';

/** Marks a SQLite file as Belfry's ("Belf"): `PRAGMA application_id`, kept in the file's header. */
export const applicationId = 0x42656c66;

const headerBytes = 100;
const applicationIdOffset = 68;

/**
 * The path of the file itself, however it is reached: SQLite puts its write-ahead log there, and everything else that is
 * kept beside the database must be found by whoever comes by another path. The file need not exist.
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

/** Makes a file, and the folders on the way to it, for this user alone; what exists keeps its permissions. */
export function makePrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
}

/**
 * Reads the header without SQLite, which might write to the file: finish a transaction, or make files beside it.
 *
 * @throws AppError `conflict` when the file holds anything but a database of Belfry; an empty file is a new database.
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

/** Waits until a file's content, or a folder's list of files, is on the disk itself. */
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
