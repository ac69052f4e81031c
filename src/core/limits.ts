/** Rate limits of one node, or of several that count together. */
import { hash } from 'node:crypto';
import { RateLimiter, type RateState } from './rate-limit.ts';
import type { Rate } from './tenants.ts';

/** Buckets that several nodes share. */
export interface LimitStore {
  /** Takes one, when there is one. */
  take(name: string, rate: Rate): Promise<RateState>;
  /** Gives back a token for a request that turned out not to count. */
  giveBack(name: string, rate: Rate): Promise<void>;
  /** Takes what was taken already, enough or not. Answers by name what is left, below zero for a debt. */
  add(
    taken: readonly { readonly name: string; readonly rate: Rate; readonly count: number }[],
  ): Promise<ReadonlyMap<string, number>>;
  /** Forgets buckets that are full. */
  sweep(): Promise<void>;
}

/** Buckets that hold for all nodes together, exactly. Each take that this node alone would allow asks the store. */
export interface SharedLimiter {
  take(key: string, rate: Rate, now: number): Promise<RateState>;
  giveBack(key: string, rate: Rate, now: number): Promise<void>;
}

export class Limits {
  readonly #store: LimitStore | undefined;
  readonly #collected = new Map<string, RateLimiter<string>>();

  /** Without a store, this node is the only one. */
  constructor(store?: LimitStore) {
    this.#store = store;
  }

  /**
   * Buckets from which each node takes by itself; they learn what other nodes took by {@link Limits.exchange}. What is taken
   * too much until then is a debt: over a longer time the rate holds for all nodes together.
   */
  buckets(name: string): RateLimiter<string> {
    const limiter = new RateLimiter<string>({ isCollected: this.#store !== undefined });
    if (this.#store) this.#collected.set(name, limiter);
    return limiter;
  }

  shared(name: string): SharedLimiter {
    const own = new RateLimiter<string>();
    const store = this.#store;
    return {
      async take(key, rate, now) {
        // What this node alone refuses costs no query.
        const state = own.take(key, rate, now);
        if (!store || !state.allowed) return state;
        const ofAll = await store.take(bucketName(name, key), rate);
        if (!ofAll.allowed) own.giveBack(key, rate, now);
        return ofAll;
      },
      async giveBack(key, rate, now) {
        own.giveBack(key, rate, now);
        await store?.giveBack(bucketName(name, key), rate);
      },
    };
  }

  /** To be called twice a second. */
  async exchange(now: () => number): Promise<void> {
    const taken = [...this.#collected].flatMap(([name, limiter]) =>
      limiter.collect().map((each) => ({ ...each, limiter, name: bucketName(name, each.key) })),
    );
    if (!this.#store || taken.length === 0) return;
    const left = await this.#store.add(taken.map(({ name, rate, count }) => ({ name, rate, count })));
    for (const { limiter, key, name } of taken) {
      const tokens = left.get(name);
      if (tokens !== undefined) limiter.settle(key, tokens, now());
    }
  }

  async sweep(): Promise<void> {
    await this.#store?.sweep();
  }
}

/** Of a fixed length, and without the address or name of anybody. */
const bucketName = (name: string, key: string) => `${name} ${hash('sha256', key, 'base64url').slice(0, 22)}`;
