/** Connections to PostgreSQL: their settings, and which work may use how many. */
import pg from 'pg';
import { unavailable } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';
import type { Availability } from './availability.ts';
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
