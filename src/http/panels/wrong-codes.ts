import type { FastifyReply } from 'fastify';
import { rateLimited } from '#core/errors.ts';
import type { Limits } from '#core/limits.ts';
import type { Principal } from '#core/people/access.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import { type NamedState, rateHeaders } from '../callers/rate-headers.ts';

/**
 * Limits of wrong pairing codes, by caller, by tenant, and in total. At most a thousand codes are pending, so guessing one
 * takes 300,000 attempts on average: weeks, for all callers together. People who mistype a code stay far below the limits. Once
 * others have used up the total, a tenant has a reserve of its own, so that it goes on approving screens.
 */
const rates = {
  caller: { perSecond: 1 / 30, burst: 20 },
  tenant: { perSecond: 1 / 10, burst: 40 },
  all: { perSecond: 1 / 5, burst: 300 },
  reserve: { perSecond: 3 / 86_400, burst: 3 },
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
    const taken: (readonly [key: string, rate: Rate])[] = [];
    const take = async (key: string, rate: Rate): Promise<NamedState> => {
      const state = await limiter.take(key, rate, now());
      if (state.allowed) taken.push([key, rate]);
      return { name: 'pairing-codes', rate, state };
    };
    const giveBack = async () => {
      for (const [key, rate] of taken) await limiter.giveBack(key, rate, now());
    };
    const refuse = async (refused: NamedState): Promise<never> => {
      await giveBack();
      rateHeaders(reply, [refused]);
      throw rateLimited(refused.state.resetSeconds);
    };
    const ofCaller = await take(`${kind} ${id}`, rates.caller);
    if (!ofCaller.state.allowed) await refuse(ofCaller);
    const ofTenant = await take(`tenant ${tenant}`, rates.tenant);
    if (!ofTenant.state.allowed) await refuse(ofTenant);
    const ofAll = await take('all', rates.all);
    if (!ofAll.state.allowed && !(await take(`reserve ${tenant}`, rates.reserve)).state.allowed)
      await refuse(ofAll);
    rateHeaders(reply, [ofCaller]);
    return giveBack;
  };
}
