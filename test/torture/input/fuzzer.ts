/** Sends made-up requests over connections that stay open, and checks each answer. */
import { acceptedIds } from '#test/support/fuzz.ts';
import { type OpenApi, OpenApiCheck } from '#test/support/openapi-check.ts';
import { type RawAnswer, RawConnection, rawRequest } from '#test/support/raw-http.ts';
import type { Dice } from './dice.ts';
import type { FuzzWorld } from './fuzz-world.ts';
import { type MadeRequest, RequestMaker, type Route, routesOf } from './openapi-requests.ts';

export interface Tally {
  sent: number;
  /** Answers by status. */
  readonly statuses: Map<number, number>;
  /** Routes that were answered with success at least once, and all there are. */
  readonly welcomed: Set<string>;
  readonly routes: readonly string[];
  /** Calls other than GET that succeeded. */
  changes: number;
  /** Ids of notifications that were said to be stored. */
  readonly accepted: Set<string>;
  readonly problems: string[];
}

type Headers = readonly (readonly [string, string])[];

/** A connection is used so often. */
const requestsPerConnection = 100;
/** Longer than anything may take; what reads all of history gets more. */
const patienceMs = 10_000;
/** Reading all of history, again and again, would be a test of patience alone. */
const seldom = new Map([
  ['POST /api/rules/replay', 0.2],
  ['GET /api/history/export', 0.1],
  // Each of these is a password to hash, or ends the sessions that the others need.
  ['POST /api/session', 0.2],
  ['POST /api/account/password', 0.1],
  ['POST /api/account/two-factor', 0.05],
  ['DELETE /api/account/two-factor', 0.05],
  ['DELETE /api/session', 0.02],
  ['DELETE /api/account/sessions', 0.02],
  ['POST /api/invitations/accept', 0.2],
  ['POST /api/tenants', 0.1],
]);
const sends = ({ path }: Route) => /^\/(?:api\/(?:notify$|integrations\/)|ntfy|gotify)/.test(path);
const isDownload = ({ path }: Route) => path === '/api/history/export';
const isStream = ({ path }: Route) => /\/(events|stream)$|^\/ntfy\/[^/]+\/(json|sse|raw)$/.test(path);

export class Fuzzer {
  readonly tally: Tally;
  readonly #world: FuzzWorld;
  readonly #dice: Dice;
  readonly #maker: RequestMaker;
  readonly #routes: readonly Route[];
  readonly #check: OpenApiCheck;
  readonly #beyondReach: readonly string[];

  /** `beyondReach`: routes that are not tried more often because none of their requests has succeeded. */
  constructor(world: FuzzWorld, dice: Dice, beyondReach: readonly string[] = []) {
    this.#world = world;
    this.#beyondReach = beyondReach;
    this.#dice = dice;
    this.#maker = new RequestMaker(world.document, dice, () => world.known);
    this.#routes = routesOf(world.document);
    this.#check = new OpenApiCheck(world.document as unknown as OpenApi);
    this.tally = {
      sent: 0,
      statuses: new Map(),
      welcomed: new Set(),
      routes: this.#routes.map(nameOf),
      changes: 0,
      accepted: new Set(),
      problems: [],
    };
  }

