/** The id of a request: in its answer, and in each log line about it. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';

export const requestIdHeader = 'x-request-id';

const ids = new WeakMap<IncomingMessage, string>();

/** What log readers and shells take as one word. */
const acceptable = /^[\w.:+/=@-]{1,128}$/;

/** The id of a request that {@link nameRequests} has named. */
export const requestIdOf = (request: IncomingMessage): string | undefined => ids.get(request);

/** Gives each request the caller's `X-Request-Id`, or a new one if that has other characters, and its answer the same. */
export function nameRequests(server: Server): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const given = request.headers[requestIdHeader];
    const id = typeof given === 'string' && acceptable.test(given) ? given : randomUUID();
    ids.set(request, id);
    response.setHeader(requestIdHeader, id);
  });
}

/** One log line for each request, without its query, which may hold a credential. */
export function logRequests(server: Server, logger: FastifyBaseLogger): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const began = performance.now();
    response.once('close', () => {
      const { method, url = '' } = request;
      const ms = Math.round(performance.now() - began);
      const { statusCode: status } = response;
      logger.info(
        { requestId: requestIdOf(request), method, path: pathOf(url), status, ms },
        response.writableFinished ? 'answered' : 'cut off',
      );
    });
  });
}

/** The secret of a pairing is in its path. */
const pathOf = (url: string) => url.replace(/[?#].*$/s, '').replace(/^(\/api\/pairings\/).+/s, '$1…');
