import type { FastifyReply, FastifyRequest } from 'fastify';
import { isForPeople, type Principal } from '#core/access.ts';
import { type AppError, rateLimited } from '#core/errors.ts';
import type { Rate } from '#core/tenants.ts';
import { rateHeaders } from './rate-headers.ts';
import type { Services } from './services.ts';

/** Requests to a person's own account, for each session. */
const accountRate: Rate = { perSecond: 1, burst: 60 };

/**
 * Rate limits of the API, for each token, key and session. Requests to a person's own account have a stricter limit;
 * NotifyLimits has the limits of notifications. Each session has its own limit, so that a stolen session cannot lock out its
 * owner.
 */
export class ApiLimits {
  readonly #services: Services;
  readonly #callers;
  readonly #accounts;

  constructor(services: Services) {
    this.#services = services;
    this.#callers = services.limits.approximate('api');
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
    const state = this.#callers.take(this.#callerOf(request), rate, now());
    rateHeaders(reply, [{ name: 'api', rate, state }]);
    if (state.allowed) return undefined;
    metrics.of(request.principal.tenant).rateLimited('api');
    return rateLimited(state.resetSeconds);
  }

  /** Screens that share a token have one limit for each panel, because all of them reconnect at once after a restart. */
  #callerOf({ principal, params, routeOptions }: FastifyRequest): string {
    const caller = callerId(principal);
    if (routeOptions.config.rateLimit !== 'by panel') return caller;
    const { id } = params as { id: string };
    const snapshot = this.#services.tenancy.peek(principal.tenant);
    // Right after a start, before the tenant is in memory, every id counts as a panel id.
    return !snapshot || snapshot.panels.has(id) ? `${caller} ${id}` : caller;
  }
}

const callerId = (principal: Principal) => (principal.kind === 'person' ? principal.sessionId : principal.id);
