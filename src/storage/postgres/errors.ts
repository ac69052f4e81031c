/** What errors of PostgreSQL, and of the connection to it, mean. */
import { AppError, badRequest } from '#core/errors.ts';

/** Errors after which the same transaction may succeed: a deadlock, or a conflict between transactions. */
const retryable = new Set(['40001', '40P01']);
/** Classes of errors that say nothing about the request: a lock or a statement that took too long, and as in {@link isLost}. */
const unavailableClasses = new Set(['08', '53', '55', '57', '58']);

export const isRetryable = (error: unknown): boolean => retryable.has(codeOf(error));

/** A statement ran into its time-out. */
export const isTimeout = (error: unknown): boolean => codeOf(causeOf(error)) === '57014';

/** A lock was not free within the time that a statement waits for it. */
export const isLockTimeout = (error: unknown): boolean => codeOf(causeOf(error)) === '55P03';

/** A row has no partition to go to: the next ones must be made. */
export const isMissingPartition = (error: unknown): boolean =>
  codeOf(error) === '23514' && (error as { routine?: unknown }).routine === 'ExecFindPartition';

/** A table is not there: a partition that was dropped meanwhile. */
export const isMissingTable = (error: unknown): boolean => codeOf(causeOf(error)) === '42P01';

/**
 * There is no connection, its certificate is wrong, PostgreSQL starts or stops, or its disk is full or fails. One connection too many (53300) is no loss:
 * those that are open go on.
 */
export function isLost(error: Error): boolean {
  const code = codeOf(error);
  if (code === '') return error.name === 'Error' && /connect|terminated|timeout|SASL/i.test(error.message);
  // Those of Node are words, as in ECONNREFUSED and CERT_HAS_EXPIRED; those of PostgreSQL have digits, and so have some of OpenSSL.
  return /^([A-Z_]+|ERR_\w+)$/.test(code) || /^(08|25006|28|3D|53100|57P|58)/.test(code);
}

/** Nobody answers at the address of PostgreSQL, or it is starting or stopping: it may answer later, without a change by anybody. */
export function isAway(error: unknown): boolean {
  const cause = causeOf(error);
  const code = codeOf(cause);
  if (code === '') return cause instanceof Error && /timeout|terminated/i.test(cause.message);
  return /^(ECONN|ETIMEDOUT|EPIPE|E(HOST|NET)UNREACH|EAI_AGAIN|ENOTFOUND|08|53300|57P)/.test(code);
}

/**
 * An error as callers get it: `unavailable` when the database cannot be used or something took too long, `bad-request` for a
 * value that PostgreSQL does not take. Any other stays as it is.
 */
export function toAppError(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (isLost(error) || isRetryable(error) || unavailableClasses.has(code.slice(0, 2)))
    return new AppError('unavailable', 'the database is not available; try again', {
      retryAfterSeconds: 1,
      cause: error,
    });
  if (code === '22021' || code === '22P05')
    return badRequest('a text holds a character that cannot be stored, such as U+0000');
  if (code.startsWith('22')) return badRequest('a value is out of the range that can be stored');
  return error;
}

const causeOf = (error: unknown): unknown => (error instanceof AppError ? error.cause : error);

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
