import { dropAcknowledgements } from './acknowledgements.ts';
import type { Job, RetainResult } from './jobs.ts';
import { idAt } from './log-lookup.ts';
import type { LiveRow, LogWriter } from './log-writer.ts';

/** The most expired idempotency keys that one transaction deletes. */
const maxDeletedKeys = 1_000;
/** The most live notifications that one transaction of retention clears. */
const maxCleared = 500;

/** Moves the start of logs, and deletes expired rows of the `live` table. Runs inside the caller's transaction. */
export class LogCleaner {
  readonly #writer: LogWriter;

  constructor(writer: LogWriter) {
    this.#writer = writer;
  }

  /**
   * Moves the start of a log to `step.first`. First clears the older notifications that panels still show, and adds an
   * entry to the log for each. Returns `more: true` while some are left; the caller then calls it again.
   */
  retain({ tenant, step, now }: Extract<Job, { kind: 'retain' }>): RetainResult {
    const log = this.#writer.logs.of(tenant);
    if (log.first !== step.from) return { more: false };
    const live = this.#liveBelow(tenant, step.first);
    for (const row of live) {
      const by = { reason: 'cleared', by: 'retention', at: now } as const;
      if (row.expires_at !== null && row.expires_at <= now) this.#deleteLive(tenant, row);
      else this.#writer.takeOff(tenant, row, idAt(this.#writer.sql, row.row), by);
    }
    if (live.length === maxCleared) return { more: true };
    log.first = step.first;
    log.firstRow = step.firstRow;
    log.notifications = Math.max(0, log.notifications - step.notifications);
    log.bytes = Math.max(0, log.bytes - step.bytes);
    dropAcknowledgements(this.#writer.sql, tenant, log.firstRow);
    return { more: false };
  }

  /** Deletes `expired` from `live`, and expired idempotency keys. Returns the number of deleted rows of both. */
  sweep({ now, expired }: Extract<Job, { kind: 'sweep' }>): number {
    const { sql } = this.#writer;
    let deleted = sql
      .of(`DELETE FROM idempotency WHERE expires_at <= ? LIMIT ${maxDeletedKeys}`)
      .run(now).changes;
    const drop = sql.of(
      'DELETE FROM live WHERE tenant = ? AND rank = ? AND position = ? AND expires_at <= ?',
    );
    for (const { tenant, rank, position } of expired)
      deleted += drop.run(tenant, rank, position, now).changes;
    return deleted;
  }

  #deleteLive(tenant: number, { rank, position }: LiveRow): void {
    this.#writer.sql
      .of('DELETE FROM live WHERE tenant = ? AND rank = ? AND position = ?')
      .run(tenant, rank, position);
  }

  /** Returns the live notifications before `first`. Seeks in the primary key by rank, because a full scan would delay commits. */
  #liveBelow(tenant: number, first: number): LiveRow[] {
    return this.#writer.sql
      .of<[{ tenant: number; first: number }], LiveRow>(
        `WITH RECURSIVE ranks(rank) AS (
           SELECT min(rank) FROM live WHERE tenant = @tenant
           UNION ALL
           SELECT (SELECT min(l.rank) FROM live l WHERE l.tenant = @tenant AND l.rank > ranks.rank) FROM ranks
           WHERE ranks.rank IS NOT NULL
         )
         SELECT l.rank, l.position, l.row, l.expires_at, l.route FROM ranks
         CROSS JOIN live l ON l.tenant = @tenant AND l.rank = ranks.rank AND l.position < @first
         LIMIT ${maxCleared}`,
      )
      .all({ tenant, first });
  }
}
