/** Connections to PostgreSQL: their settings, and which work may use how many. */
import pg from 'pg';
import { AppError, unavailable } from '#core/errors.ts';
import { afterWaiting } from '#core/limits/concurrency.ts';
import type { TenantId } from '#core/log/route.ts';
import { isLost, isMissingTable, toAppError } from './errors.ts';

/** How long things may take; each ends in an answer of 503. */
export interface Timeouts {
  /** A statement that runs longer is ended. */
  readonly statementMs: number;
  /** How long a statement waits for a row that another transaction holds. */
  readonly lockMs: number;
  /** How long a statement waits for a connection, new or free. */
  readonly connectMs: number;
  /**
   * How long this process waits for an answer: the time-outs above do not help when the database's machine is gone. It is shorter than they are,
   * so that callers do not wait for them.
   */
  readonly answerMs: number;
}

export const usualTimeouts: Timeouts = {
  statementMs: 10_000,
  lockMs: 5_000,
  connectMs: 10_000,
  answerMs: 8_000,
};

/** A transaction that sits idle this long is ended: its process hangs. */
const idleInTransactionMs = 10_000;

/** Reads whole numbers (bigint and numeric) as numbers, because Belfry stores none above 2^53. */
const types = new pg.TypeOverrides();
for (const oid of [20, 1700]) types.setTypeParser(oid, Number);

export interface PoolOptions extends Timeouts {
  /** As in postgres://user:password@host/database. */
  readonly url: string;
  /** Connections this pool may have open. */
  readonly connections: number;
}

/** Opens no connection before the first query. */
export function createPool({ url, connections, ...timeouts }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    types,
    application_name: 'belfry',
    connectionTimeoutMillis: timeouts.connectMs,
    statement_timeout: timeouts.statementMs,
    lock_timeout: timeouts.lockMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: timeouts.answerMs,
    // A commit is on the disk when it is answered, whatever the server's own setting.
    options: '-c synchronous_commit=on -c timezone=UTC -c jit=off',
  });
  // A connection that breaks while it is idle is replaced by the next query.
  pool.on('error', () => {});
  return pool;
}

/** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
export async function transaction<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const value = await work();
    await client.query('COMMIT');
    return value;
  } catch (error) {
    // PostgreSQL rolls back by itself when the connection is lost; the caller then discards the client.
    if (!(error instanceof Error && isLost(error))) await client.query('ROLLBACK');
    throw error;
  }
}

/** Whose rows the database lets a statement see and write: one tenant's, or all for work that spans tenants. */
export type Scope = TenantId | 'all';

/** How many may wait for a connection before more are refused. */
const mostWaiting = 10_000;

export interface PoolShareOptions {
  readonly availability: Availability;
  /** Connections of the pool that may be in use at once. */
  readonly atOnce: number;
  /** The longest wait for one; then the call is refused. */
  readonly waitMs: number;
}

/** Some of a pool's connections, for one kind of work. The first to wait gets the next free one. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #options: PoolShareOptions;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(pool: pg.Pool, options: PoolShareOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#free = options.atOnce;
  }

  /**
   * Resolves with the result of `work`. Its statements see only rows of `scope`, by the policies of the tables.
   * @throws AppError `unavailable` when the database cannot be reached, or all connections stay in use.
   */
  async run<T>(scope: Scope, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#free === 0) await this.#wait();
    else this.#free -= 1;
    try {
      return await runOn(this.#pool, scope, work);
    } catch (error) {
      this.#options.availability.recordError(error);
      throw toAppError(error);
    } finally {
      const [next] = this.#waiting;
      if (next) next();
      else this.#free += 1;
    }
  }

  /**
   * One statement's rows. Each connection prepares it once, so texts must be few. It runs again when a partition that it looks into
   * was dropped meanwhile.
   */
  async query<Row>(scope: Scope, text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const name = names.get(text) ?? `statement-${names.size}`;
    names.set(text, name);
    const config = { name, text, values: [...values] };
    const run = () => this.run(scope, async (client) => (await client.query(config)).rows as Row[]);
    return run().catch((error: unknown) => (isMissingTable(error) ? run() : Promise.reject(error)));
  }

  #wait(): Promise<void> {
    if (this.#waiting.size >= mostWaiting) throw tooMuch();
    return new Promise<void>((resolve, reject) => {
      const take = () => {
        clearTimeout(timer);
        this.#waiting.delete(take);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(take);
        reject(tooMuch());
      }, this.#options.waitMs);
      this.#waiting.add(take);
    });
  }
}

/** The names of prepared statements, by their text. */
const names = new Map<string, string>();

const tooMuch = () => unavailable('too much waits for the database; try again');

/** The value of `belfry.tenant` on each connection; missing if it is not known. */
const scopes = new WeakMap<pg.PoolClient, Scope>();

async function runOn<T>(
  pool: pg.Pool,
  scope: Scope,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  // The statement under way reports it.
  const ignore = () => undefined;
  client.on('error', ignore);
  try {
    if (scopes.get(client) !== scope) {
      scopes.delete(client);
      await client.query("SELECT set_config('belfry.tenant', $1, false)", [String(scope)]);
      scopes.set(client, scope);
    }
    return await work(client);
  } catch (error) {
    isBroken = error instanceof Error && isLost(error);
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(isBroken);
  }
}

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
