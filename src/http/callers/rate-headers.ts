import { rateLimited } from '#core/errors.ts';
import type { RateState } from '#core/intake/rate-limit.ts';
import type { Rate } from '#core/tenants/tenants.ts';

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