  /** Sends `count` requests on `width` connections at a time. */
  async run(count: number, width: number): Promise<void> {
    let left = count;
    const lane = async () => {
      let connection: RawConnection | undefined;
      let uses = 0;
      while (left > 0 && this.tally.problems.length < 20) {
        left -= 1;
        if (!connection || connection.isClosed || uses >= requestsPerConnection) {
          connection?.close();
          connection = await RawConnection.open(this.#world.server.url);
          uses = 0;
        }
        uses += 1;
        const route = this.#route();
        const goesOn = await this.#one(connection, route);
        if (goesOn) continue;
        connection.close();
        connection = undefined;
      }
      connection?.close();
    };
    await Promise.all(Array.from({ length: width }, lane));
  }

  #route(): Route {
    // Some of all go to what has not succeeded yet, so that few requests get past every door.
    const isUnmet = (name: string) => !this.tally.welcomed.has(name) && !this.#beyondReach.includes(name);
    const unmet = this.#routes.filter((route) => isUnmet(nameOf(route)));
    const routes = unmet.length > 0 && this.#dice.chance(0.25) ? unmet : this.#routes;
    for (;;) {
      const route = this.#dice.pick(routes);
      if (this.#dice.chance(seldom.get(nameOf(route)) ?? 1)) return route;
    }
  }

  /** Answers whether the connection can be used again. */
  async #one(connection: RawConnection, route: Route): Promise<boolean> {
    const { tally } = this;
    const made = this.#maker.make(route);
    const credential = this.#credential(route);
    const headers = [...credential, ...made.headers];
    const bytes = rawRequest({ ...made, headers, body: made.body ?? '' });
    const before = connection.answers.length;
    tally.sent += 1;
    try {
      await connection.write(bytes);
      if (isStream(route)) {
        const status = await connection.begun(patienceMs);
        if (status === 200) {
          this.#count(200, route);
          return false;
        }
      }
      await connection.next(before + 1, patienceMs);
    } catch (error) {
      this.#problem(made, (error as Error).message);
      return false;
    }
    const answer = connection.answers[before];
    // A body that is refused for its size may be cut off before the answer could be read, and so is a download whose session has ended.
    if (!answer) {
      if (bytes.length < 60_000 && !(isDownload(route) && (await this.#isEnded(credential))))
        this.#problem(made, 'the connection was closed without an answer');
      return false;
    }
    this.#checkAnswer(route, made, answer);
    return answer.headers.connection !== 'close';
  }

  /** Whether a session or key may not read any more: it has ended, or its person has another role or has left the tenant. */
  async #isEnded(credential: Headers): Promise<boolean> {
    const headers = Object.fromEntries(credential);
    return [401, 403].includes((await fetch(`${this.#world.server.url}/api/levels`, { headers })).status);
  }

  #credential({ operation }: Route): Headers {
    const { tokens, keys, foreign, sessions } = this.#world;
    const dice = this.#dice;
    const bearer = (text: string): Headers => [['Authorization', `Bearer ${text}`]];
    const cookie = (text: string): Headers => [
      ['Cookie', text],
      ['Origin', 'http://belfry.test'],
      ['Belfry-Tenant', 'default'],
    ];
    if (dice.chance(0.05)) return [];
    if (dice.chance(0.05)) return bearer(dice.pick([...foreign, 'garbage', `${tokens[0]}x`]));
    const { security = [] } = operation as { security?: readonly object[] };
    const pool = security
      .flatMap((each) => Object.keys(each))
      .flatMap((kind): Headers[] => {
        if (kind === 'session') return sessions.map(cookie);
        return (kind === 'token' ? tokens : keys).map(bearer);
      });
    // What takes a key takes whoever is signed in as well.
    if (dice.chance(0.1) || pool.length === 0) return cookie(dice.pick(sessions));
    return dice.chance(0.05) ? bearer(dice.pick([...tokens, ...keys])) : dice.pick(pool);
  }

  #checkAnswer(route: Route, made: MadeRequest, answer: RawAnswer): void {
    const { tally } = this;
    this.#count(answer.status, route);
    if (answer.status < 300 && route.method !== 'GET') tally.changes += 1;
    if (sends(route)) for (const id of acceptedIds(answer)) tally.accepted.add(id);
    if (answer.status >= 500 && !(answer.status === 503 && answer.headers['retry-after']))
      return this.#problem(made, `a ${answer.status}: ${answer.body.slice(0, 300)}`);
    try {
      this.#check.hold(route.method, made.path, {
        status: answer.status,
        type: answer.headers['content-type'] ?? '',
        error: answer.headers['belfry-error'] ?? null,
        body: answer.body,
      });
    } catch (error) {
      this.#problem(made, (error as Error).message.slice(0, 600));
    }
  }

  #count(status: number, route: Route): void {
    const { statuses, welcomed } = this.tally;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status < 300) welcomed.add(nameOf(route));
  }

  #problem({ method, path, headers, body }: MadeRequest, what: string): void {
    const shown = JSON.stringify([...headers, body?.toString('utf8', 0, 400)]);
    this.tally.problems.push(`${what} to ${method} ${path.slice(0, 300)} ${shown}`);
  }
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
