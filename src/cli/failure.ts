import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CommanderError } from 'commander';
import { ApiError } from '#client/call.ts';
import type { Config } from '#server/app.ts';
import { visibleText } from './terminal-text.ts';

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

/** Ends with this exit code, without a message: what went wrong has been printed. */
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
  if (isFull(code)) return new Failure(`no space left for ${file}: make room on its disk`);
  if (/^(EIO|SQLITE_IOERR)/.test(code ?? '') || error.message.includes('the disk refused')) {
    const reason = code === 'unavailable' ? error.message : code;
    return new Failure(
      `the disk of ${file} is full or fails (${reason}): make room on it, or check it for errors`,
    );
  }
  if (/^SQLITE_NOTADB/.test(code ?? '')) return new Failure(`${file} is no database: ${elsewhere}`);
  if (/^SQLITE_CORRUPT/.test(code ?? '')) {
    return new Failure(`${file} is damaged: put a backup in its place with belfry restore FILE`);
  }
  if (/^SQLITE_BUSY/.test(code ?? '')) return new Failure(`another process holds ${file}: try again`);
  return error;
}

/** EDQUOT: the user's share of the disk is full. */
const isFull = (code: unknown): boolean => /^(ENOSPC|EDQUOT|SQLITE_FULL)$/.test(String(code));

/** Of TLS, in words of Node and OpenSSL, or of a file that `url` names, as in sslrootcert=/etc/belfry/ca.pem. */
const isOfTls = ({ code = '', message, path }: NodeJS.ErrnoException, url: string): boolean =>
  path === undefined
    ? /^ERR_(SSL|TLS|OSSL)|CERT|^UNABLE_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|^EPROTO$/.test(code) ||
      /\b(SSL|TLS)\b/.test(message)
    : new URL(url).search.includes(path);

/** PostgreSQL refused user or password, or none was given. */
const isOfPassword = ({ code = '', message }: NodeJS.ErrnoException): boolean =>
  /^28/.test(code) || message.startsWith('SASL');

function postgresFailure(error: Error, url: string): unknown {
  const cause: NodeJS.ErrnoException = error.cause instanceof Error ? error.cause : error;
  const { code = '' } = cause;
  const { host, pathname } = new URL(url);
  if (code === '53100')
    return new Failure(
      `no space left on the disk of PostgreSQL at ${host}${pathname} (${inOneLine(cause.message)}): make room there`,
    );
  if (code === '42501')
    return new Failure(
      `the user of BELFRY_DATABASE_URL may not set up ${host}${pathname} (${cause.message}): make it the owner of the database`,
    );
  const isUnavailable = 'code' in error && error.code === 'unavailable';
  const isTls = isOfTls(cause, url);
  // Of the SQLite file on the other side of belfry migrate.
  if (isFull(code) || (cause.path !== undefined && !isTls)) return error;
  if (!isUnavailable && !isTls && !/^(E[A-Z]+|08|28|3D|57)/.test(code) && !cause.message.includes('timeout'))
    return error;
  return new Failure(
    `cannot use PostgreSQL at ${host}${pathname} (${inOneLine(cause.message) || code}): ${
      isOfPassword(cause)
        ? 'check user and password in BELFRY_DATABASE_URL, PGPASSWORD or PGPASSFILE'
        : isTls
          ? 'check sslmode and sslrootcert in BELFRY_DATABASE_URL, and the certificate of the server'
          : 'check BELFRY_DATABASE_URL, and that the server runs'
    }`,
  );
}

/** OpenSSL ends its texts with a line break, and may have several lines. */
const inOneLine = (text: string): string => text.trim().replaceAll(/\s*\n\s*/g, '; ');

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
  if (isFull(error.code)) return new Failure(`no space left for ${path}: name a file on another disk`);
  if (!('syscall' in error)) return error;
  return new Failure(
    `cannot write ${path} (${String(error.code)}): name a file in a folder that this user may write to`,
  );
}

interface ErrorMessage {
  /** For stderr, one line each. */
  readonly lines: readonly string[];
  readonly exitCode: number;
}

/** Turns any error into a message and an exit code. An unexpected error is shown with its stack. */
export function errorMessage(error: unknown): ErrorMessage {
  if (error instanceof Failure) return { lines: error.message.split('\n'), exitCode: error.exitCode };
  if (error instanceof EndedWith) return { lines: [], exitCode: error.exitCode };
  if (error instanceof CommanderError) return commanderMessage(error);
  if (error instanceof ApiError)
    return { lines: [visibleText(error.message)], exitCode: error.status === 400 ? 2 : 1 };
  if (isConfigError(error)) return { lines: error.problems, exitCode: 2 };
  if (isAppError(error)) return { lines: [error.message], exitCode: error.code === 'bad-request' ? 2 : 1 };
  const unexpected = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { lines: [`unexpected: ${unexpected}`], exitCode: 1 };
}

/** Requested help is not an error. Help is one when no command was named; it was printed already. */
function commanderMessage(error: CommanderError): ErrorMessage {
  if (error.exitCode === 0) return { lines: [], exitCode: 0 };
  if (error.code === 'commander.help') return { lines: [], exitCode: 2 };
  const message = error.message
    .replace(/^error: /, '')
    .replace('(Did', '(did')
    .replace(/\.$/, '');
  return { lines: [message.replaceAll('\n', ' ')], exitCode: 2 };
}

/** This error and the next are recognised by name, because importing their classes would load the whole server. */
function isConfigError(error: unknown): error is Error & { problems: readonly string[] } {
  return error instanceof Error && error.name === 'ConfigError' && 'problems' in error;
}

function isAppError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && error.name === 'AppError' && 'code' in error;
}
