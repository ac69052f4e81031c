import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { limits } from '#contract/limits.ts';
import { AppError } from '#core/errors.ts';

/** The problem of a request's head, independent of its sender. */
export function findHeadProblem({ rawHeaders, headers, httpVersion }: IncomingMessage): AppError | undefined {
  if (rawHeaders.length > limits.headerPairs * 2) {
    return new AppError(
      'headers-too-large',
      `at most ${limits.headerPairs} headers are taken, not ${rawHeaders.length / 2}`,
    );
  }
  // The parser accepts 0.9 and 2.0, but clients of these versions could not read the answer.
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new AppError('bad-request', `HTTP/1.1 is spoken here, not HTTP/${httpVersion}`);
  if (headers.host === undefined && httpVersion === '1.1')
    return new AppError('bad-request', 'the Host header is required');
  return undefined;
}

/** Whether a body was announced. One that turns out to be empty may arrive as late as any other. */
export function bodyFollows(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}
