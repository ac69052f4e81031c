import type { TenantId } from '#core/log/route.ts';
import { getOrMake } from '#core/maps.ts';
import type { Statements } from './partitions.ts';

interface LogState {
  /** The position of the newest entry. */
  head: number;
  headRow: number;
  /** The oldest position that is kept. */
  first: number;
  /** Rows below this one are not kept. */
  firstRow: number;
  notifications: number;
  bytes: number;
}

/** The counters of a tenant's log; those of an empty log when there is none. */
export function readLog(sql: Statements, tenant: TenantId): LogState {
  const log = sql
    .of<[number], LogState>(
      'SELECT head, head_row AS headRow, first, first_row AS firstRow, notifications, bytes FROM logs WHERE tenant = ?',
    )
    .get(tenant);
  return log ?? { head: 0, headRow: 0, first: 1, firstRow: 0, notifications: 0, bytes: 0 };
}

export interface NextEntry {
  readonly position: number;
  /** The row of the tenant's entry before it; 0 if there is none. */
  readonly previous: number;
}

/**
 * Assigns positions inside one write transaction. It reads the counters of a tenant once, and writes them once at the end. So
 * positions have no gaps and are in commit order.
 */
export class TenantLogs {
  readonly #sql: Statements;
  readonly #logs = new Map<number, LogState>();

  constructor(statements: Statements) {
    this.#sql = statements;
  }

  of(tenant: number): LogState {
    return getOrMake(this.#logs, tenant, () => readLog(this.#sql, tenant));
  }

  /** The position of the tenant's next entry, which will be in `row`. `bytes`: the size of a notification, absent for other entries. */
  next(tenant: number, row: number, bytes?: number): NextEntry {
    const log = this.of(tenant);
    // The log is empty, so this entry is the oldest one.
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

  /** Writes the counters. Call it before COMMIT. */
  save(): void {
    const replace = this.#sql.of(
      'INSERT OR REPLACE INTO logs (tenant, head, head_row, first, first_row, notifications, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    for (const [tenant, { head, headRow, first, firstRow, notifications, bytes }] of this.#logs)
      replace.run(tenant, head, headRow, first, firstRow, notifications, bytes);
    this.forget();
  }

  /** Call it after a rollback, because the next transaction must read the counters again. */
  forget(): void {
    this.#logs.clear();
  }
}
