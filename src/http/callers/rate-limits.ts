/** Rate limits of requests: counting one, the limits of the API, and the headers that tell of both. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AppError, rateLimited } from '#core/errors.ts';
import type { RateState } from '#core/limits/rate-limits.ts';
import { isForPeople, type Principal } from '#core/people/access.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import { findByTopic } from '#core/tenants/topics.ts';
import type { Services } from '../services.ts';

/** An answer whose headers can still be set. */
export interface HeaderSink {
  header(name: string, value: string): unknown;
}

export interface NamedState {
  readonly name: string;
  readonly rate: Rate;
  readonly state: RateState;
}

/**
 * `RateLimit` and `RateLimit-Policy` of the IETF httpapi draft: q the quota, w its seconds, r what remains, t when more does.
 */
export function rateHeaders(answer: HeaderSink, states: readonly NamedState[]): void {
  if (states.length === 0) return;
  let policy = '';
  let limit = '';
  for (const { name, rate, state } of states) {
    const comma = policy === '' ? '' : ', ';
    policy += `${comma}"${name}";q=${rate.burst};w=${Math.max(1, Math.ceil(rate.burst / rate.perSecond))}`;
    limit += `${comma}"${name}";r=${state.remaining};t=${state.resetSeconds}`;
  }
  answer.header('ratelimit-policy', policy);
  answer.header('ratelimit', limit);
}

/** A rate limit, by its own name in the headers. */
export interface RateLimit {
  readonly name: string;
  readonly rate: Rate;
  readonly limiter: { take(key: string, rate: Rate, now: number): RateState | Promise<RateState> };
}

/** Counts a request, and writes the headers to `answer`, if one is given. @throws AppError `rate-limited`. */
export async function takeFrom(
  { name, rate, limiter }: RateLimit,
  key: string,
  now: number,
  answer?: HeaderSink,
): Promise<void> {
  const state = await limiter.take(key, rate, now);
  if (answer) rateHeaders(answer, [{ name, rate, state }]);
  if (!state.allowed) throw rateLimited(state.resetSeconds);
}

/** Requests to a person's own account, for each session. */
const accountRate: Rate = { perSecond: 1, burst: 60 };

/** How much the callers of one tenant may request together, as a multiple of what each of them may. */
const tenantFactor = 20;

/**
 * Rate limits of the API, for each token, key and session, and for all of a tenant together. Requests to a person's own account have a
 * stricter limit; NotifyLimits has the limits of notifications. Each session has its own limit, so that a stolen session cannot lock
 * out its owner.
 */
export class ApiLimits {
  readonly #services: Services;
  readonly #callers;
  readonly #tenants;
  readonly #accounts;

  constructor(services: Services) {
    this.#services = services;
    this.#callers = services.limits.approximate('api');
    this.#tenants = services.limits.approximate('api tenant');
    this.#accounts = services.limits.approximate('account');
  }

  /** Counts one request and writes the rate limit headers. Returns the error to send if the limit is exceeded. */
  take(request: FastifyRequest, reply: FastifyReply): AppError | undefined {
    const { policy = 'public', rateLimit } = request.routeOptions.config;
    if (rateLimit === 'own' || rateLimit === 'none') return undefined;
    // A token or key on a route for people counts too, although the route will answer 403.
    return isForPeople(policy) && request.person
      ? this.#takeAccount(request, reply)
      : this.#takeApi(request, reply);
  }

  #takeAccount({ person }: FastifyRequest, reply: FastifyReply): AppError | undefined {
    const { settings, now } = this.#services;
    if (settings.rateAuth === 'off') return undefined;
    const state = this.#accounts.take(person.session.id, accountRate, now());
    rateHeaders(reply, [{ name: 'account', rate: accountRate, state }]);
    return state.allowed ? undefined : rateLimited(state.resetSeconds);
  }

  #takeApi(request: FastifyRequest, reply: FastifyReply): AppError | undefined {
    const { settings, now, metrics } = this.#services;
    const { rateApi: rate } = settings;
    if (rate === 'off') return undefined;
    const { tenant } = request.principal;
    const own = { name: 'api', rate, state: this.#callers.take(this.#callerOf(request), rate, now()) };
    const counted = own.state.allowed ? (this.#takeTenant(request, rate) ?? own) : own;
    rateHeaders(reply, [counted]);
    if (counted.state.allowed) return undefined;
    metrics.of(tenant).rateLimited('api');
    return rateLimited(counted.state.resetSeconds);
  }

  /** The refusal of the tenant's limit. Screens do not count: a wall of thousands reconnects at once after a restart. */
  #takeTenant({ principal, routeOptions }: FastifyRequest, { perSecond, burst }: Rate) {
    if (routeOptions.config.rateLimit === 'by panel') return undefined;
    const rate = { perSecond: perSecond * tenantFactor, burst: burst * tenantFactor };
    const state = this.#tenants.take(String(principal.tenant), rate, this.#services.now());
    return state.allowed ? undefined : { name: 'api-tenant', rate, state };
  }

  /** Screens that share a token have one limit for each panel, because all of them reconnect at once after a restart. */
  #callerOf({ principal, params, routeOptions }: FastifyRequest): string {
    const caller = callerId(principal);
    if (routeOptions.config.rateLimit !== 'by panel') return caller;
    const { id, topic = '' } = params as
      | { id: string; topic?: undefined }
      | { id?: undefined; topic: string };
    const snapshot = this.#services.tenancy.peek(principal.tenant);
    // Right after a start, before the tenant is in memory, every id counts as a panel id.
    return !snapshot || findByTopic(snapshot.panels, id ?? topic) ? `${caller} ${id ?? topic}` : caller;
  }
}

const callerId = (principal: Principal) => (principal.kind === 'person' ? principal.sessionId : principal.id);
