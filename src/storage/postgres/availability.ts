import type pg from 'pg';
import { AppError } from '#core/errors.ts';
import { isLost } from './errors.ts';

const probeMs = 500;

export interface AvailabilityOptions {
  /** Called with each new reason why the database cannot be used, and with undefined once it can be used again. */
  readonly onProblem: (message: string | undefined) => void;
  /** Done after a loss, before the database counts as usable again. */
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
  #isClosed = false;

  constructor(pool: pg.Pool, options: AvailabilityOptions) {
    this.#pool = pool;
    this.#options = options;
    // A connection that breaks while it is idle says the same as one in use.
    pool.on('error', (error) => this.recordError(error));
  }

  /** undefined when all is well. */
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

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#probe);
  }

  #report(error: unknown): void {
    const cause = error instanceof AppError && error.cause !== undefined ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (reason === this.#reason) return;
    this.#reason = reason;
    this.#options.onProblem(`${this.#problem}: ${reason}`);
  }

  #probeSoon(): void {
    if (this.#isClosed) return;
    this.#probe ??= setTimeout(async () => {
      try {
        await this.#pool.query("UPDATE meta SET value = (value::bigint + 1)::text WHERE name = 'reopened'");
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
