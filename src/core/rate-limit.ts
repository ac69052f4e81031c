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

/** What was taken from a bucket. */
export interface Taken<K> {
  readonly key: K;
  readonly rate: Rate;
  readonly count: number;
}

/** Token buckets by key. Time is the caller's and may jump back: a bucket then simply does not fill. */
export class RateLimiter<K extends string | number> {
  readonly #buckets = createLruMap<K, Bucket>(maxKeys);
  /** What was taken since the last {@link collect}; undefined: nobody collects it. */
  #taken: Map<K, { rate: Rate; count: number }> | undefined;

  constructor({ isCollected = false } = {}) {
    this.#taken = isCollected ? new Map() : undefined;
  }

  /** Takes one, when there is one. */
  take(key: K, rate: Rate, now: number): RateState {
    const bucket = this.#fill(key, rate, now);
    const allowed = bucket.tokens >= 1;
    if (allowed) {
      bucket.tokens -= 1;
      this.#note(key, rate);
    }
    return rateState(allowed, bucket.tokens, rate);
  }

  /** The state, without taking a token. */
  look(key: K, rate: Rate, now: number): RateState {
    const bucket = this.#fill(key, rate, now);
    return rateState(bucket.tokens >= 1, bucket.tokens, rate);
  }

  /** Gives back a token for a request that turned out not to count. */
  giveBack(key: K, rate: Rate, now: number): void {
    const bucket = this.#fill(key, rate, now);
    bucket.tokens = Math.min(rate.burst, bucket.tokens + 1);
  }

  /** What was taken since the last call. */
  collect(): Taken<K>[] {
    const taken = this.#taken;
    if (!taken || taken.size === 0) return [];
    this.#taken = new Map();
    return [...taken].map(([key, { rate, count }]) => ({ key, rate, count }));
  }

  /** Sets what a bucket had when the last {@link collect} was added to it; below zero, it is that much in debt. */
  settle(key: K, tokens: number, now: number): void {
    const since = this.#taken?.get(key)?.count ?? 0;
    this.#buckets.set(key, { tokens: tokens - since, at: now });
  }

  #note(key: K, rate: Rate): void {
    if (!this.#taken) return;
    const taken = this.#taken.get(key);
    if (taken) {
      taken.count += 1;
      taken.rate = rate;
    } else {
      this.#taken.set(key, { rate, count: 1 });
    }
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

export function rateState(allowed: boolean, tokens: number, { perSecond, burst }: Rate): RateState {
  const missing = tokens < 1 ? 1 - tokens : burst - tokens;
  return {
    allowed,
    remaining: Math.max(0, Math.floor(tokens)),
    resetSeconds: Math.ceil(missing / perSecond),
  };
}
