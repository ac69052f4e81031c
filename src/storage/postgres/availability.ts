import type pg from 'pg';
import { afterWaiting } from '#core/concurrency.ts';
import { AppError } from '#core/errors.ts';
import { isLost } from './errors.ts';

const probeMs = 500;
/** A database that answers nothing for this long, after the pause between two probes, counts as away. */
const silentMs = 1_500;
/** How long a probe waits for a lock, and for its answer. */
const probeLockMs = 1_000;
const probeAnswerMs = 3_000;

/** Waits for the locks that an append waits for, and changes a row. */
const writeProbe = `BEGIN; SET LOCAL lock_timeout = ${probeLockMs}; LOCK TABLE log, logs, live IN ROW EXCLUSIVE MODE;
  UPDATE meta SET value = (value::bigint + 1)::text WHERE name = 'reopened'; COMMIT`;

export interface AvailabilityOptions {
  /** Called with each new reason why the database cannot be used, and with undefined once it can be used again. */
  readonly onProblem: (message: string | undefined) => void;
  /** Runs after a loss, before the database counts as usable again. */
  readonly onReturn: () => Promise<void>;
}

/** Whether the database takes writes, as far as this process knows. */
export class Availability {
  readonly #pool: pg.Pool;
  readonly #options: AvailabilityOptions;
  #problem: string | undefined;
  /** What was reported last. */
  #reason: string | undefined;
  #probe: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(pool: pg.Pool, options: AvailabilityOptions) {
    this.#pool = pool;
    this.#options = options;
    // A connection that breaks while it is idle says the same as one in use.
    pool.on('error', (error) => this.recordError(error));
    this.#watchSoon();
  }

  /** Undefined while the database can be used. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** After an error that says that the database is lost, it counts as lost until a write has succeeded. */
  recordError(error: unknown): void {
    if (this.#isClosed || !(error instanceof Error) || !isLost(error)) return;
    // Callers do not learn the address or name of the database's machine.
    this.#problem = 'PostgreSQL cannot be used';
    this.#report(error);
    this.#probeSoon();
  }

  /** Something takes too long, whatever the reason: the database counts as lost until a write has succeeded. */
  stalled(problem: string): void {
    if (this.#isClosed || this.#problem !== undefined) return;
    this.#problem = problem;
    this.#reason = problem;
    this.#options.onProblem(problem);
    this.#probeSoon();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#watch);
    clearTimeout(this.#probe);
  }

  /** Without traffic, nothing else would notice that the database is silent. */
  #watchSoon(): void {
    if (this.#isClosed) return;
    this.#watch = setTimeout(async () => {
      if (this.#problem === undefined) await this.#waitForAnswer();
      this.#watchSoon();
    }, probeMs).unref();
  }

  /** Resolves when the database has answered, or counts as lost. */
  #waitForAnswer(): Promise<void> {
    return new Promise((resolve) => {
      const stop = afterWaiting(silentMs, () => {
        this.stalled(`PostgreSQL has not answered for ${(silentMs + probeMs) / 1000} s`);
        resolve();
      });
      this.#pool
        .query('SELECT 1')
        .catch((error: unknown) => this.recordError(error))
        .finally(() => {
          stop();
          resolve();
        });
    });
  }

  #report(error: unknown): void {
    const cause = error instanceof AppError && error.cause !== undefined ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (reason === this.#reason) return;
    this.#reason = reason;
    this.#options.onProblem(`${this.#problem}: ${reason}`);
  }

  async #write(): Promise<void> {
    const client = await this.#pool.connect();
    let isDone = false;
    // The probe under way reports it.
    const ignore = () => undefined;
    client.on('error', ignore);
    try {
      await client.query({ text: writeProbe, query_timeout: probeAnswerMs } as pg.QueryConfig);
      isDone = true;
    } finally {
      client.off('error', ignore);
      // Otherwise its transaction may be open.
      client.release(!isDone);
    }
  }

  #probeSoon(): void {
    if (this.#isClosed) return;
    this.#probe ??= setTimeout(async () => {
      try {
        await this.#write();
        await this.#options.onReturn();
        this.#problem = undefined;
        this.#reason = undefined;
        this.#options.onProblem(undefined);
      } catch (error) {
        this.#report(error);
      } finally {
        this.#probe = undefined;
      }
      if (this.#problem !== undefined) this.#probeSoon();
    }, probeMs);
  }
}
