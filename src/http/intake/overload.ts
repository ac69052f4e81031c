/** What keeps the wait short when more is sent than can be stored: some are refused, so that the rest are answered in time. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorHeader, formatErrorHeader } from '#contract/error-header.ts';

/** A request as the gate looks at it. */
type Arriving = Pick<IncomingMessage, 'headers' | 'once'>;

interface UnderWay {
  /** When all of it was here; until then it waits for its sender, and not for us. */
  since: number;
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

/** The notifications that are here and not answered yet, the oldest first. */
export class IntakeGate {
  readonly #ticks: () => number;
  readonly #underWay = new Set<UnderWay>();

  /** `ticks`: milliseconds that only ever go forward. */
  constructor(ticks: () => number) {
    this.#ticks = ticks;
  }

  /** Lets one in, and answers what is to be called when it has been answered; undefined: it is to be refused. */
  enter(request: Arriving): (() => void) | undefined {
    if (this.#isShut()) return undefined;
    const one = { since: 0 };
    let answered = false;
    whenWhole(request, () => {
      if (answered) return;
      one.since = this.#ticks();
      this.#underWay.add(one);
    });
    return () => {
      answered = true;
      this.#underWay.delete(one);
    };
  }

  #isShut(): boolean {
    if (this.#underWay.size < alwaysUnderWay) return false;
    const oldest = this.#underWay.values().next().value;
    return oldest !== undefined && this.#ticks() - oldest.since > longestWaitMs;
  }
}

/** Calls back once all of a request is here: at once where there is no body to come. */
function whenWhole(request: Arriving, then: () => void): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (coding === undefined && (length === undefined || length === '0')) then();
  else request.once('end', then);
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

/**
 * Puts the gate before everything else that a notification would cost: on Node's own request, ahead of the framework. Half of
 * what a refusal takes would else go into routing it.
 */
export function guardIntake(server: Server, gate: IntakeGate, onRefused: () => void): void {
  const handlers = server.listeners('request') as RequestListener[];
  const connections = new RestingConnections();
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (request.method === 'POST' && isIntake(request.url)) {
      const leave = gate.enter(request);
      if (!leave) {
        onRefused();
        response.writeHead(503, refusal).end(busy);
        return connections.rest(request.socket);
      }
      whenAnswered(response, leave);
    }
    for (const handle of handlers) handle(request, response);
  });
}

/**
 * Calls back, once or more often, when there is an answer, or nobody left to have one. What was answered may wait long
 * until it is sent, behind an answer that the client asked for first and does not read; that is not our work any more.
 */
function whenAnswered(response: ServerResponse, then: () => void): void {
  const end = response.end as (...args: unknown[]) => ServerResponse;
  response.end = ((...args: unknown[]) => {
    then();
    return end.apply(response, args);
  }) as ServerResponse['end'];
  response.once('close', then);
}

const path = '/api/notify';

/** Whether the router will take it for a notification, in whatever way the path is spelled. */
function isIntake(url = ''): boolean {
  if (url.startsWith(path)) {
    const next = url[path.length];
    if (next === undefined || next === '?' || next === '#') return true;
  }
  if (url[0] === '/' && !url.includes('%')) return false;
  const [spelled = ''] = url.replace(/^https?:\/\/[^/]*/i, '').split(/[?#]/);
  try {
    return decodeURIComponent(spelled) === path;
  } catch {
    return false;
  }
}
