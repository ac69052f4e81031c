import { type Compilable, type CompiledQuery, type Dialect, Kysely, type RawBuilder } from 'kysely';
import type { TenantId } from '#core/ports.ts';
import type { Schema } from './schema.ts';

/** A statement: built from a {@link Database}, or written with `sql`. */
export type Statement<Row = unknown> = Compilable<Row> | RawBuilder<Row>;

export interface SqlResult {
  readonly rows: readonly Record<string, unknown>[];
  /** Rows inserted, updated or deleted. */
  readonly changes: number;
}

/** How statements reach the database: over SQLite's threads, or a pool of PostgreSQL connections. */
export interface SqlExecutor {
  read<Row>(query: CompiledQuery<Row>, tenant?: TenantId): Promise<Row[]>;
  write(queries: readonly CompiledQuery[], tenant?: TenantId): Promise<readonly SqlResult[]>;
}

/** The tables of the directory: builds statements in the database's dialect, and runs them. */
export class Database extends Kysely<Schema> {
  readonly #executor: SqlExecutor;

  constructor(dialect: Dialect, executor: SqlExecutor) {
    super({ dialect });
    this.#executor = executor;
  }

  /** `tenant`: on PostgreSQL, row-level security restricts the statement to rows of this tenant. Without it, the statement sees rows of all tenants. */
  read<Row>(statement: Statement<Row>, tenant?: TenantId): Promise<Row[]> {
    return this.#executor.read(statement.compile(this), tenant);
  }

  /** Runs all statements in one durable transaction, or none; returns the result of each. `tenant`: as for `read`. */
  write(statements: readonly Statement[], tenant?: TenantId): Promise<readonly SqlResult[]> {
    return this.#executor.write(
      statements.map((statement) => statement.compile(this)),
      tenant,
    );
  }
}
