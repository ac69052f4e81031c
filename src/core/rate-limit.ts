import { createLruMap } from './lru-map.ts';
import type { Rate } from './tenants.ts';

interface Bucket {
  tokens: number;
  at: number;
}

/** State of a bucket: tokens left, and seconds until it is full (or, if empty, until it has one). */
export interface RateState {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** Keys kept at most: forgetting the least recently used gives it a full bucket back, which is the harmless side. */
const maxKeys = 100_000;

/** Token buckets by key. Time is the caller's and may jump back: a bucket then simply does not fill. */
export class RateLimiter<K extends string | number> {
  readonly #buckets = createLruMap<K, Bucket>(maxKeys);

  /** Takes one, when there is one. */
  take(key: K, rate: Rate, now: number): RateState {
    const bucket = this.#fill(key, rate, now);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    return state(allowed, bucket, rate);
  }

  /** The state, without taking a token. */
  look(key: K, rate: Rate, now: number): RateState {
    const bucket = this.#fill(key, rate, now);
    return state(bucket.tokens >= 1, bucket, rate);
  }

  /** Gives back a token for a request that turned out not to count. */
  giveBack(key: K, rate: Rate, now: number): void {
    const bucket = this.#fill(key, rate, now);
    bucket.tokens = Math.min(rate.burst, bucket.tokens + 1);
  }

  #fill(key: K, { perSecond, burst }: Rate, now: number): Bucket {
    let bucket = this.#buckets.get(key);
    if (!bucket) {
      bucket = { tokens: burst, at: now };
      this.#buckets.set(key, bucket);
      return bucket;
    }
    const elapsed = Math.max(0, now - bucket.at);
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsed / 1000) * perSecond);
    bucket.at = now;
    return bucket;
  }
}

function state(allowed: boolean, { tokens }: Bucket, { perSecond, burst }: Rate): RateState {
  const missing = tokens < 1 ? 1 - tokens : burst - tokens;
  return { allowed, remaining: Math.floor(tokens), resetSeconds: Math.ceil(missing / perSecond) };
}
