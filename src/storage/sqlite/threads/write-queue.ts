import { unavailable } from '#core/errors.ts';
import type { AppendResult } from '../log/changes.ts';
import {
  type FailedJob,
  type Job,
  type JobAnswer,
  type JobKind,
  type JobResult,
  packJobs,
  weightOf,
} from './jobs.ts';
import { toError, type WorkerClient } from './thread.ts';

/**
 * A job is sent at once to a writer that has nothing to do, and others when they have about this many rows, so that the writer
 * works while more requests are read. It commits all messages that wait together (see `writer-thread.ts`).
 */
const rowsAMessage = 16;

/** A commit takes milliseconds. After this time without an answer, the disk counts as stalled. */
const stalledMs = 3_000;

type ReportedState = 'writer' | 'free space' | 'damage';

interface Waiting extends Pick<PromiseWithResolvers<JobResult>, 'resolve' | 'reject'> {
  readonly job: Job;
}

/**
 * The sending side of group commit. While the writer commits one batch, new messages wait; the next batch takes all of them.
 * So batches grow under load, and a single notification is committed at once. No timer is used.
 *
 * The queue refuses jobs by the state of the disk. Several states can hold at once.
 *
 * | State      | Begins                           | Ends                                       | Refused jobs          |
 * | ---------- | -------------------------------- | ------------------------------------------ | --------------------- |
 * | writer     | a write failed, or writer ended  | a write succeeds again                     | all but retain, sweep |
 * | stalled    | no answer for `stalledMs`        | the writer answers                         | all but retain, sweep |
 * | free space | the disk is nearly full          | there is enough free space                 | append, receipts      |
 * | damage     | a thread reads damaged data      | a notification is stored after the report  | none                  |
 */
export class WriteQueue {
  readonly #thread: WorkerClient;
  readonly #capacity: number;
  /** Jobs that are not sent to the writer yet. */
  #gathered: Waiting[] = [];
  #gatheredRows = 0;
  /** The receipts of all accepted jobs that are not durable yet. */
  #receiptsWaiting = 0;
  /** The number of jobs that are sent and not answered. */
  #sent = 0;
  /** The time of the writer's last answer, or of the first message after it had none left. */
  #progressAt = 0;
  /** The problem in each reported state. */
  readonly #problems = new Map<ReportedState, string>();

  /** `capacity`: the most jobs that may wait for the disk, and the most receipts, counted separately. */
  constructor(thread: WorkerClient, capacity: number) {
    this.#thread = thread;
    this.#capacity = capacity;
  }

  /** Begins a state with its problem, or ends it with undefined. Damage refuses no jobs, because it may affect few rows. */
  report(state: ReportedState, problem: string | undefined): void {
    if (problem === undefined) this.#problems.delete(state);
    else this.#problems.set(state, problem);
  }

  /** The problem of any state; undefined if the disk is healthy. */
  get problem(): string | undefined {
    return this.#problems.values().next().value ?? this.#stall();
  }

  /** The problem of a disk that neither completes a write nor fails. New jobs are refused at once, so that clients do not wait. */
  #stall(): string | undefined {
    const waitedMs = this.#sent === 0 ? 0 : performance.now() - this.#progressAt;
    if (waitedMs < stalledMs) return undefined;
    return `a write has waited ${Math.floor(waitedMs / 1000)} s for the disk, or for another process that holds the database`;
  }

  /**
   * The problem that refuses a job of this kind; undefined if it is accepted. A nearly full disk refuses the jobs that grow
   * with traffic, but a token can still be revoked. A failed or stalled disk accepts only the jobs that free space.
   */
  #problemFor(kind: JobKind): string | undefined {
    if (kind === 'retain' || kind === 'sweep') return undefined;
    const grows = kind === 'append' || kind === 'receipts';
    return (
      this.#problems.get('writer') ?? this.#stall() ?? (grows ? this.#problems.get('free space') : undefined)
    );
  }

  /** The number of accepted jobs that are not durable yet. */
  get depth(): number {
    return this.#gathered.length + this.#sent;
  }

  /**
   * Resolves once the job is durable.
   * @throws AppError `unavailable` at once when the queue is full, or when a state of the disk refuses the job.
   */
  push<J extends Job>(...job: J): Promise<JobResult<J[0]>> {
    const [kind] = job;
    const problem = this.#problemFor(kind);
    if (problem !== undefined) return Promise.reject(unavailable(`not stored: ${problem}`));
    if (this.depth >= this.#capacity) {
      return Promise.reject(
        unavailable(`not stored: ${this.#capacity} notifications are waiting for the disk; try again`),
      );
    }
    if (kind === 'receipts' && this.#receiptsWaiting >= this.#capacity) {
      return Promise.reject(
        unavailable(`not stored: ${this.#receiptsWaiting} receipts are waiting for the disk; try again`),
      );
    }
    return new Promise((resolve, reject) =>
      this.#gather({ job, resolve: resolve as Waiting['resolve'], reject }),
    );
  }

  /** Resolves when all accepted jobs are durable or failed, or after `withinMs`. */
  async drained(withinMs: number): Promise<void> {
    const end = performance.now() + withinMs;
    while (this.depth > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  #gather(waiting: Waiting): void {
    this.#gathered.push(waiting);
    this.#gatheredRows += weightOf(waiting.job);
    this.#receiptsWaiting += receiptsIn(waiting);
    if (this.#sent === 0 || this.#gatheredRows >= rowsAMessage) this.#send();
    // While the writer works, jobs of the same turn of the event loop go in one message.
    else if (this.#gathered.length === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    const [jobs, rows] = [this.#gathered, this.#gatheredRows];
    if (jobs.length === 0) return;
    this.#gathered = [];
    this.#gatheredRows = 0;
    if (this.#sent === 0) this.#progressAt = performance.now();
    this.#sent += jobs.length;
    void this.#commit(jobs, rows);
  }

  async #commit(jobs: readonly Waiting[], rows: number): Promise<void> {
    const damage = this.#problems.get('damage');
    try {
      const packed = packJobs(jobs.map(({ job }) => job));
      const answers = (await this.#thread.call('commit', packed, rows)) as readonly JobAnswer[];
      for (let i = 0; i < jobs.length; i++) {
        const answer = answers[i];
        // A notification was stored after the damage was reported, so the state ends.
        if (damage !== undefined && isStored(jobs[i] as Waiting, answer)) this.report('damage', undefined);
        settle(jobs[i] as Waiting, answer);
      }
    } catch (error) {
      for (const { reject } of jobs) reject(error);
    } finally {
      this.#sent -= jobs.length;
      for (const waiting of jobs) this.#receiptsWaiting -= receiptsIn(waiting);
      this.#progressAt = performance.now();
    }
  }
}

const receiptsIn = ({ job }: Waiting) => (job[0] === 'receipts' ? weightOf(job) : 0);

const isFailed = (answer: JobAnswer): answer is FailedJob =>
  typeof answer === 'object' && 'failure' in answer;

const isStored = ({ job }: Waiting, answer: JobAnswer | undefined): boolean =>
  job[0] === 'append' &&
  answer !== undefined &&
  !isFailed(answer) &&
  (typeof answer === 'number' || (answer as Exclude<AppendResult, number>).kind === 'stored');

function settle({ resolve, reject }: Waiting, answer: JobAnswer | undefined): void {
  if (answer === undefined) reject(new Error('the writer left a job without an answer'));
  else if (isFailed(answer)) reject(toError(answer.failure));
  else resolve(answer);
}
