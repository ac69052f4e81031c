import { AppError, unavailable } from '#core/errors.ts';
import { type PackedAnswers, packJobs, unpackAnswer, weightOf } from './batch.ts';
import type { AppendResult, Job, JobAnswer, JobResults } from './jobs.ts';
import type { WorkerClient } from './thread.ts';

/**
 * Rows sent to the writer in one message, about. They go as they come, so that it works while more are being read; what it
 * finds waiting it commits together (see `writer-thread.ts`).
 */
const rowsAMessage = 16;

/** A commit takes milliseconds; one that takes this long may take for ever. */
const stalledMs = 3_000;

interface Waiting {
  readonly job: Job;
  resolve(value: JobResults[Job['kind']]): void;
  reject(error: unknown): void;
}

/**
 * Group commit, this end of it. While the writer commits one batch, messages gather before it, and it takes all of them
 * for the next; so under load a batch grows to what the disk's own fsync takes, and a single notification waits for
 * nothing. No timer is involved.
 */
export class WriteQueue {
  readonly #thread: WorkerClient;
  readonly #capacity: number;
  /** Not sent to the writer yet. */
  #gathered: Waiting[] = [];
  #gatheredRows = 0;
  /** Of jobs accepted and not yet durable. */
  #receiptsWaiting = 0;
  /** Sent, and not answered. */
  #underWay = 0;
  /** When the writer last answered, or was given the first that is under way. */
  #movedAt = 0;
  /** Why intake is refused, by who found out. */
  readonly #troubles = new Map<string, string>();

  /** `capacity`: notifications that may wait for the disk before more are refused, and receipts beside them. */
  constructor(thread: WorkerClient, capacity: number) {
    this.#thread = thread;
    this.#capacity = capacity;
  }

  /**
   * A source says what is wrong with the disk, or undefined once it is well again. Damage of the file refuses nothing, as it
   * may concern few; it ends with the next notification that is stored.
   */
  report(source: 'writer' | 'free space' | 'damage', problem: string | undefined): void {
    if (problem === undefined) this.#troubles.delete(source);
    else this.#troubles.set(source, problem);
  }

  /** Why nothing can be stored now; undefined when all is well. */
  get problem(): string | undefined {
    return this.#troubles.values().next().value ?? this.#stall();
  }

  /** A disk that neither takes a write nor fails: for its sake nobody else is to wait as well. */
  #stall(): string | undefined {
    const waitedMs = this.#underWay === 0 ? 0 : performance.now() - this.#movedAt;
    if (waitedMs < stalledMs) return undefined;
    return `a write has waited ${Math.floor(waitedMs / 1000)} s for the disk, or for another process that holds the database`;
  }

  /**
   * Why a job of this kind cannot be taken now. On a disk that is only nearly full, what grows with traffic is refused;
   * a token can still be revoked. On one that failed, only what frees space is let through.
   */
  #refusing(kind: Job['kind']): string | undefined {
    if (kind === 'retain' || kind === 'sweep') return undefined;
    const grows = kind === 'append' || kind === 'receipts';
    return (
      this.#troubles.get('writer') ?? this.#stall() ?? (grows ? this.#troubles.get('free space') : undefined)
    );
  }

  /** Jobs accepted and not yet durable. */
  get depth(): number {
    return this.#gathered.length + this.#underWay;
  }

  /**
   * Resolves once the job is durable.
   * @throws AppError `unavailable` at once when the queue is full or the disk is known to be in trouble.
   */
  push<K extends Job['kind']>(job: Extract<Job, { kind: K }>): Promise<JobResults[K]> {
    const problem = this.#refusing(job.kind);
    if (problem !== undefined) return Promise.reject(unavailable(`not stored: ${problem}`));
    if (this.depth >= this.#capacity) {
      return Promise.reject(
        unavailable(`not stored: ${this.#capacity} notifications are waiting for the disk; try again`),
      );
    }
    if (job.kind === 'receipts' && this.#receiptsWaiting >= this.#capacity) {
      return Promise.reject(
        unavailable(`not stored: ${this.#receiptsWaiting} receipts are waiting for the disk; try again`),
      );
    }
    return new Promise((resolve, reject) =>
      this.#gather({ job, resolve: resolve as Waiting['resolve'], reject }),
    );
  }

  /** Resolves when nothing is waiting any more, or after `withinMs`. */
  async drained(withinMs: number): Promise<void> {
    const end = performance.now() + withinMs;
    while (this.depth > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  #gather(waiting: Waiting): void {
    this.#gathered.push(waiting);
    this.#gatheredRows += weightOf(waiting.job);
    this.#receiptsWaiting += receiptsIn(waiting);
    if (this.#gatheredRows >= rowsAMessage) this.#send();
    // What arrives in the same turn of the event loop goes together.
    else if (this.#gathered.length === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    const jobs = this.#gathered;
    if (jobs.length === 0) return;
    this.#gathered = [];
    this.#gatheredRows = 0;
    if (this.#underWay === 0) this.#movedAt = performance.now();
    this.#underWay += jobs.length;
    void this.#commit(jobs);
  }

  async #commit(jobs: readonly Waiting[]): Promise<void> {
    const damage = this.#troubles.get('damage');
    try {
      const answers = await this.#thread.call<PackedAnswers>('commit', packJobs(jobs.map(({ job }) => job)));
      for (let i = 0; i < jobs.length; i++) {
        const answer = unpackAnswer(answers[i]);
        // Stored since the damage was met, so notifications can be stored.
        if (damage !== undefined && isStored(jobs[i] as Waiting, answer)) this.report('damage', undefined);
        settle(jobs[i] as Waiting, answer);
      }
    } catch (error) {
      for (const { reject } of jobs) reject(error);
    } finally {
      this.#underWay -= jobs.length;
      for (const waiting of jobs) this.#receiptsWaiting -= receiptsIn(waiting);
      this.#movedAt = performance.now();
    }
  }
}

const receiptsIn = ({ job }: Waiting) => (job.kind === 'receipts' ? weightOf(job) : 0);

const isStored = ({ job }: Waiting, answer: JobAnswer | undefined): boolean =>
  job.kind === 'append' &&
  answer !== undefined &&
  'value' in answer &&
  (answer.value as AppendResult).kind === 'stored';

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
