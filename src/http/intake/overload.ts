/** What keeps the wait short when more is sent than can be stored: some are refused, so that the rest are answered in time. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorHeader, formatErrorHeader } from '#contract/error-header.ts';

/** A notification that has arrived whole and is not answered yet. */
interface UnderWay {
  readonly since: number;
}

/** A wait beyond which more is not taken: with what comes behind it, an answer stays well under a second. */
const longestWaitMs = 200;
/** So many may be under way however long they wait: a disk that pauses for a moment refuses nobody who sends a little. */
const alwaysUnderWay = 256;
/**
 * How long nothing more is read from a connection that was refused. A sender has as many requests under way as it has
 * connections; read from at once, each would send the next at once, and the refusals would take the time that the
 * notifications need.
 */
const restMs = 300;

/** The notifications that have arrived whole and are not answered yet, the oldest first. */
export class IntakeGate {
  readonly #ticks: () => number;
  readonly #underWay = new Set<UnderWay>();

  /** `ticks`: milliseconds that only ever go forward. */
  constructor(ticks: () => number) {
    this.#ticks = ticks;
  }

  /** Whether a request that arrives now is to be refused. */
  get isShut(): boolean {
    if (this.#underWay.size < alwaysUnderWay) return false;
    const oldest = this.#underWay.values().next().value;
    return oldest !== undefined && this.#ticks() - oldest.since > longestWaitMs;
  }

  /** A notification has arrived whole: until then it waits for its sender, and not for us. */
  enter(): UnderWay {
    const one = { since: this.#ticks() };
    this.#underWay.add(one);
    return one;
  }

  /** It is decided what its answer is; when the client takes that is not our work any more. */
  leave(one: UnderWay): void {
    this.#underWay.delete(one);
  }
}

/** Connections that are let rest: what they send waits with the sender. */
class RestingConnections {
  #gathered: Socket[] = [];

  rest(socket: Socket): void {
    this.#gathered.push(socket);
    // One timer for all that come in the same moment.
    if (this.#gathered.length === 1) setImmediate(() => this.#begin());
  }

  /** Not before Node has done with the answer, after which it reads on by itself. */
  #begin(): void {
    const resting = this.#gathered;
    this.#gathered = [];
    for (const socket of resting) socket.pause();
    setTimeout(() => {
      for (const socket of resting) socket.resume();
    }, restMs).unref();
  }
}

const busy = JSON.stringify({ error: 'not stored: more is being sent than can be stored; try again' });
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
  /** Takes a notification; false: it has done nothing, and the server's own listeners get the request. */
  readonly take: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/**
 * Puts intake before everything else on Node's own server, the framework included: routing there, its hooks and its objects
 * cost a notification as much as all that intake does itself, and a refusal even more.
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
      // Any other spelling of the path is for the router to take or to refuse.
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

/** Whether the router would take it for a notification, in whatever way the path is spelled. */
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
