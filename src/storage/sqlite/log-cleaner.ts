import type { Job, RetainResult } from './jobs.ts';
import type { LiveRow, LogWriter } from './log-writer.ts';

/** Expired retry keys forgotten in one transaction. */
const forgottenAtOnce = 1_000;
/** Live notifications cleared in one transaction because retention does not keep them. */
const clearedAtOnce = 500;

/** Moves the beginning of logs, and takes what has expired out of the live set. Runs inside the caller's transaction. */
export class LogCleaner {
  readonly #writer: LogWriter;

  constructor(writer: LogWriter) {
    this.#writer = writer;
  }

  /** Lets a log begin where retention has it. What is still on panels is cleared first, by entries of its own. */
  retain({ tenant, step, now }: Extract<Job, { kind: 'retain' }>): RetainResult {
    const log = this.#writer.logs.of(tenant);
    if (log.first !== step.from) return { more: false };
    const live = this.#liveBelow(tenant, step.first);
    for (const row of live) {
      const by = { reason: 'cleared', by: 'retention', at: now } as const;
      if (row.expires_at !== null && row.expires_at <= now) this.#takeOut(tenant, row);
      else this.#writer.takeOff(tenant, row, this.#writer.idAt(row.row), by);
    }
    if (live.length === clearedAtOnce) return { more: true };
    log.first = step.first;
    log.firstRow = step.firstRow;
    log.notifications = Math.max(0, log.notifications - step.notifications);
    log.bytes = Math.max(0, log.bytes - step.bytes);
    log.changed = true;
    return { more: false };
  }

  /** Takes what was found expired out of `live`, and forgets old retry keys; answers how many it took of both. */
  sweep({ now, expired }: Extract<Job, { kind: 'sweep' }>): number {
    const { sql } = this.#writer;
    let taken = sql
      .of(`DELETE FROM idempotency WHERE expires_at <= ? LIMIT ${forgottenAtOnce}`)
      .run(now).changes;
    const drop = sql.of(
      'DELETE FROM live WHERE tenant = ? AND rank = ? AND position = ? AND expires_at <= ?',
    );
    for (const { tenant, rank, position } of expired) taken += drop.run(tenant, rank, position, now).changes;
    return taken;
  }

  #takeOut(tenant: number, { rank, position }: LiveRow): void {
    this.#writer.sql
      .of('DELETE FROM live WHERE tenant = ? AND rank = ? AND position = ?')
      .run(tenant, rank, position);
  }

  /** Rank by rank, as the key of the table goes: going through all that is live would hold up commits. */
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
         LIMIT ${clearedAtOnce}`,
      )
      .all({ tenant, first });
  }
}
