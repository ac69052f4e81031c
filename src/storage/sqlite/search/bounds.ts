import type { Database } from 'better-sqlite3';
import type { TenantId } from '../../../core/ports.ts';
import type { Query } from '../../../core/search/search-query.ts';
import type { Positions } from '../index/position-set.ts';
import { entryOf } from '../rows.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;

/**
 * Narrows indexed positions to where the time bounds among the conjuncts can be met. Clocks may go back, so an early
 * position can be late: every hour on the right side counts, not the first that is found.
 */
export function withinTimes(
  db: Database,
  tenant: TenantId,
  conjuncts: readonly Query[],
  range: Positions,
): Positions {
  let { low, high } = range;
  for (const term of conjuncts) {
    if (term.kind === 'after') low = Math.max(low, firstFrom(db, tenant, term.at) ?? Number.MAX_SAFE_INTEGER);
    if (term.kind === 'before') high = Math.min(high, lastBefore(db, tenant, term.at) ?? 0);
  }
  return { low, high };
}

type Found = { readonly position: number | null };

/** The lowest position received at or after an instant, or one below it; undefined when there is none. */
export function firstFrom(db: Database, tenant: TenantId, at: number): number | undefined {
  const hour = Math.floor(at / hourMs);
  const sql = `SELECT min(position) AS position FROM (
    SELECT min(first) AS position FROM index_hour WHERE tenant = ? AND hour > ?
    UNION ALL SELECT min(first) FROM minutes WHERE tenant = ? AND minute BETWEEN ? AND ?)`;
  const found = db
    .prepare<number[], Found>(sql)
    .get(tenant, hour, tenant, Math.floor(at / minuteMs), (hour + 1) * 60 - 1);
  return found?.position ?? undefined;
}

/** The highest position received before an instant, or one above it; undefined when there is none. */
export function lastBefore(db: Database, tenant: TenantId, at: number): number | undefined {
  const hour = Math.floor((at - 1) / hourMs);
  const sql = `SELECT max(position) AS position FROM (
    SELECT max(last) AS position FROM index_hour WHERE tenant = ? AND hour < ?
    UNION ALL SELECT max(last) FROM minutes WHERE tenant = ? AND minute BETWEEN ? AND ?)`;
  const found = db
    .prepare<number[], Found>(sql)
    .get(tenant, hour, tenant, hour * 60, Math.floor((at - 1) / minuteMs));
  return found?.position ?? undefined;
}

/** When the first notification at a position or above it was received; undefined when there is none. */
export function receivedFrom(db: Database, tenant: TenantId, position: number): number | undefined {
  const sql = `SELECT received_at AS at FROM notifications
    WHERE entry BETWEEN ${entryOf('?', '?')} AND ${entryOf('?', String(2 ** 40 - 1))} ORDER BY entry LIMIT 1`;
  return db.prepare<number[], { readonly at: number }>(sql).get(tenant, position, tenant)?.at;
}
