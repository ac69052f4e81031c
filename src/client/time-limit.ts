import { ApiError } from './api-error.ts';

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
