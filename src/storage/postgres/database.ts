/** Connections to PostgreSQL, and what every one of them is set to. */
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import pg from 'pg';
import type { Builder, Schema } from '../schema.ts';
import { isLost } from './errors.ts';

/** How long things may take; each ends in an answer of 503. */
export interface Timeouts {
  /** A statement that runs longer is ended. */
  readonly statementMs: number;
  /** How long a statement waits for a row that another transaction holds. */
  readonly lockMs: number;
  /** How long is waited for a connection: a new one, or one that is free. */
  readonly connectMs: number;
  /** How long this process waits for an answer: the time-outs above do not help when the database's machine is gone. */
  readonly answerMs: number;
}

export const usualTimeouts: Timeouts = {
  statementMs: 10_000,
  lockMs: 5_000,
  connectMs: 10_000,
  answerMs: 15_000,
};

/** A transaction that sits idle this long is ended: its process hangs. */
const idleInTransactionMs = 10_000;

/** Whole numbers (bigint and numeric) come as numbers: none that Belfry stores is above 2^53. */
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

/** Writes the directory's queries in PostgreSQL's dialect; a `SqlExecutor` runs them. */
export function createPostgresBuilder(): Builder {
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
export async function transaction<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const value = await work();
    await client.query('COMMIT');
    return value;
  } catch (error) {
    // On a lost connection nothing is rolled back by us: whoever gave the client discards it.
    if (!(error instanceof Error && isLost(error))) await client.query('ROLLBACK');
    throw error;
  }
}
