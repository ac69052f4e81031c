import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from '#app.ts';

/** A command failed for a reason that its user can fix. */
export class Failure extends Error {
  /** 1: it failed; 2: wrong usage or configuration. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}

/** Carries the exit code of the command that `belfry run` ran. The command has printed its own error. */
export class EndedWith extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`the command ended with ${exitCode}`);
    this.name = 'EndedWith';
    this.exitCode = exitCode;
  }
}

/** Turns errors of the database, its file or the way to it into messages for people; other errors stay as they are. */
export function databaseFailure(error: unknown, database: Config['database']): unknown {
  if (!(error instanceof Error)) return error;
  if (database.kind === 'postgres') return postgresFailure(error, database.url);
  const { code } = error as NodeJS.ErrnoException;
  const file = resolve(database.path);
  const elsewhere = 'set BELFRY_DATABASE_URL to another place';
  if (isFolder(file)) return new Failure(`${file} is a folder: set BELFRY_DATABASE_URL to a file in it`);
  if (/^(EACCES|EPERM|EROFS|SQLITE_READONLY|SQLITE_CANTOPEN)/.test(code ?? '')) {
    return new Failure(
      `cannot write ${file}: this user must be able to write to ${dirname(file)} and to every file in it; or ${elsewhere}`,
    );
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

function postgresFailure(error: Error, url: string): unknown {
  const cause = error.cause instanceof Error ? error.cause : error;
  const { code = '' } = cause as NodeJS.ErrnoException;
  const { host, pathname } = new URL(url);
  if (code === '42501')
    return new Failure(
      `the user of BELFRY_DATABASE_URL may not set up ${host}${pathname} (${cause.message}): make it the owner of the database`,
    );
  const isUnavailable = 'code' in error && error.code === 'unavailable';
  if (!isUnavailable && !/^(E[A-Z]+|08|28|3D|57)/.test(code) && !cause.message.includes('timeout'))
    return error;
  return new Failure(
    `cannot use PostgreSQL at ${host}${pathname} (${cause.message || code}): check BELFRY_DATABASE_URL, and that the server runs`,
  );
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // There is nothing, or this user may not look.
    return false;
  }
}

/** As {@link databaseFailure}, for an output file. */
export function outputFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (error.code === 'ENOSPC' || error.code === 'SQLITE_FULL')
    return new Failure(`no space left for ${path}: name a file on another disk`);
  if (!('syscall' in error)) return error;
  return new Failure(
    `cannot write ${path} (${String(error.code)}): name a file in a folder that this user may write to`,
  );
}
