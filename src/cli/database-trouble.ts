import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Failure } from './failure.ts';

/** Puts what the file system or SQLite said about the database into words; other errors stay as they are. */
export function databaseTrouble(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  const file = resolve(path);
  const elsewhere = 'set BELFRY_DATABASE_URL to another place';
  if (isFolder(file)) return new Failure(`${file} is a folder: set BELFRY_DATABASE_URL to a file in it`);
  if (/^(EACCES|EPERM|EROFS|SQLITE_READONLY|SQLITE_CANTOPEN)/.test(code ?? '')) {
    return new Failure(`cannot write ${file}: make ${dirname(file)} writable for this user, or ${elsewhere}`);
  }
  if (/^(ENOTDIR|EEXIST|EISDIR)/.test(code ?? '')) {
    return new Failure(`cannot make ${file}: ${dirname(file)} is no folder; ${elsewhere}`);
  }
  if (/^(ENOSPC|SQLITE_FULL)/.test(code ?? ''))
    return new Failure(`no space left for ${file}: make room on its disk`);
  if (/^SQLITE_NOTADB/.test(code ?? '')) return new Failure(`${file} is no database: ${elsewhere}`);
  if (/^SQLITE_CORRUPT/.test(code ?? '')) {
    return new Failure(`${file} is damaged: put a backup in its place with belfry restore FILE`);
  }
  if (/^SQLITE_BUSY/.test(code ?? '')) return new Failure(`another process holds ${file}: try again`);
  return error;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** As {@link databaseTrouble}, for what the file system said about a file that was to be written. */
export function outputTrouble(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  if (error.code === 'ENOSPC') return new Failure(`no space left for ${path}: name a file on another disk`);
  return new Failure(
    `cannot write ${path} (${String(error.code)}): name a file in a folder that this user may write to`,
  );
}
