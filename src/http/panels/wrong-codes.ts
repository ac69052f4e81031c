import type { FastifyReply } from 'fastify';
import { rateLimited } from '#core/errors.ts';
import type { Limits } from '#core/limits.ts';
import type { Principal } from '#core/people/access.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import { type NamedState, rateHeaders } from '../callers/rate-headers.ts';

/**
 * Limits of wrong pairing codes, by caller, by tenant, and in total. At most a thousand codes are pending, so guessing one
 * takes 300,000 attempts on average: weeks, for all callers together. People who mistype a code stay far below the limits.
 */
const rates = {
  caller: { perSecond: 1 / 30, burst: 20 },
  tenant: { perSecond: 1 / 10, burst: 40 },
  all: { perSecond: 1 / 5, burst: 300 },
} as const satisfies Record<string, Rate>;

/**
 * Returns a function that counts an attempt before it is made, so that parallel attempts count too. Its caller must call the function
 * that it returns if the code was right; then the attempt does not count. @throws AppError `rate-limited`.
 */
export function limitWrongCodes(limits: Limits, now: () => number) {
  const limiter = limits.exact('pairing code');
  return async (
    { kind, id, tenant }: Pick<Principal, 'kind' | 'id' | 'tenant'>,
    reply: FastifyReply,
  ): Promise<() => Promise<void>> => {
    const taken: (() => Promise<void>)[] = [];
    const giveBack = async () => {
      for (const each of taken) await each();
    };
    const buckets = [
      [`${kind} ${id}`, rates.caller],
      [`tenant ${tenant}`, rates.tenant],
      ['all', rates.all],
    ] as const;
    const states: NamedState[] = [];
    for (const [key, rate] of buckets) {
      const state = await limiter.take(key, rate, now());
      states.push({ name: 'pairing-codes', rate, state });
      if (!state.allowed) {
        await giveBack();
        rateHeaders(reply, states.slice(-1));
        throw rateLimited(state.resetSeconds);
      }
      taken.push(() => limiter.giveBack(key, rate, now()));
    }
    rateHeaders(reply, states.slice(0, 1));
    return giveBack;
  };
}
