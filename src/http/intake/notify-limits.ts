import { type AppError, rateLimited } from '#core/errors.ts';
import type { Limits } from '#core/limits/rate-limits.ts';
import type { Principal } from '#core/people/access.ts';
import { type Rate, rateAtMost } from '#core/tenants/tenants.ts';
import { type HeaderSink, type NamedState, rateHeaders } from '../callers/rate-limits.ts';
import type { Services } from '../services.ts';

interface Rates {
  readonly token: Rate | 'off';
  readonly tenant: Rate | 'off';
}

const unlimited: readonly NamedState[] = [];

/** The token buckets of one kind of traffic, by API token and by tenant. */
class Buckets {
  readonly #token;
  readonly #tenant;

  constructor(limits: Limits, kind: 'usual' | 'critical') {
    this.#token = limits.approximate(`${kind} token`);
    this.#tenant = limits.approximate(`${kind} tenant`);
  }

  charge({ id, tenant }: Principal, { token, tenant: ofTenant }: Rates, count: number, now: number): void {
    if (token !== 'off') this.#token.charge(id, token, count, now);
    if (ofTenant !== 'off') this.#tenant.charge(String(tenant), ofTenant, count, now);
  }

  /** Takes from both buckets or, if one of them refuses, from none. */
  run(how: 'take' | 'peek', { id, tenant }: Principal, rates: Rates, now: number): readonly NamedState[] {
    const { token: ofToken, tenant: ofTenant } = rates;
    if (ofToken === 'off' && ofTenant === 'off') return unlimited;
    let own = ofToken === 'off' ? undefined : this.#token[how](id, ofToken, now);
    const isStopped = own?.allowed === false;
    const all =
      ofTenant === 'off' ? undefined : this.#tenant[isStopped ? 'peek' : how](String(tenant), ofTenant, now);
    if (how === 'take' && ofToken !== 'off' && !isStopped && all?.allowed === false) {
      this.#token.giveBack(id, ofToken, now);
      own = this.#token.peek(id, ofToken, now);
    }
    const states: NamedState[] = [];
    if (ofToken !== 'off' && own) states.push({ name: 'token', rate: ofToken, state: own });
    if (ofTenant !== 'off' && all) states.push({ name: 'tenant', rate: ofTenant, state: all });
    return states;
  }
}

const allowed = (states: readonly NamedState[]) => states.every(({ state }) => state.allowed);

/**
 * Rate limits of notifications, by token and by tenant. Critical notifications have separate buckets of the same size, so that
 * other traffic cannot block them. The level may be in the body, so `refuseAnyLevel` refuses before the body is read only
 * what no level could save, and `take` decides when the level is known. Every response carries the rate limit headers: from `take`, or from
 * `writeHeaders` if nothing was taken.
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

  /** Loads the caller's tenant, which has the limits, into memory. Returns a promise only if it is not loaded yet. */
  load({ tenant }: Principal): Promise<unknown> | undefined {
    const { tenancy } = this.#services;
    return tenancy.peek(tenant) ? undefined : tenancy.get(tenant);
  }

  /** Writes the headers of the usual limits and takes nothing. */
  async writeHeaders(answer: HeaderSink, caller: Principal): Promise<void> {
    await this.load(caller);
    rateHeaders(answer, this.#usual.run('peek', caller, this.#rates(caller), this.#services.now()));
  }

  /**
   * Before the body is read: refuses if the buckets of both kinds are empty, whatever the level is.
   * @throws AppError `rate-limited`.
   */
  refuseAnyLevel(answer: HeaderSink, caller: Principal): void {
    const rates = this.#rates(caller);
    const now = this.#services.now();
    const states = this.#usual.run('peek', caller, rates, now);
    if (allowed(states) || allowed(this.#critical.run('peek', caller, rates, now))) return;
    throw this.#exceeded(answer, caller, states);
  }

  /**
   * Takes from the buckets of the level. An invalid notification (level undefined) takes from the usual ones.
   * @throws AppError `rate-limited`.
   */
  take(answer: HeaderSink, caller: Principal, level: string | undefined): void {
    const buckets = level === 'critical' ? this.#critical : this.#usual;
    const states = buckets.run('take', caller, this.#rates(caller), this.#services.now());
    if (!allowed(states)) throw this.#exceeded(answer, caller, states);
    rateHeaders(answer, states);
  }

  /** Takes tokens for work that is done, so that later requests are refused until it is paid. */
  charge(caller: Principal, level: string | undefined, count: number): void {
    if (count <= 0) return;
    const buckets = level === 'critical' ? this.#critical : this.#usual;
    buckets.charge(caller, this.#rates(caller), count, this.#services.now());
  }

  /** The limits of the token and of its tenant; the server's defaults where those are not set or not loaded. */
  #rates(caller: Principal): Rates {
    const { settings, tenancy } = this.#services;
    return {
      token: caller.kind === 'token' ? (caller.rate ?? settings.rateToken) : 'off',
      tenant: rateAtMost(
        tenancy.peek(caller.tenant)?.record.rate ?? settings.rateTenant,
        settings.bounds.rate,
      ),
    };
  }

  #exceeded(answer: HeaderSink, { tenant }: Principal, states: readonly NamedState[]): AppError {
    rateHeaders(answer, states);
    const refusing = states.find(({ state }) => !state.allowed);
    this.#services.metrics.of(tenant).rateLimited(refusing?.name === 'tenant' ? 'tenant' : 'token');
    return rateLimited(refusing?.state.resetSeconds ?? 1);
  }
}
