import type { Statements } from './partitions.ts';

interface LogState {
  head: number;
  /** The row of the newest entry. */
  headRow: number;
  first: number;
  firstRow: number;
  notifications: number;
  bytes: number;
}

/**
 * Hands out positions inside one write transaction: the counters are read once per tenant, and written once, at its end.
 * That is what makes positions dense and in commit order.
 */
export class TenantLogs {
  readonly #sql: Statements;
  readonly #logs = new Map<number, LogState>();

  constructor(statements: Statements) {
    this.#sql = statements;
  }

  of(tenant: number): LogState {
    let log = this.#logs.get(tenant);
    if (!log) {
      const row = this.#sql
        .of<[number], LogState>(
          'SELECT head, head_row AS headRow, first, first_row AS firstRow, notifications, bytes FROM logs WHERE tenant = ?',
        )
        .get(tenant);
      log = row ?? { head: 0, headRow: 0, first: 1, firstRow: 0, notifications: 0, bytes: 0 };
      this.#logs.set(tenant, log);
    }
    return log;
  }

  /** The next position of the tenant's log, for an entry in `row`, and the row of the entry before it; `bytes` of a notification. */
  next(
    tenant: number,
    row: number,
    bytes?: number,
  ): { readonly position: number; readonly previous: number } {
    const log = this.of(tenant);
    // Nothing is kept: what comes now is the oldest.
    if (log.first > log.head) log.firstRow = row;
    log.head += 1;
    const previous = log.headRow;
    log.headRow = row;
    if (bytes !== undefined) {
      log.notifications += 1;
      log.bytes += bytes;
    }
    return { position: log.head, previous };
  }

  /** Writes the counters; part of what comes before COMMIT. */
  save(): void {
    const replace = this.#sql.of(
      'INSERT OR REPLACE INTO logs (tenant, head, head_row, first, first_row, notifications, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    for (const [tenant, { head, headRow, first, firstRow, notifications, bytes }] of this.#logs)
      replace.run(tenant, head, headRow, first, firstRow, notifications, bytes);
    this.forget();
  }

  /** After a rollback, and after save: nothing is carried from one transaction to the next. */
  forget(): void {
    this.#logs.clear();
  }
}
