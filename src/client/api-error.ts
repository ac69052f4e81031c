import { type ErrorPlace, errorHeader, parseErrorHeader } from '#contract/error-header.ts';
import type { ErrorCode } from '#contract/errors.ts';

/**
 * The error of a failed call. `message` is the server's own sentence if there is one: it is for people, so programs must not
 * compare it. `status` is that of the answer; 0 without an answer, and then `cause` is the reason.
 */
export class ApiError extends Error {
  readonly status: number;
  /** undefined when the answer is not from Belfry, but from a proxy or another server. */
  readonly code: string | undefined;
  readonly place: ErrorPlace;
  /** The server's `Retry-After`, if it sent one. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    message: string,
    options: {
      code?: string | undefined;
      place?: ErrorPlace | undefined;
      retryAfterSeconds?: number | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.status = status;
    this.code = options.code;
    this.place = options.place ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** The message without the leading `name: `, to be shown beside the field. */
  messageAfter(name: string): string {
    const start = this.message.indexOf(`${name}: `);
    return start < 0 ? this.message : this.message.slice(start + name.length + 2);
  }
}

/** Whether Belfry refused with this code. */
export const isCode = (error: unknown, code: ErrorCode): error is ApiError =>
  error instanceof ApiError && error.code === code;

/** Whether a retry may succeed: there was no answer, or only this attempt failed. */
export const isTemporary = (error: unknown): error is ApiError =>
  error instanceof ApiError && ([0, 408, 429].includes(error.status) || error.status >= 500);

/** Reads the error from an answer. Its body may be anything, as a proxy may have written it. */
export async function errorOf(response: Response): Promise<ApiError> {
  const retryAfter = response.headers.get('retry-after') ?? '';
  return new ApiError(response.status, await sentenceOf(response), {
    ...parseErrorHeader(response.headers.get(errorHeader)),
    retryAfterSeconds: /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined,
  });
}

async function sentenceOf(response: Response): Promise<string> {
  const fallback = `the server answered ${response.status} ${response.statusText}`.trimEnd();
  try {
    const body: unknown = await response.json();
    const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
    return typeof error === 'string' && error !== '' ? error : fallback;
  } catch {
    return fallback;
  }
}
