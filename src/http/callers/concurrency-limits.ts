import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Metrics } from '#core/observability/metrics.ts';
import { endWhenStalled } from '../requests.ts';
import type { App, ExpensiveKind } from '../services.ts';

interface Limit {
  readonly most: number;
  readonly plural: string;
  readonly retryAfterSeconds: number;
  /** How many more wait for their turn before others are refused. */
  readonly waiting?: number;
  /** It counts until its connection has taken the whole answer, and not only until its handler has finished. */
  readonly untilClosed?: true;
}

/** How many requests of each kind one tenant may have running at the same time. */
const kinds: Readonly<Record<ExpensiveKind, Limit>> = {
  search: { most: 16, plural: 'searches', retryAfterSeconds: 1 },
  count: { most: 16, plural: 'counts', retryAfterSeconds: 1 },
  /** A draft may have as many rules as a tenant, each is compiled, and viewers may ask. */
  explain: { most: 2, plural: 'explains', retryAfterSeconds: 1 },
  /** The main thread makes them. */
  'mapping preview': { most: 1, plural: 'previews of mappings', retryAfterSeconds: 1, waiting: 20 },
  replay: { most: 1, plural: 'replays', retryAfterSeconds: 5 },
  /** An export runs for as long as its client reads. */
  export: { most: 8, plural: 'exports', retryAfterSeconds: 10 },
  calendar: { most: 2, plural: 'readings of calendars', retryAfterSeconds: 5 },
  'channel test': { most: 2, plural: 'tests of channels', retryAfterSeconds: 5 },
  /** As many screens as a tenant may have panels, and room for those that reconnect before their old stream has ended. */
  'panel stream': { most: 30_000, plural: 'streams of panels', retryAfterSeconds: 30, untilClosed: true },
  /** One may read 10,000 entries. All phones ask after a restart, and the Android app does not ask again. */
  'phone messages': { most: 4, plural: 'lists of messages', retryAfterSeconds: 5, waiting: 10_000 },
  'history stream': { most: 500, plural: 'streams of history', retryAfterSeconds: 30, untilClosed: true },
  /** It may write 20,000 rules in one transaction, for which the notifications of all tenants wait, and it answers with them. */
  'rule order': {
    most: 1,
    plural: 'changes of the order of rules',
    retryAfterSeconds: 1,
    waiting: 20,
    untilClosed: true,
  },
  /** Lists that may have tens of megabytes. Small ones take a millisecond, so nobody notices that others wait. */
  list: { most: 2, plural: 'lists', retryAfterSeconds: 1, waiting: 100, untilClosed: true },
};

/** Others get their turn after this time, even if the one before them has not been read or is behind an open stream. */
const longestTurnMs = 10_000;

/**
 * Applies to every route whose config names an `expensive` kind. A request beyond the limit is a 429 before its body is
 * read. A request counts until its handler has finished, whether or not the caller still waits; one that answers with a
 * stream counts until the stream has been sent, or has ended. One that never reaches its handler counts until it is answered.
 * Lists wait for their turn, as pages ask for several at once.
 */
export function limitConcurrency(app: App, metrics: Metrics): void {
  /** How many requests run, by tenant and kind. */
  const running = new Map<string, number>();
  /** Requests that wait for their turn, in order, by tenant and kind. */
  const waiting = new Map<string, Set<() => void>>();
  /** Requests that count and whose handler has not taken over to release them: it never does if they count until closed. */
  const unreleased = new WeakSet<FastifyRequest>();
  const release = (name: string) => {
    const left = (running.get(name) ?? 1) - 1;
    if (left > 0) running.set(name, left);
    else running.delete(name);
    const queue = waiting.get(name);
    const [next] = queue ?? [];
    if (next) queue?.delete(next);
    if (queue?.size === 0) waiting.delete(name);
    next?.();
  };
  app.addHook('onRoute', (route) => {
    const kind = route.config?.expensive;
    if (kind === undefined) return;
    const { handler, onRequest = [] } = route;
    const { most, waiting: mostWaiting = 0, untilClosed } = kinds[kind];
    const acquire = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
      const { tenant } = request.principal;
      const name = nameOf(tenant, kind);
      // Its socket closed before this hook: no `close` would follow that could release it.
      if (request.raw.socket.destroyed) return done(cutOff());
      const queue = waiting.get(name) ?? new Set();
      const isFree = (running.get(name) ?? 0) < most;
      if (!isFree && queue.size >= mostWaiting) {
        metrics.of(tenant).rateLimited('concurrency');
        return done(tooMany(kind));
      }
      let timer: NodeJS.Timeout | undefined;
      const leave = () => {
        clearTimeout(timer);
        if (unreleased.delete(request)) release(name);
        else if (queue.delete(enter)) done(cutOff());
      };
      const enter = () => {
        running.set(name, (running.get(name) ?? 0) + 1);
        unreleased.add(request);
        if (mostWaiting > 0) {
          endWhenStalled(reply.raw);
          timer = setTimeout(leave, longestTurnMs).unref();
        }
        done();
      };
      whenClosed(request, reply, leave);
      if (isFree) enter();
      else waiting.set(name, queue.add(enter));
    };
    route.onRequest = [onRequest, acquire].flat();
    route.handler = async function (request, reply) {
      const counts = !untilClosed && unreleased.delete(request);
      try {
        // A handler that answers with a stream resolves when the stream has been sent.
        return await handler.call(this, request, reply);
      } finally {
        if (counts) release(nameOf(request.principal.tenant, kind));
      }
    };
  });
}

const cutOff = () => new AppError('timeout', 'the request was cut off');
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
