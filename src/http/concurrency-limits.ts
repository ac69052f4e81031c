import type { Socket } from 'node:net';
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
 * stream counts until the stream has ended.
 */
export function limitConcurrency(app: App, metrics: Metrics): void {
  const running = new RunningRequests();
  const slots = new WeakMap<FastifyRequest, Slot>();
  app.addHook('onRoute', (route) => {
    const kind = route.config?.expensive;
    if (kind === undefined) return;
    const { handler, onRequest = [] } = route;
    const acquire = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
      const { tenant } = request.principal;
      if (running.add(tenant, kind)) {
        slots.set(request, new Slot(request, reply, () => running.remove(tenant, kind)));
        return done();
      }
      metrics.of(tenant).rateLimited('concurrency');
      done(tooMany(kind));
    };
    route.onRequest = [onRequest, acquire].flat();
    route.handler = function (request, reply) {
      const work = async () => handler.call(this, request, reply);
      return slots.get(request)?.hold(work) ?? work();
    };
  });
}

function tooMany(kind: ExpensiveKind): AppError {
  const { most, plural, retryAfterSeconds } = kinds[kind];
  const message = `this tenant has ${most} ${plural} running, the most at once: try again when one has ended`;
  return new AppError('rate-limited', message, { retryAfterSeconds });
}

/** How many requests of each kind each tenant has running. */
class RunningRequests {
  readonly #counts = new Map<string, number>();

  /** Returns false, and adds none, when the limit is reached. */
  add(tenant: TenantId, kind: ExpensiveKind): boolean {
    const name = `${tenant} ${kind}`;
    const count = this.#counts.get(name) ?? 0;
    if (count >= kinds[kind].most) return false;
    this.#counts.set(name, count + 1);
    return true;
  }

  remove(tenant: TenantId, kind: ExpensiveKind): void {
    const name = `${tenant} ${kind}`;
    const count = (this.#counts.get(name) ?? 1) - 1;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }
}

/** One running request; its slot is released when both the handler and the response have ended. */
class Slot {
  readonly #reply: FastifyReply;
  readonly #socket: Socket;
  readonly #giveBack: () => void;
  #handling = false;
  #closed = false;

  constructor({ raw }: FastifyRequest, reply: FastifyReply, giveBack: () => void) {
    this.#reply = reply;
    this.#socket = raw.socket;
    this.#giveBack = giveBack;
    reply.raw.once('close', this.#onClose);
    // The response of a pipelined request whose turn never comes never closes, but its socket does. Each pipelined
    // request adds a listener; the limits bound their number, so Node's warning at ten is switched off.
    this.#socket.setMaxListeners(0).once('close', this.#onClose);
  }

  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#handling = true;
    try {
      // A handler that answers with a stream resolves when the stream has been sent.
      return await work();
    } finally {
      this.#handling = false;
      if (this.#closed) this.#giveBack();
      else this.#onClose();
    }
  }

  /** Runs once, whichever comes first. */
  readonly #onClose = (): void => {
    this.#reply.raw.off('close', this.#onClose);
    this.#socket.off('close', this.#onClose);
    this.#closed = true;
    if (!this.#handling) this.#giveBack();
  };
}
