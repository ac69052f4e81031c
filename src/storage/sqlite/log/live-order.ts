import type { TenantId } from '#core/ports.ts';
import type { Statements } from './partitions.ts';

/** Notifications that are no longer live are removed from the copy when so many were added, or as many as it had. */
const leastAdded = 10_000;

/**
 * What is on panels, in the order in which panels read it. The table `live` is in the order of the log, so that what is committed
 * together is stored together; this is a copy by tenant and rank in the memory of a connection that reads. It may contain
 * notifications that have left `live`: whoever reads it joins both.
 */
export class LiveOrder {
  readonly #sql: Statements;
  #isMade = false;
  #upTo = 0;
  #count = 0;
  #added = 0;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Brings the table `temp.live_order` to the snapshot that the caller's transaction reads: some µs for each new notification. */
  refresh(): void {
    const { db } = this.#sql;
    if (!this.#isMade) {
      db.exec(`CREATE TEMP TABLE live_order (
        tenant INTEGER NOT NULL,
        rank INTEGER NOT NULL,
        position INTEGER NOT NULL,
        row INTEGER NOT NULL,
        expires_at INTEGER,
        route INTEGER NOT NULL,
        PRIMARY KEY (tenant, rank, position)
      ) WITHOUT ROWID`);
      this.#isMade = true;
    }
    const newest =
      this.#sql.of<[], { row: number | null }>('SELECT max(row) AS row FROM live').get()?.row ?? 0;
    if (newest <= this.#upTo) return;
    this.#added += this.#sql
      .of(
        `INSERT OR REPLACE INTO temp.live_order (tenant, rank, position, row, expires_at, route)
         SELECT tenant, rank, position, row, expires_at, route FROM live WHERE row > ? ORDER BY tenant, rank, position`,
      )
      .run(this.#upTo).changes;
    this.#upTo = newest;
    if (this.#added > Math.max(leastAdded, this.#count)) this.#removeOld();
  }

  #removeOld(): void {
    const { changes } = this.#sql
      .of('DELETE FROM temp.live_order WHERE NOT EXISTS (SELECT 1 FROM live l WHERE l.row = live_order.row)')
      .run();
    this.#count += this.#added - changes;
    this.#added = 0;
  }

  /** The rows of those among these positions of a tenant that are live at `now`, by position. */
  rowsAt(tenant: TenantId, positions: readonly number[], now: number): ReadonlyMap<number, number> {
    this.refresh();
    const rows = this.#sql
      .of<[{ tenant: number; positions: string; now: number }], { position: number; row: number }>(
        `WITH RECURSIVE ranks(rank) AS (
           SELECT min(rank) FROM temp.live_order WHERE tenant = @tenant
           UNION ALL
           SELECT (SELECT min(o.rank) FROM temp.live_order o WHERE o.tenant = @tenant AND o.rank > ranks.rank) FROM ranks
           WHERE ranks.rank IS NOT NULL
         )
         SELECT o.position, o.row FROM json_each(@positions) p CROSS JOIN ranks
         CROSS JOIN temp.live_order o ON o.tenant = @tenant AND o.rank = ranks.rank AND o.position = p.value
         CROSS JOIN live l ON l.row = o.row
         WHERE l.expires_at IS NULL OR l.expires_at > @now`,
      )
      .all({ tenant, positions: JSON.stringify(positions), now });
    return new Map(rows.map(({ position, row }) => [position, row]));
  }
}
