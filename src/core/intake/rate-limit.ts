import { createLruMap } from '../lru-map.ts';
import type { Rate } from '../tenants/tenants.ts';

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

/** The most keys in memory. The least recently used key is dropped; its next request finds a full bucket. */
const maxKeys = 100_000;

/** How many tokens were taken from a bucket. */
export interface Taken<K> {
  readonly key: K;
  readonly rate: Rate;
  readonly count: number;
}

/**
 * Token buckets by key, in the memory of this node: exact for this node. `Limits` makes them count for several nodes.
 * The caller passes the time. It may jump back; the bucket then gets no tokens until time has passed again.
 */
export class RateLimiter<K extends string | number> {
  readonly #buckets = createLruMap<K, Bucket>(maxKeys);
  /** Tokens taken since the last {@link collectTaken}; undefined if they are not counted. */
  #taken: Map<K, { rate: Rate; count: number }> | undefined;

  constructor({ countsTaken = false } = {}) {
    this.#taken = countsTaken ? new Map() : undefined;
  }

  /** Takes a token, if there is one. */
  take(key: K, rate: Rate, now: number): RateState {
    const bucket = this.#fill(key, rate, now);
    const allowed = bucket.tokens >= 1;
    if (allowed) {
      bucket.tokens -= 1;
      this.#countTaken(key, rate);
    }
    return rateState(allowed, bucket.tokens, rate);
  }

  /** Takes `count` tokens for work that is already done. What is missing is a debt, of at most a whole bucket. */
  charge(key: K, rate: Rate, count: number, now: number): void {
    const bucket = this.#fill(key, rate, now);
    const taken = Math.max(0, Math.min(count, bucket.tokens + rate.burst));
    bucket.tokens -= taken;
    this.#countTaken(key, rate, taken);
  }

  /** Returns the state without taking a token. */
  peek(key: K, rate: Rate, now: number): RateState {
    const bucket = this.#fill(key, rate, now);
    return rateState(bucket.tokens >= 1, bucket.tokens, rate);
  }

  /** Returns a token, for a request that does not count after all. */
  giveBack(key: K, rate: Rate, now: number): void {
    const bucket = this.#fill(key, rate, now);
    bucket.tokens = Math.min(rate.burst, bucket.tokens + 1);
  }

  /** Returns the tokens taken since the last call. */
  collectTaken(): Taken<K>[] {
    const taken = this.#taken;
    if (!taken || taken.size === 0) return [];
    this.#taken = new Map();
    return [...taken].map(([key, { rate, count }]) => ({ key, rate, count }));
  }

  /** Sets a bucket to `tokens` (below zero for a debt), minus what was taken since the last {@link collectTaken}. */
  setTokens(key: K, tokens: number, now: number): void {
    const since = this.#taken?.get(key)?.count ?? 0;
    this.#buckets.set(key, { tokens: tokens - since, at: now });
  }

  #countTaken(key: K, rate: Rate, count = 1): void {
    if (!this.#taken) return;
    const taken = this.#taken.get(key);
    if (taken) {
      taken.count += count;
      taken.rate = rate;
    } else {
      this.#taken.set(key, { rate, count });
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
