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
