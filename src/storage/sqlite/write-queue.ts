import { AppError, unavailable } from '../../core/errors.ts';
import type { Job, JobAnswer, JobResults } from './jobs.ts';
import type { Thread } from './thread.ts';

/** The most jobs one transaction takes: larger ones gain nothing on the fsync and make the first wait for the last. */
const batchLimit = 256;

interface Waiting {
  readonly job: Job;
  resolve(value: JobResults[Job['kind']]): void;
  reject(error: unknown): void;
}

/**
 * Group commit. While the writer commits one batch, the next gathers; so under load a batch grows to what the disk's own
 * fsync takes, and a single notification waits for nothing. No timer is involved.
 */
export class WriteQueue {
  readonly #thread: Thread;
  readonly #capacity: number;
  #waiting: Waiting[] = [];
  #committing = 0;
  #scheduled = false;
  /** Why intake is refused, by who found out. */
  readonly #troubles = new Map<string, string>();

  /** `capacity`: notifications that may wait for the disk before more are refused. */
  constructor(thread: Thread, capacity: number) {
    this.#thread = thread;
    this.#capacity = capacity;
  }

  /** A source says what is wrong with the disk, or undefined once it is well again. */
  report(source: 'writer' | 'free space', trouble: string | undefined): void {
    if (trouble === undefined) this.#troubles.delete(source);
    else this.#troubles.set(source, trouble);
  }

  /** Why nothing can be stored now; undefined when all is well. */
  get trouble(): string | undefined {
    return this.#troubles.values().next().value;
  }

  /**
   * Why a job of this kind cannot be taken now. On a disk that is only nearly full, what grows with traffic is refused;
   * a token can still be revoked. On one that failed, only what frees space is let through.
   */
  #refusing(kind: Job['kind']): string | undefined {
    if (kind === 'prune' || kind === 'sweep') return undefined;
    const grows = kind === 'append' || kind === 'receipts';
    return this.#troubles.get('writer') ?? (grows ? this.#troubles.get('free space') : undefined);
  }

  /** Jobs accepted and not yet durable. */
  get depth(): number {
    return this.#waiting.length + this.#committing;
  }

  /**
   * Resolves once the job is durable.
   * @throws AppError `unavailable` at once when the queue is full or the disk is known to be in trouble.
   */
  push<K extends Job['kind']>(job: Extract<Job, { kind: K }>): Promise<JobResults[K]> {
    const trouble = this.#refusing(job.kind);
    if (trouble !== undefined) return Promise.reject(unavailable(`not stored: ${trouble}`));
    if (this.depth >= this.#capacity) {
      return Promise.reject(
        unavailable(`not stored: ${this.#capacity} notifications are waiting for the disk; try again`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve: resolve as Waiting['resolve'], reject });
      if (this.#committing === 0 && !this.#scheduled) {
        this.#scheduled = true;
        // Everything that arrived in the same turn of the event loop shares the first batch.
        setImmediate(() => void this.#run());
      }
    });
  }

  /** Resolves when nothing is waiting any more. */
  async drained(): Promise<void> {
    while (this.depth > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async #run(): Promise<void> {
    this.#scheduled = false;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchLimit);
      this.#committing = batch.length;
      try {
        const answers = await this.#thread.call<JobAnswer[]>(
          'commit',
          batch.map(({ job }) => job),
        );
        for (const [index, waiting] of batch.entries()) settle(waiting, answers[index]);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#committing = 0;
  }
}

function settle({ resolve, reject }: Waiting, answer: JobAnswer | undefined): void {
  if (!answer) return reject(new Error('the writer left a job without an answer'));
  if ('value' in answer) return resolve(answer.value);
  const { code, message } = answer.refused;
  reject(
    code === undefined
      ? new Error(message)
      : code === 'unavailable'
        ? unavailable(message)
        : new AppError(code, message),
  );
}
