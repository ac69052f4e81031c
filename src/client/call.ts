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
async function errorOf(response: Response): Promise<ApiError> {
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

export interface CallerOptions {
  /** Where the server is, as in http://127.0.0.1:8080; a path in front of its own is kept. */
  readonly url: string;
  /** An API token or an automation key; a page without one uses the session of the signed-in person. */
  readonly token?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** One authenticated request; the answer is a success, anything else is thrown as an ApiError. */
export type Call = (method: string, path: string, options?: CallOptions) => Promise<Response>;

export function createCall({ url, token, headers: always, fetch: send = fetch }: CallerOptions): Call {
  const base = url.replace(/\/+$/, '');
  return async (method, path, { body, headers, signal } = {}) => {
    let response: Response;
    try {
      response = await send(base + path, {
        method,
        cache: 'no-store',
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...always,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
    } catch (error) {
      throw new ApiError(0, `no answer from ${base}: ${reasonOf(error)}`, { cause: error });
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  };
}

export interface RequestOptions extends CallOptions {
  /** In place of the usual time limit. */
  readonly timeoutMs?: number;
}

/** A call whose answer is read: its JSON, or undefined if it has no body. The time limit includes reading it. */
export type Request = <T>(method: string, path: string, options?: RequestOptions) => Promise<T>;

export function createRequest(call: Call, usualTimeoutMs = 15_000): Request {
  return <T>(method: string, path: string, options: RequestOptions = {}) => {
    const { timeoutMs = usualTimeoutMs, signal, ...rest } = options;
    return withTimeLimit(timeoutMs, signal, async (limited) => {
      const response = await call(method, path, { ...rest, signal: limited });
      return response.status === 204 ? (undefined as T) : jsonOf<T>(response);
    });
  };
}

async function jsonOf<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch (error) {
    throw new ApiError(response.status, 'the answer is not JSON: is this a Belfry server?', { cause: error });
  }
}

/** fetch hides what happened one or two causes deep. */
function reasonOf(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  if (!(inner instanceof Error)) return String(inner);
  const code: unknown = 'code' in inner ? inner.code : undefined;
  return inner.message || (typeof code === 'string' ? code : inner.name);
}

/**
 * Runs `work` with a signal that aborts after `timeoutMs`, or when `signal` does. `work` must include reading the body:
 * on a half-open connection an answer can stop anywhere.
 *
 * @throws ApiError with status 0 when the time is over.
 */
export async function withTimeLimit<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const stop = () => abort.abort(signal?.reason);
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    abort.abort();
  }, timeoutMs);
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  try {
    return await work(abort.signal);
  } catch (error) {
    if (!isOver) throw error;
    throw new ApiError(0, `no answer within ${timeoutMs / 1_000} s`, { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
