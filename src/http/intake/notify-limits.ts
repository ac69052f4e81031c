import type { Principal } from '#core/access.ts';
import { type AppError, rateLimited } from '#core/errors.ts';
import type { Limits } from '#core/limits.ts';
import type { Rate } from '#core/tenants.ts';
import { type HeaderSink, type NamedState, rateHeaders } from '../rate-headers.ts';
import type { Services } from '../services.ts';

interface Rates {
  readonly token: Rate | 'off';
  readonly tenant: Rate | 'off';
}

const unlimited: readonly NamedState[] = [];

/** The buckets of one kind of traffic, by token and by tenant. */
class Buckets {
  readonly #token;
  readonly #tenant;

  constructor(limits: Limits, kind: 'usual' | 'critical') {
    this.#token = limits.buckets(`${kind} token`);
    this.#tenant = limits.buckets(`${kind} tenant`);
  }

  run(how: 'take' | 'look', { id, tenant }: Principal, rates: Rates, now: number): readonly NamedState[] {
    const { token: ofToken, tenant: ofTenant } = rates;
    if (ofToken === 'off' && ofTenant === 'off') return unlimited;
    const states: NamedState[] = [];
    if (ofToken !== 'off')
      states.push({ name: 'token', rate: ofToken, state: this.#token[how](id, ofToken, now) });
    // A notification that the token's own bucket refuses takes nothing from the tenant's.
    const stopped = states[0]?.state.allowed === false;
    if (ofTenant !== 'off') {
      const state = this.#tenant[stopped ? 'look' : how](String(tenant), ofTenant, now);
      states.push({ name: 'tenant', rate: ofTenant, state });
    }
    return states;
  }
}

const allowed = (states: readonly NamedState[]) => states.every(({ state }) => state.allowed);

/**
 * How many notifications a token and a tenant may send. What is critical has buckets of its own, of the same size, so
 * that noise cannot lock it out; as the level may stand in the body, a refusal can come at three places, the cheapest
 * that is sure. Every answer carries how the limits stand: `take` writes it, and `writeHeaders` where nothing is taken.
 */
export class NotifyLimits {
  readonly #services: Services;
  readonly #usual: Buckets;
  readonly #critical: Buckets;

  constructor(services: Services) {
    this.#services = services;
    this.#usual = new Buckets(services.limits, 'usual');
    this.#critical = new Buckets(services.limits, 'critical');
  }

  /** Brings the caller's tenant, and with it the limits, into memory; a promise only if they are not there yet. */
  load({ tenant }: Principal): Promise<unknown> | undefined {
    const { tenancy } = this.#services;
    return tenancy.peek(tenant) ? undefined : tenancy.get(tenant);
  }

  /** Says how the usual limits stand. */
  async writeHeaders(answer: HeaderSink, caller: Principal): Promise<void> {
    await this.load(caller);
    rateHeaders(answer, this.#usual.run('look', caller, this.#rates(caller), this.#services.now()));
  }

  /**
   * Before the body is read: with both kinds of bucket empty, nothing in it could make a difference.
   * @throws AppError `rate-limited`.
   */
  refuseAnyLevel(answer: HeaderSink, caller: Principal): void {
    const rates = this.#rates(caller);
    const now = this.#services.now();
    const states = this.#usual.run('look', caller, rates, now);
    if (!allowed(states) && !allowed(this.#critical.run('look', caller, rates, now)))
      throw this.#exceeded(answer, caller, states);
  }

  /**
   * Before the body is parsed: with the usual bucket empty, what cannot be critical is refused.
   * @throws AppError `rate-limited`.
   */
  refuseUsual(answer: HeaderSink, caller: Principal, mayBeCritical: () => boolean): void {
    const states = this.#usual.run('look', caller, this.#rates(caller), this.#services.now());
    if (!allowed(states) && !mayBeCritical()) throw this.#exceeded(answer, caller, states);
  }

  /**
   * Takes from the bucket the level belongs to. What is not valid (no level) is paid from the usual one.
   * @throws AppError `rate-limited`.
   */
  take(answer: HeaderSink, caller: Principal, level: string | undefined): void {
    const buckets = level === 'critical' ? this.#critical : this.#usual;
    const states = buckets.run('take', caller, this.#rates(caller), this.#services.now());
    if (!allowed(states)) throw this.#exceeded(answer, caller, states);
    rateHeaders(answer, states);
  }

  /** The caller's own limits, its tenant's where that is in memory, and the server's for what neither has set. */
  #rates(caller: Principal): Rates {
    const { settings, tenancy } = this.#services;
    return {
      token: caller.kind === 'token' ? (caller.rate ?? settings.rateToken) : 'off',
      tenant: tenancy.peek(caller.tenant)?.record.rate ?? settings.rateTenant,
    };
  }

  #exceeded(answer: HeaderSink, { tenant }: Principal, states: readonly NamedState[]): AppError {
    rateHeaders(answer, states);
    const refusing = states.find(({ state }) => !state.allowed);
    this.#services.metrics.of(tenant).rateLimited(refusing?.name === 'tenant' ? 'tenant' : 'token');
    return rateLimited(refusing?.state.resetSeconds ?? 1);
  }
}
