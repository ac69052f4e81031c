import type { FastifyReply } from 'fastify';
import type { Principal } from '../core/access.ts';
import type { Rate } from '../core/directory.ts';
import { AppError } from '../core/errors.ts';
import { RateLimiter, type RateState } from '../core/rate-limit.ts';
import { type NamedState, rateHeaders } from './rate-headers.ts';
import type { Services } from './services.ts';

interface Rates {
  readonly token: Rate | 'off';
  readonly tenant: Rate | 'off';
}

/** The buckets of one kind of traffic, by token and by tenant. */
class Buckets {
  readonly #token = new RateLimiter<string>();
  readonly #tenant = new RateLimiter<number>();

  run(how: 'take' | 'look', { id, tenant }: Principal, rates: Rates, now: number): NamedState[] {
    const states: NamedState[] = [];
    const add = (name: string, rate: Rate | 'off', state: (rate: Rate) => RateState) => {
      if (rate !== 'off') states.push({ name, rate, state: state(rate) });
    };
    add('token', rates.token, (rate) => this.#token[how](id, rate, now));
    // A notification that the token's own bucket refuses takes nothing from the tenant's.
    const stopped = states[0]?.state.allowed === false;
    add('tenant', rates.tenant, (rate) => this.#tenant[stopped ? 'look' : how](tenant, rate, now));
    return states;
  }
}

const allowed = (states: readonly NamedState[]) => states.every(({ state }) => state.allowed);

/**
 * How many notifications a token and a tenant may send. What is critical has buckets of its own, of the same size, so
 * that noise cannot lock it out; as the level may stand in the body, a refusal can come at three places, the cheapest
 * that is sure. Every answer carries how the limits stand.
 */
export class NotifyLimits {
  readonly #services: Services;
  readonly #usual = new Buckets();
  readonly #critical = new Buckets();

  constructor(services: Services) {
    this.#services = services;
  }

  /** Says how the usual limits stand. */
  async tell(reply: FastifyReply, caller: Principal): Promise<void> {
    rateHeaders(reply, this.#usual.run('look', caller, await this.#load(caller), this.#services.now()));
  }

  /**
   * Before the body is read: with both kinds of bucket empty, nothing in it could make a difference.
   * @throws AppError `rate-limited`.
   */
  async refuseAnyLevel(reply: FastifyReply, caller: Principal): Promise<void> {
    const rates = await this.#load(caller);
    const now = this.#services.now();
    const states = this.#usual.run('look', caller, rates, now);
    rateHeaders(reply, states);
    if (!allowed(states) && !allowed(this.#critical.run('look', caller, rates, now)))
      throw this.#exceeded(reply, caller, states);
  }

  /**
   * Before the body is parsed: with the usual bucket empty, what cannot be critical is refused.
   * @throws AppError `rate-limited`.
   */
  refuseUsual(reply: FastifyReply, caller: Principal, mayBeCritical: () => boolean): void {
    const states = this.#usual.run('look', caller, this.#rates(caller), this.#services.now());
    if (!allowed(states) && !mayBeCritical()) throw this.#exceeded(reply, caller, states);
  }

  /**
   * Takes from the bucket the level belongs to. What is not valid (no level) is paid from the usual one.
   * @throws AppError `rate-limited`.
   */
  take(reply: FastifyReply, caller: Principal, level: string | undefined): void {
    const buckets = level === 'critical' ? this.#critical : this.#usual;
    const states = buckets.run('take', caller, this.#rates(caller), this.#services.now());
    if (!allowed(states)) throw this.#exceeded(reply, caller, states);
    rateHeaders(reply, states);
  }

  async #load(caller: Principal): Promise<Rates> {
    const { tenancy } = this.#services;
    if (!tenancy.peek(caller.tenant)) await tenancy.get(caller.tenant);
    return this.#rates(caller);
  }

  /** The caller's own limits, its tenant's where that is in memory, and the server's for what neither has set. */
  #rates(caller: Principal): Rates {
    const { settings, tenancy } = this.#services;
    return {
      token: caller.kind === 'key' ? 'off' : (caller.rate ?? settings.rateToken),
      tenant: tenancy.peek(caller.tenant)?.record.rate ?? settings.rateTenant,
    };
  }

  #exceeded(reply: FastifyReply, { tenant }: Principal, states: readonly NamedState[]): AppError {
    rateHeaders(reply, states);
    const refusing = states.find(({ state }) => !state.allowed);
    this.#services.metrics.of(tenant).rateLimited(refusing?.name === 'tenant' ? 'tenant' : 'token');
    return new AppError('rate-limited', 'rate limit exceeded', {
      retryAfterSeconds: refusing?.state.resetSeconds ?? 1,
    });
  }
}
