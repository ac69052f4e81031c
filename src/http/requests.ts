/** What every request has before its route: a correct head, an id, a tidy path, a span, and a connection that may end. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { limits } from '#contract/limits.ts';
import { AppError, badRequest } from '#core/errors.ts';
import type { Tracer } from '#core/observability/tracing.ts';
import type { App } from './services.ts';

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
    return badRequest(`HTTP/1.1 is spoken here, not HTTP/${httpVersion}`);
  if (headers.host === undefined && httpVersion === '1.1') return badRequest('the Host header is required');
  return undefined;
}

/** Whether a body was announced. One that turns out to be empty may arrive as late as any other. */
export function bodyFollows(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

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

/** The secret of a pairing is in its path, and what allows a phone to act. */
const pathOf = (url: string) =>
  url.replace(/[?#].*$/s, '').replace(/^(\/api\/pairings\/|\/ntfy\/act\/).+/s, '$1…');

/** The path of a request, as clients write it that join a base URL and a path. */

/** Slashes that follow each other, or end the path. Also matches some queries, which is harmless. */
const untidy = /\/(?:[/?#]|$)/;
/** Pages whose path ends with a slash. */
const page = /^\/(?:(?:docs|t)(?:\/.*)?)?$/s;

/**
 * The URL without doubled slashes in its path, and without one at its end, unless it is a page of a browser. A DELETE keeps that
 * slash: without the id that should follow it, the path may name all of a list.
 */
export function tidyUrl(url: string, method = 'GET'): string {
  if (!untidy.test(url)) return url;
  const [, origin = '', path = '', rest = ''] = /^(https?:\/\/[^/?#]*)?([^?#]*)(.*)$/is.exec(url) ?? [];
  const single = path.replace(/\/{2,}/g, '/');
  return origin + (method === 'DELETE' || page.test(single) ? single : single.replace(/\/$/, '')) + rest;
}

/** Whatever listens for requests later sees their tidy URLs. */
export function tidyUrls(server: Server): void {
  server.prependListener('request', (request: IncomingMessage) => {
    request.url = tidyUrl(request.url ?? '', request.method);
  });
}

const signals = new WeakMap<Socket, AbortSignal>();

/**
 * Aborts when the caller closes the connection or half-closes it, because the server cannot distinguish the two until it
 * writes. Long work stops then. The abort reason is an AppError `timeout`.
 */
export function connectionSignal({ raw: { socket } }: FastifyRequest): AbortSignal {
  const known = signals.get(socket);
  if (known) return known;
  const controller = new AbortController();
  const close = () =>
    controller.abort(new AppError('timeout', 'the connection was closed before the work was done'));
  if (socket.readableEnded || socket.destroyed) close();
  socket.once('end', close);
  socket.once('close', close);
  signals.set(socket, controller.signal);
  return controller.signal;
}

/**
 * Disconnects a client that has read nothing for `stalledMs` milliseconds although text waits for it, because it would hold one of the
 * tenant's exports or lists. If no text waits, the server is still working on it.
 */
export function endWhenStalled(response: ServerResponse, stalledMs = 60_000): void {
  response.setTimeout(stalledMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}

/** What machines ask every few seconds would bury the traces of others. */
const isWatching = (url: string) => ['/healthz', '/readyz', '/metrics'].includes(url);

/** Streams stay open for hours, so a separate span measures how long opening a stream took. */
const isStream = (url: string) => /\/(?:events|stream)$|^\/ntfy\/:topic\/(?:json|sse|raw|ws)$/.test(url);

const isNotify = (url: string) => url === '/api/notify' || url === '/api/notify/send';

interface TracedRequest {
  /** Method and route. */
  readonly name: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Runs `work` in the span of a request, which ends with its response. */
export function traceRequest<T>(
  tracer: Tracer,
  { name, request, response }: TracedRequest,
  work: () => T,
): T {
  const { traceparent } = request.headers;
  return tracer.serve(name, typeof traceparent === 'string' ? traceparent : undefined, (span) => {
    const [method = '', route = ''] = name.split(' ');
    span.set('http.request.method', method);
    span.set('http.route', route);
    response.once('close', () => {
      span.set('http.response.status_code', response.statusCode);
      span.end(response.statusCode >= 500 ? new Error() : undefined);
    });
    return work();
  });
}

/** A span for each request that has a route. Notifications get theirs in their handler. */
export function traceRequests(app: App, tracer: Tracer): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { url = '' } = request.routeOptions;
    if (request.is404 || isStream(url) || isWatching(url) || isNotify(url)) return done();
    traceRequest(
      tracer,
      { name: `${request.method} ${url}`, request: request.raw, response: reply.raw },
      () => done(),
    );
  });
}
