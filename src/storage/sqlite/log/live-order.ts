import type { TenantId } from '#core/log/route.ts';
import { type PanelAddress, reaches, type Target } from '#core/log/target.ts';
import { getOrMake } from '#core/maps.ts';
import type { Statements } from './partitions.ts';

/** After more additions than this, and than the copy had rows, notifications that are no longer live are removed from the copy. */
const leastAdded = 10_000;

/** The most characters of targets that are kept of one tenant: some 20,000 usual targets. */
const maxTargetChars = 4_000_000;

export interface StandingRow {
  readonly row: number;
  /** When it leaves the live set; null: when it is cleared. */
  readonly expiresAt: number | null;
  /** Whether its alarm is off the panels. */
  readonly isOff: 0 | 1;
}

/** A row of the live set, and when it leaves. */
export type Leaving = readonly [row: number, at: number];

/** The routes of a tenant's live notifications. */
interface LiveRoutes {
  readonly ids: Set<number>;
  /** Those of `ids` whose targets are not in `byTarget`: they are new, or beyond what is kept. */
  unread: number[];
  /** The others, by the JSON of their target: most differ in their rules alone. */
  readonly byTarget: Map<string, { readonly target: Target; readonly ids: number[] }>;
  /** The characters of the keys of `byTarget`. */
  keptChars: number;
}

const noRoutes = (): LiveRoutes => ({ ids: new Set(), unread: [], byTarget: new Map(), keptChars: 0 });

/**
 * A copy of the live set in the order in which panels read it, in the memory of a reading connection (ADR 13). It may contain
 * notifications that are no longer in `live`, so a query must join both.
 */
export class LiveOrder {
  readonly #sql: Statements;
  readonly #maxTargetChars: number;
  #upTo = 0;
  #count = 0;
  #added = 0;
  readonly #routes = new Map<TenantId, LiveRoutes>();

  constructor(sql: Statements, targetChars = maxTargetChars) {
    this.#sql = sql;
    this.#maxTargetChars = targetChars;
    sql.db.exec(`CREATE TEMP TABLE live_order (
      tenant INTEGER NOT NULL,
      rank INTEGER NOT NULL,
      position INTEGER NOT NULL,
      row INTEGER NOT NULL,
      route INTEGER NOT NULL,
      PRIMARY KEY (tenant, rank, position)
    ) WITHOUT ROWID`);
  }

  /** Updates the table `temp.live_order` to the snapshot of the caller's transaction: some µs for each new notification. */
  refresh(): void {
    const newest =
      this.#sql.of<[], { row: number | null }>('SELECT max(row) AS row FROM live').get()?.row ?? 0;
    if (newest <= this.#upTo) return;
    this.#added += this.#sql
      .of(
        `INSERT OR REPLACE INTO temp.live_order (tenant, rank, position, row, route)
         SELECT tenant, rank, position, row, route FROM live WHERE row > ? ORDER BY tenant, rank, position`,
      )
      .run(this.#upTo).changes;
    this.#addRoutes('live', this.#upTo);
    this.#upTo = newest;
    if (this.#added > Math.max(leastAdded, this.#count)) this.#removeOld();
  }

  #removeOld(): void {
    const { changes } = this.#sql
      .of('DELETE FROM temp.live_order WHERE NOT EXISTS (SELECT 1 FROM live l WHERE l.row = live_order.row)')
      .run();
    this.#count += this.#added - changes;
    this.#added = 0;
    this.#routes.clear();
    this.#addRoutes('temp.live_order', 0);
  }

  #addRoutes(from: 'live' | 'temp.live_order', afterRow: number): void {
    const found = this.#sql
      .of<[number], { tenant: number; route: number }>(
        `SELECT DISTINCT tenant, route FROM ${from} WHERE row > ?`,
      )
      .all(afterRow);
    for (const { tenant, route } of found) {
      const routes = getOrMake(this.#routes, tenant, noRoutes);
      if (routes.ids.has(route)) continue;
      routes.ids.add(route);
      routes.unread.push(route);
    }
  }

  /** Refreshes; returns the numbers of the routes of live notifications that show them on this panel, in any order. */
  routesTo(tenant: TenantId, panel: PanelAddress): number[] {
    this.refresh();
    const routes = this.#routes.get(tenant);
    if (!routes) return [];
    const beyond: number[] = [];
    const beyondReached: number[] = [];
    const unread = this.#sql
      .of<[string], { id: number; target: string }>(
        `SELECT id, route -> '$.target' AS target FROM routes WHERE id IN (SELECT value FROM json_each(?))`,
      )
      .iterate(JSON.stringify(routes.unread));
    for (const { id, target } of unread) {
      if (this.#keep(routes, id, target)) continue;
      beyond.push(id);
      if (reaches(JSON.parse(target) as Target, panel)) beyondReached.push(id);
    }
    routes.unread = beyond;
    const kept = [...routes.byTarget.values()];
    return kept.flatMap(({ target, ids }) => (reaches(target, panel) ? ids : [])).concat(beyondReached);
  }

  /** Keeps the target of a route. False when there is no room: each panel that connects reads it again. */
  #keep(routes: LiveRoutes, id: number, target: string): boolean {
    const alike = routes.byTarget.get(target);
    if (alike) alike.ids.push(id);
    else {
      if (routes.keptChars + target.length > this.#maxTargetChars) return false;
      routes.keptChars += target.length;
      routes.byTarget.set(target, { target: JSON.parse(target) as Target, ids: [id] });
    }
    return true;
  }

  /** The rows at the given positions of a tenant, by position: those in `live`, of which some may have expired. */
  rowsAt(tenant: TenantId, positions: readonly number[]): ReadonlyMap<number, StandingRow> {
    this.refresh();
    const rows = this.#sql
      .of<[{ tenant: number; positions: string }], StandingRow & { position: number }>(
        `WITH RECURSIVE ranks(rank) AS (
           SELECT min(rank) FROM temp.live_order WHERE tenant = @tenant
           UNION ALL
           SELECT (SELECT min(o.rank) FROM temp.live_order o WHERE o.tenant = @tenant AND o.rank > ranks.rank) FROM ranks
           WHERE ranks.rank IS NOT NULL
         )
         SELECT o.position, o.row, l.expires_at AS expiresAt, l.shelved IS NOT NULL AS isOff FROM json_each(@positions) p CROSS JOIN ranks
         CROSS JOIN temp.live_order o ON o.tenant = @tenant AND o.rank = ranks.rank AND o.position = p.value
         CROSS JOIN live l ON l.row = o.row`,
      )
      .all({ tenant, positions: JSON.stringify(positions) });
    return new Map(rows.map(({ position, ...row }) => [position, row]));
  }
}
