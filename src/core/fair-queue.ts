import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';

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
  #running = 0;
  #closed = false;

  /** `pauseMs`: returns the pause after a step that took `tookMs` milliseconds. */
  constructor(atOnce = 1, pauseMs: (tookMs: number) => number = () => 0) {
    this.#atOnce = atOnce;
    this.#pauseMs = pauseMs;
  }

  /**
   * Runs steps until one returns a result. An aborted job rejects at once, and no further step of it begins.
   *
   * @throws what a step throws, the signal's reason, or AppError `unavailable` once the queue is closed.
   */
  run<T>(tenant: TenantId, step: Step<T>, signal?: AbortSignal): Promise<T> {
    if (this.#closed) return Promise.reject(closing());
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise<T>((resolve, reject) => {
      const onAbort = () => reject(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      const ended = () => signal?.removeEventListener('abort', onAbort);
      this.#add(tenant, {
        step,
        signal,
        resolve: (value) => {
          ended();
          resolve(value as T);
        },
        reject: (reason) => {
          ended();
          reject(reason);
        },
      });
      void this.#work();
    });
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

  /** The first job of the next tenant. That tenant then moves behind all others, with its other jobs. */
  #take(): [TenantId, Job] | undefined {
    for (const [tenant, jobs] of this.#jobs) {
      this.#jobs.delete(tenant);
      const waiting = jobs.filter(({ signal }) => !signal?.aborted);
      const job = waiting.shift();
      if (waiting.length > 0) this.#jobs.set(tenant, waiting);
      if (job) return [tenant, job];
    }
    return undefined;
  }

  async #takeStep(tenant: TenantId, job: Job): Promise<void> {
    try {
      const value = await job.step();
      if (value !== undefined) job.resolve(value);
      else if (this.#closed) job.reject(closing());
      else this.#add(tenant, job);
    } catch (error) {
      job.reject(error);
    }
  }
}

const closing = () => unavailable('the server is stopping');
