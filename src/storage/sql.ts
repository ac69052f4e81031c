import type { CompiledQuery } from 'kysely';

export interface SqlResult {
  readonly rows: readonly Record<string, unknown>[];
  /** Rows inserted, updated or deleted. */
  readonly changes: number;
}

/** How the directory reaches its database: SQLite's threads, or a pool of PostgreSQL connections. */
export interface SqlExecutor {
  read<T>(query: CompiledQuery<T>): Promise<T[]>;
  /** Runs all of them in one durable transaction, or none; answers each one's result. */
  write(queries: readonly CompiledQuery[]): Promise<readonly SqlResult[]>;
}
