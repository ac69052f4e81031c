/**
 * Rate limits on one node or several. There are two kinds of token buckets:
 *
 * - {@link Limits.exact}: all nodes share one bucket in the store. The limit holds exactly. Each take costs a query.
 * - {@link Limits.approximate}: approximate. Each node takes from its own bucket without a query, and twice a second subtracts
 *   what the other nodes took. In between, all nodes together may take more than the limit; this becomes a debt.
 *
 * Without a store there is one node, and both kinds are exact.
 */
import { hash } from 'node:crypto';
import { RateLimiter, type RateState } from './intake/rate-limit.ts';
import type { Rate } from './tenants/tenants.ts';

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
