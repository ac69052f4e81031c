import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Tracer } from '#core/tracing.ts';
import type { App } from './services.ts';

/** What machines ask every few seconds would bury the traces of others. */
const isWatching = (url: string) => ['/healthz', '/readyz', '/metrics'].includes(url);

/** Streams stay open for hours, so a separate span measures how long opening a stream took. */
const isStream = (url: string) => /\/(?:events|stream)$/.test(url);

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
