import type { CompiledQuery } from 'kysely';
import type { TenantId } from '#core/ports.ts';

export interface SqlResult {
  readonly rows: readonly Record<string, unknown>[];
  /** Rows inserted, updated or deleted. */
  readonly changes: number;
}

/** How the directory reaches its database: SQLite's threads, or a pool of PostgreSQL connections. */
export interface SqlExecutor {
  /** `tenant`: sees rows of that tenant alone, where the database can hold a statement to it; without it, of all. */
  read<T>(query: CompiledQuery<T>, tenant?: TenantId): Promise<T[]>;
  /** Runs all of them in one durable transaction, or none; answers each one's result. `tenant`: as with `read`. */
  write(queries: readonly CompiledQuery[], tenant?: TenantId): Promise<readonly SqlResult[]>;
}
