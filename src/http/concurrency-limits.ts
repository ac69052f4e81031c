import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#core/errors.ts';
import type { Metrics } from '#core/metrics.ts';
import type { TenantId } from '#core/ports.ts';
import type { App, ExpensiveKind } from './services.ts';

interface Limit {
  readonly most: number;
  readonly plural: string;
  readonly retryAfterSeconds: number;
}

/** How many requests of each kind one tenant may have running at the same time. */
const kinds: Readonly<Record<ExpensiveKind, Limit>> = {
  search: { most: 16, plural: 'searches', retryAfterSeconds: 1 },
  count: { most: 16, plural: 'counts', retryAfterSeconds: 1 },
  /** A draft may have as many rules as a tenant, each is compiled, and viewers may ask. */
  explain: { most: 2, plural: 'explains', retryAfterSeconds: 1 },
  replay: { most: 1, plural: 'replays', retryAfterSeconds: 5 },
  /** An export runs for as long as its client reads. */
  export: { most: 8, plural: 'exports', retryAfterSeconds: 10 },
  'channel test': { most: 2, plural: 'tests of channels', retryAfterSeconds: 5 },
};

/**
 * Applies to every route whose config names an `expensive` kind. A request beyond the limit is a 429 before its body is
 * read. A request counts until its handler has finished, whether or not the caller still waits; one that answers with a
 * stream counts until the stream has been sent. One that never reaches its handler counts until it is answered.
 */
export function limitConcurrency(app: App, metrics: Metrics): void {
  /** How many requests run, by tenant and kind. */
  const running = new Map<string, number>();
  /** Requests that count and have not reached their handler. */
  const unhandled = new WeakSet<FastifyRequest>();
  const release = (name: string) => {
    const left = (running.get(name) ?? 1) - 1;
    if (left > 0) running.set(name, left);
    else running.delete(name);
  };
  app.addHook('onRoute', (route) => {
    const kind = route.config?.expensive;
    if (kind === undefined) return;
    const { handler, onRequest = [] } = route;
    const acquire = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
      // Its caller left during authentication: no `close` would follow that could release it.
      if (reply.raw.destroyed) return done(new AppError('timeout', 'the request was cut off'));
      const { tenant } = request.principal;
      const name = nameOf(tenant, kind);
      const count = running.get(name) ?? 0;
      if (count >= kinds[kind].most) {
        metrics.of(tenant).rateLimited('concurrency');
        return done(tooMany(kind));
      }
      running.set(name, count + 1);
      unhandled.add(request);
      whenClosed(request, reply, () => {
        if (unhandled.delete(request)) release(name);
      });
      done();
    };
    route.onRequest = [onRequest, acquire].flat();
    route.handler = async function (request, reply) {
      const counts = unhandled.delete(request);
      try {
        // A handler that answers with a stream resolves when the stream has been sent.
        return await handler.call(this, request, reply);
      } finally {
        if (counts) release(nameOf(request.principal.tenant, kind));
      }
    };
  });
}

const nameOf = (tenant: TenantId, kind: ExpensiveKind) => `${tenant} ${kind}`;

function tooMany(kind: ExpensiveKind): AppError {
  const { most, plural, retryAfterSeconds } = kinds[kind];
  const message = `this tenant has ${most} ${plural} running, the most at once: try again when one has ended`;
  return new AppError('rate-limited', message, { retryAfterSeconds });
}

/**
 * Calls back once. The response of a pipelined request whose turn never comes never closes, but its socket does. Each
 * pipelined request adds a listener; the limits bound their number, so Node's warning at ten is switched off.
 */
function whenClosed({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply, callback: () => void): void {
  const onClose = () => {
    raw.off('close', onClose);
    socket.off('close', onClose);
    callback();
  };
  raw.once('close', onClose);
  socket.setMaxListeners(0).once('close', onClose);
}
