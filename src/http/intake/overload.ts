/**
 * Load shedding: when more is sent than can be stored, some notifications are refused, so that the others are answered in time.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorHeader, formatErrorHeader } from '#contract/error-header.ts';
import { unavailable } from '#core/errors.ts';
import { FairQueue } from '#core/limits/concurrency.ts';
import type { TenantId } from '#core/log/route.ts';

/** A notification that has arrived completely and is not answered yet. */
interface UnderWay {
  readonly since: number;
}

/** With a longer wait, further notifications are refused, so that answers take well under a second. */
const longestWaitMs = 200;
/** This many may always wait, so that a short pause of the disk does not refuse senders with little load. */
const alwaysUnderWay = 256;
/**
 * How long a refused connection is not read. Otherwise each connection would send its next request at once, and refusals would
 * use up the time for notifications.
 */
const restMs = 300;

/** Tracks notifications that have arrived completely and are not answered yet, the oldest first. */
export class IntakeGate {
  readonly #ticks: () => number;
  readonly #underWay = new Set<UnderWay>();

  /** `ticks`: milliseconds that only ever go forward. */
  constructor(ticks: () => number) {
    this.#ticks = ticks;
  }

  /** Whether new requests must be refused. */
  get isShut(): boolean {
    if (this.#underWay.size < alwaysUnderWay) return false;
    const oldest = this.#underWay.values().next().value;
    return oldest !== undefined && this.#ticks() - oldest.since > longestWaitMs;
  }

  /** Call it when a notification has arrived completely. Before that it waits for its sender. */
  enter(): UnderWay {
    const one = { since: this.#ticks() };
    this.#underWay.add(one);
    return one;
  }

  /** Call it when the answer is known. The time of sending the answer does not count. */
  leave(one: UnderWay): void {
    this.#underWay.delete(one);
  }
}

/** Pauses reading from connections. */
class RestingConnections {
  #gathered: Socket[] = [];

  rest(socket: Socket): void {
    this.#gathered.push(socket);
    // One timer for all connections of the same turn.
    if (this.#gathered.length === 1) setImmediate(() => this.#begin());
  }

  /** Pauses after Node has finished the answer, because Node then resumes reading. */
  #begin(): void {
    const resting = this.#gathered;
    this.#gathered = [];
    for (const socket of resting) socket.pause();
    setTimeout(() => {
      for (const socket of resting) socket.resume();
    }, restMs).unref();
  }
}

export const overloadMessage = 'not stored: more is being sent than can be stored; try again';

const busy = JSON.stringify({ error: overloadMessage });
const refusal = [
  ...['content-type', 'application/json; charset=utf-8'],
  ...['content-length', String(Buffer.byteLength(busy))],
  ...['retry-after', '1'],
  ...[errorHeader, formatErrorHeader('unavailable')],
  ...['x-content-type-options', 'nosniff'],
];

interface IntakeGuard {
  readonly gate: Pick<IntakeGate, 'isShut'>;
  readonly onRefused: () => void;
  /** Handles a notification. False: it did nothing, and the server's own listeners must handle the request. */
  readonly take: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/**
 * Puts intake in front of the framework on Node's own server: the framework's routing, hooks and objects cost as much as intake
 * itself, and more than a refusal.
 */
export function guardIntake(server: Server, { gate, onRefused, take }: IntakeGuard): void {
  const handlers = server.listeners('request') as RequestListener[];
  const connections = new RestingConnections();
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (request.method === 'POST' && isIntake(request.url)) {
      if (gate.isShut) {
        onRefused();
        response.writeHead(503, refusal).end(busy);
        return connections.rest(request.socket);
      }
      // The router decides about any other spelling of the path.
      if (isLiteral(request.url) && take(request, response)) return;
    }
    for (const handle of handlers) handle(request, response);
  });
}

const path = '/api/notify';

function isLiteral(url = ''): boolean {
  const next = url[path.length];
  return url.startsWith(path) && (next === undefined || next === '?' || next === '#');
}

/** Whether the router would treat it as a notification, in any spelling of the path. */
function isIntake(url = ''): boolean {
  if (isLiteral(url)) return true;
  if (url[0] === '/' && !url.includes('%')) return false;
  const [spelled = ''] = url.replace(/^https?:\/\/[^/]*/i, '').split(/[?#]/);
  try {
    return decodeURIComponent(spelled) === path;
  } catch {
    return false;
  }
}

/** Of the payloads of one tenant that wait for their turn; one always may. */
const mostWaitingBytes = 16 * 1024 * 1024;

/**
 * Tenants take turns, a payload at a time. After each, other requests get as much time as it took. A payload that takes less than
 * a millisecond waits for nothing if no other is being read.
 */
export class PayloadTurns {
  readonly #queue = new FairQueue(1, (tookMs) => tookMs);
  readonly #waitingBytes = new Map<TenantId, number>();

  /** @throws AppError `unavailable` when too much of the tenant waits, and what `read` throws. */
  async run<T>(tenant: TenantId, bytes: number, read: () => T | Promise<T>): Promise<T> {
    const waiting = this.#waitingBytes.get(tenant) ?? 0;
    if (waiting > 0 && waiting + bytes > mostWaitingBytes)
      throw unavailable('too many large payloads of this tenant wait to be read; try again');
    this.#waitingBytes.set(tenant, waiting + bytes);
    try {
      return (await this.#queue.run(tenant, async () => ({ value: await read() }))).value;
    } finally {
      const left = (this.#waitingBytes.get(tenant) ?? 0) - bytes;
      if (left > 0) this.#waitingBytes.set(tenant, left);
      else this.#waitingBytes.delete(tenant);
    }
  }
}
