/** Work that waits for other work, or gives way to it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';

/** Runs `work` once at a time. A call during a run begins one more after it, however many calls there are. */
export function coalesced<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = () => {
    running = next ?? running;
    next = undefined;
    return work();
  };
  return () => {
    next ??= running.then(begin, begin);
    return next;
  };
}

/**
 * Calls `late` after `ms`, unless the returned function was called before. It counts eight steps, of which at most one passes while this
 * process itself stands still: what has arrived in the meantime is read before.
 */
export function afterWaiting(ms: number, late: () => void): () => void {
  let steps = 0;
  const timer = setInterval(() => {
    steps += 1;
    if (steps < 8) return;
    clearInterval(timer);
    late();
  }, ms / 8);
  return () => clearInterval(timer);
}

/** As `work`, but rejects with `late()` after `ms`, counted as by {@link afterWaiting}. The work itself goes on. */
export function withinTime<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = afterWaiting(ms, () => reject(late()));
    work.then(resolve, reject).finally(stop);
  });
}

/** Whether `work` resolves or rejects within `ms`. */
export function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), Math.max(0, ms));
    const ended = () => {
      clearTimeout(timer);
      resolve(true);
    };
    work.then(ended, ended);
  });
}

/**
 * Call it between the steps of long work. When the work has run for a slice of time, it returns a promise to await, so that other
 * work of the process gets its turn; otherwise undefined.
 */
export type YieldToEventLoop = () => Promise<void> | undefined;

/** A compromise between progress and the delay of other work. */
const sliceMs = 5;

export function createYieldToEventLoop(): YieldToEventLoop {
  let since = performance.now();
  return () => {
    if (performance.now() - since < sliceMs) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now();
        resolve();
      }),
    );
  };
}

/** Does some of the work. Returns undefined if there is more to do, otherwise the result. */
type Step<T> = () => Promise<T | undefined>;

/** Converts a generator to steps: each `yield` ends a step, and its return value is the result. */
export const stepsOf =
  <T>(work: AsyncGenerator<void, T>): Step<T> =>
  async () => {
    const { done, value } = await work.next();
    return done ? value : undefined;
  };

/** The result of a generator whose steps run one after the other, without waiting for turns. */
export async function resultOf<T>(work: AsyncGenerator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = await work.next();
    if (done) return value;
  }
}

interface Job {
  readonly step: Step<unknown>;
  readonly signal: AbortSignal | undefined;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/**
 * Runs long work in steps, `atOnce` at a time (1 on one thread). Tenants take turns, and so do the jobs of a tenant. Between two
 * steps of a tenant, each other tenant takes at most one step, however many jobs it has.
 */
export class FairQueue {
  /** In the order of turns, the next tenant first. It contains only tenants with jobs. */
  readonly #jobs = new Map<TenantId, Job[]>();
  readonly #atOnce: number;
  readonly #pauseMs: (tookMs: number) => number;
  readonly #mostOfTenant: number;
  /** How many steps of a tenant run. */
  readonly #stepsOf = new Map<TenantId, number>();
  #running = 0;
  #closed = false;

  /**
   * `pauseMs`: returns the pause after a step that took `tookMs` milliseconds. `mostOfTenant`: how many of the steps that run at once may
   * be of one tenant.
   */
  constructor(atOnce = 1, pauseMs: (tookMs: number) => number = () => 0, mostOfTenant = atOnce) {
    this.#atOnce = atOnce;
    this.#pauseMs = pauseMs;
    this.#mostOfTenant = mostOfTenant;
  }

  /**
   * Runs steps until one returns a result. An aborted job rejects at once, and no further step of it begins.
   *
   * @throws what a step throws, the signal's reason, or AppError `unavailable` once the queue is closed.
   */
  run<T>(tenant: TenantId, step: Step<T>, signal?: AbortSignal): Promise<T> {
    if (this.#closed) return Promise.reject(closing());
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#add(tenant, { step, signal, resolve, reject });
    void this.#work();
    return promise.finally(() => signal?.removeEventListener('abort', onAbort)) as Promise<T>;
  }

  /** Rejects waiting and new jobs. Current steps run to their end, and no further one begins. */
  close(): void {
    this.#closed = true;
    for (const jobs of this.#jobs.values()) for (const { reject } of jobs) reject(closing());
    this.#jobs.clear();
  }

  #add(tenant: TenantId, job: Job): void {
    const jobs = this.#jobs.get(tenant);
    if (jobs) jobs.push(job);
    else this.#jobs.set(tenant, [job]);
  }

  async #work(): Promise<void> {
    if (this.#running === this.#atOnce) return;
    this.#running += 1;
    for (let next = this.#take(); next; next = this.#take()) {
      const began = performance.now();
      await this.#takeStep(...next);
      const pauseMs = this.#pauseMs(performance.now() - began);
      if (pauseMs >= 1) await sleep(pauseMs, undefined, { ref: false });
    }
    this.#running -= 1;
  }

  /** The first job of the next tenant that may take a step. That tenant then moves behind all others, with its other jobs. */
  #take(): [TenantId, Job] | undefined {
    for (const [tenant, jobs] of this.#jobs) {
      // One of its steps that run takes the next job when it ends.
      if ((this.#stepsOf.get(tenant) ?? 0) >= this.#mostOfTenant) continue;
      this.#jobs.delete(tenant);
      const waiting = jobs.filter(({ signal }) => !signal?.aborted);
      const job = waiting.shift();
      if (waiting.length > 0) this.#jobs.set(tenant, waiting);
      if (job) return [tenant, job];
    }
    return undefined;
  }

  async #takeStep(tenant: TenantId, job: Job): Promise<void> {
    this.#count(tenant, 1);
    try {
      const value = await job.step();
      if (value !== undefined) job.resolve(value);
      else if (this.#closed) job.reject(closing());
      else this.#add(tenant, job);
    } catch (error) {
      job.reject(error);
    }
    this.#count(tenant, -1);
  }

  #count(tenant: TenantId, more: number): void {
    const steps = (this.#stepsOf.get(tenant) ?? 0) + more;
    if (steps === 0) this.#stepsOf.delete(tenant);
    else this.#stepsOf.set(tenant, steps);
  }
}

const closing = () => unavailable('the server is stopping');
