import type { ErrorPlace } from '#contract/error-header.ts';
import type { ErrorCode } from '#contract/errors.ts';

/**
 * The only error that is sent to callers. `message` names the problem and how to correct it, and is sent unchanged. Any other
 * error is a bug: it is logged in full and answered as `internal error`.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** For `rate-limited` and `unavailable`: the time to retry. */
  readonly retryAfterSeconds: number | undefined;
  /** Where in the request the problem is, for programs. */
  readonly place: ErrorPlace | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { retryAfterSeconds?: number | undefined; cause?: unknown; place?: ErrorPlace | undefined } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.place = options.place;
  }
}

export const badRequest = (message: string) => new AppError('bad-request', message);
/** An error in a field of the body, by its path, as in when.ip[0]: the message begins with the path. */
export const badField = (path: string, message: string) =>
  new AppError('bad-request', `${path}: ${message}`, { place: { pointer: pointerOf(path) } });
const pointerOf = (path: string) => path.replace(/^|\[|\./g, '/').replaceAll(']', '');
/** The path of a JSON Pointer, as errors name a field: when.ip[0] of /when/ip/0. */
export function pathOf(pointer: string): string {
  const steps = pointer.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce((path, step) => {
    if (/^\d+$/.test(step)) return `${path}[${step}]`;
    return path === '' ? step : `${path}.${step}`;
  });
}
export const unauthorized = (message = 'unauthorized') => new AppError('unauthorized', message);
export const conflict = (message: string) => new AppError('conflict', message);
export const forbidden = (message = 'forbidden') => new AppError('forbidden', message);
/** `which`: the limit, if it is not one of the caller's own. */
export const rateLimited = (retryAfterSeconds: number, which?: string) =>
  new AppError('rate-limited', `rate limit exceeded${which === undefined ? '' : `: ${which}`}`, {
    retryAfterSeconds,
  });
export const notFound = (what: string) => new AppError('not-found', `${what} not found`);
/** What was looked for. @throws AppError `not-found` when it is not there. */
export function requireFound<T>(found: T | false | null | undefined, what: string): T {
  if (found === false || found === null || found === undefined) throw notFound(what);
  return found;
}
export const unavailable = (message: string, cause?: unknown) =>
  new AppError('unavailable', message, { retryAfterSeconds: 1, cause });
