/**
 * Limits: what one tenant or sender may take, so that others are not delayed. Rate limits are token buckets, exact or
 * approximate over several nodes. `concurrency.ts` shares long work fairly: tenants take turns, and work gives way to the event
 * loop. `bounded-json.ts` refuses JSON of senders that is too deep or has too many values. `lru-map.ts` is the cache of bounded
 * size.
 *
 * Rate limits on one node or several. There are two kinds of token buckets:
 *
 * - {@link Limits.exact}: all nodes share one bucket in the store. The limit holds exactly. Each take costs a query.
 * - {@link Limits.approximate}: approximate. Each node takes from its own bucket without a query, and twice a second subtracts
 * what the other nodes took. In between, all nodes together may take more than the limit; this becomes a debt.
 *
 * Without a store there is one node, and both kinds are exact.
 *
 */
import { hash } from 'node:crypto';
import type { Rate } from '../tenants/tenants.ts';
import { createLruMap } from './lru-map.ts';

/** The buckets that all nodes share. */
export interface LimitStore {
  /** Takes a token from an exact bucket, if there is one. */
  take(name: string, rate: Rate): Promise<RateState>;
  /** Returns a token to an exact bucket, for a request that does not count after all. */
  giveBack(name: string, rate: Rate): Promise<void>;
  /** Subtracts tokens that nodes took from approximate buckets, even below zero. Returns the tokens left, by name. */
  add(
    taken: readonly { readonly name: string; readonly rate: Rate; readonly count: number }[],
  ): Promise<ReadonlyMap<string, number>>;
  /** Deletes full buckets. */
  sweep(): Promise<void>;
}

/** Exact buckets. */
export interface ExactLimiter {
  take(key: string, rate: Rate, now: number): Promise<RateState>;
  giveBack(key: string, rate: Rate, now: number): Promise<void>;
}

export class Limits {
  readonly #store: LimitStore | undefined;
  readonly #approximate = new Map<string, RateLimiter<string>>();

  /** Without a store there is only one node. */
  constructor(store?: LimitStore) {
    this.#store = store;
  }

  /**
   * Approximate buckets: each node takes from its own, and {@link Limits.synchronize} subtracts what other nodes took. Nodes
   * that took too much in between are in debt, so the long-term rate of all nodes together is the limit.
   */
  approximate(name: string): RateLimiter<string> {
    const limiter = new RateLimiter<string>({ countsTaken: this.#store !== undefined });
    if (this.#store) this.#approximate.set(name, limiter);
    return limiter;
  }

  /** Exact buckets: a request is allowed only if the store, which counts for all nodes, has a token. */
  exact(name: string): ExactLimiter {
    const local = new RateLimiter<string>();
    const store = this.#store;
    return {
      async take(key, rate, now) {
        // If this node alone has exceeded the limit, no query is needed.
        const state = local.take(key, rate, now);
        if (!store || !state.allowed) return state;
        const shared = await store.take(bucketName(name, key), rate);
        if (!shared.allowed) local.giveBack(key, rate, now);
        return shared;
      },
      async giveBack(key, rate, now) {
        local.giveBack(key, rate, now);
        await store?.giveBack(bucketName(name, key), rate);
      },
    };
  }

  /** Sends what this node took from approximate buckets to the store, and sets them to what is left. Call it twice a second. */
  async synchronize(now: () => number): Promise<void> {
    const taken = [...this.#approximate].flatMap(([name, limiter]) =>
      limiter.collectTaken().map((each) => ({ ...each, limiter, name: bucketName(name, each.key) })),
    );
    if (!this.#store || taken.length === 0) return;
    const left = await this.#store.add(taken.map(({ name, rate, count }) => ({ name, rate, count })));
    for (const { limiter, key, name } of taken) {
      const tokens = left.get(name);
      if (tokens !== undefined) limiter.setTokens(key, tokens, now());
    }
  }

  async sweep(): Promise<void> {
    await this.#store?.sweep();
  }
}

/** Hashes the key, so that the name has a fixed length and stores no address or name of a person. */
const bucketName = (name: string, key: string) => `${name} ${hash('sha256', key, 'base64url').slice(0, 22)}`;

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
