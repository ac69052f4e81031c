/** What SQLite reports when the file or its disk is at fault. */

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Pages of the file are not what SQLite once wrote. No new try helps; what lies on other pages still works. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));

/** The disk failed or is full: the connection is not to be trusted any more, and a new one may work again. */
export const isDiskFailure = (error: unknown): boolean =>
  /^SQLITE_(IOERR|FULL|CANTOPEN|READONLY|NOMEM)/.test(codeOf(error));

/** Another process holds the database. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

export const isFull = (error: unknown): boolean => codeOf(error) === 'SQLITE_FULL';

/** For the answer to a request and for /readyz, which anybody may ask: the details are in the log. */
export const damaged = 'the database file is damaged: the server log says more';

/** For the log: what was met while doing what, and the way out. */
export function damageReport(error: unknown, doing: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return `the database file is damaged (${codeOf(error)}: ${message}; met by ${doing}): stop the server, copy its folder, check the disk, and put a backup in place with belfry restore FILE`;
}
