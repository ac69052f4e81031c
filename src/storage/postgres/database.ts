/** Connections to PostgreSQL, and what every one of them is set to. */
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import pg from 'pg';
import { AppError } from '#core/errors.ts';
import type { Builder, Schema } from '../schema.ts';

/** A statement that runs longer is ended, and its request answered with 503. */
const statementMs = 10_000;
/** How long a statement waits for a row that another transaction holds. */
const lockMs = 5_000;
/** How long a query waits for a connection: a new one, or one that is free. */
const connectMs = 10_000;
/** A transaction that sits idle this long is ended: its process hangs. */
const idleInTransactionMs = 10_000;

const int8 = 20;
const numeric = 1700;

/** Whole numbers come as numbers: none that Belfry stores is above 2^53. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === int8 || oid === numeric) return Number;
    return (pg.types.getTypeParser as (oid: number, format?: string) => (value: string) => unknown)(
      oid,
      format,
    );
  },
} as pg.CustomTypesConfig;

export interface PostgresOptions {
  /** As in postgres://user:password@host/database. */
  readonly url: string;
  /** Connections this process may have open. */
  readonly connections: number;
}

/** Opens no connection before the first query. */
export function createPool({ url, connections }: PostgresOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    types,
    application_name: 'belfry',
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server's own time-out does not help when its machine is gone.
    query_timeout: 15_000,
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
export async function transaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  // The next statement reports it.
  const ignore = () => undefined;
  client.on('error', ignore);
  try {
    await client.query('BEGIN');
    const value = await work(client);
    await client.query('COMMIT');
    return value;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}

/** Errors after which the same transaction may succeed: a deadlock, or a conflict between transactions. */
const retryable = new Set(['40001', '40P01']);
/** Classes of errors that say nothing about the request: a lock or a statement that took too long, and as in {@link isLost}. */
const unavailableClasses = new Set(['08', '53', '55', '57', '58']);

/** A row has no partition to go to: the next ones must be made. */
export const isMissingPartition = (error: unknown): boolean =>
  codeOf(error) === '23514' && (error as { routine?: unknown }).routine === 'ExecFindPartition';

export const isRetryable = (error: unknown): boolean => retryable.has(codeOf(error));

/** There is no connection, PostgreSQL starts or stops, or it has no resources or a disk that fails. */
export function isLost(error: Error): boolean {
  const code = codeOf(error);
  if (code === '') return error.name === 'Error' && /connect|terminated|timeout/i.test(error.message);
  return /^E[A-Z_]+$/.test(code) || /^(08|25006|28|3D|53[13]|57P|58)/.test(code);
}

/** An error of PostgreSQL or of the connection to it as AppError `unavailable`; any other as it is. */
export function toAppError(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  if (isLost(error) || isRetryable(error) || unavailableClasses.has(codeOf(error).slice(0, 2)))
    return new AppError('unavailable', 'the database is not available; try again', {
      retryAfterSeconds: 1,
      cause: error,
    });
  return error;
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
