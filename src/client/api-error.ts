/**
 * What a call failed with. `message` is the server's own sentence when it gave one.
 * `status` is the answer's; 0 when no answer came, and then `cause` says why.
 */
export class ApiError extends Error {
  readonly status: number;
  /** When the server asks to come back, if it does. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    message: string,
    options: { retryAfterSeconds?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.status = status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Reads the error an answer tells of. The body is taken as it is: a proxy in between may have written it. */
export async function errorOf(response: Response): Promise<ApiError> {
  const retryAfter = response.headers.get('retry-after') ?? '';
  return new ApiError(response.status, await sentenceOf(response), {
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
