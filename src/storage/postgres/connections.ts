import type pg from 'pg';
import { unavailable } from '#core/errors.ts';
import { isLost, toAppError } from './database.ts';

const probeMs = 500;

/** Whether the database takes writes, as far as this process knows. */
export class Availability {
  readonly #pool: pg.Pool;
  readonly #onProblem: (message: string | undefined) => void;
  #problem: string | undefined;
  #probe: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `onProblem` hears why the database cannot be used, and undefined once it can again. */
  constructor(pool: pg.Pool, onProblem: (message: string | undefined) => void) {
    this.#pool = pool;
    this.#onProblem = onProblem;
  }

  /** undefined when all is well. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** After an error that says that the database is lost, it counts as lost until a write has succeeded. */
  met(error: unknown): void {
    if (this.#isClosed || !(error instanceof Error) || !isLost(error)) return;
    if (this.#problem === undefined) {
      // What is told to callers has no address or name of the database's machine.
      this.#problem = 'PostgreSQL cannot be used';
      this.#onProblem(`${this.#problem}: ${error.message}`);
    }
    this.#probeSoon();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#probe);
  }

  #probeSoon(): void {
    if (this.#isClosed) return;
    this.#probe ??= setTimeout(async () => {
      this.#probe = undefined;
      try {
        await this.#pool.query("UPDATE meta SET value = (value::bigint + 1)::text WHERE name = 'reopened'");
        this.#problem = undefined;
        this.#onProblem(undefined);
      } catch {
        this.#probeSoon();
      }
    }, probeMs);
  }
}

/** How many may wait for a connection before more are refused. */
const mostWaiting = 10_000;

/** Some of a pool's connections, for one kind of work: given out in the order in which they were asked for. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #availability: Availability;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(pool: pg.Pool, availability: Availability, atOnce: number) {
    this.#pool = pool;
    this.#availability = availability;
    this.#free = atOnce;
  }

  /**
   * Resolves with what `work` answers.
   * @throws AppError `unavailable` when the database cannot be reached, or too many wait already.
   */
  async run<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
    if (this.#waiting.length >= mostWaiting) throw unavailable('too much waits for the database; try again');
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      return await work(this.#pool);
    } catch (error) {
      this.#availability.met(error);
      throw toAppError(error);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  /** One statement's rows. `name` prepares it once on each connection. */
  query<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.run(async (pool) => (await pool.query({ name, text, values: [...values] })).rows as Row[]);
  }
}
