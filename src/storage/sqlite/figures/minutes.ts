import type { BusyHost, MinuteCount } from '../../../core/figures.ts';
import type { TenantId } from '../../../core/ports.ts';
import type { Db } from '../database.ts';
import { entryOf } from '../rows.ts';

const minuteMs = 60_000;
/** Notifications looked at for the busiest hosts: some 20 ms. */
const newestRows = 10_000;

/** By minute and level, oldest first. */
export function minuteCounts(db: Db, tenant: TenantId, from: number): MinuteCount[] {
  return db
    .prepare<number[], MinuteCount>(
      `SELECT minute * ${minuteMs} AS at, level, count FROM minutes WHERE tenant = ? AND minute >= ? ORDER BY minute, level`,
    )
    .all(tenant, Math.ceil(from / minuteMs));
}

export function receivedSince(db: Db, tenant: TenantId, from: number): number {
  const sum = db.prepare<number[], number>(
    'SELECT coalesce(sum(count), 0) FROM minutes WHERE tenant = ? AND minute >= ?',
  );
  return sum.pluck().get(tenant, Math.ceil(from / minuteMs)) ?? 0;
}

export function busiestHosts(db: Db, tenant: TenantId, from: number, limit: number): BusyHost[] {
  // Of a group with max() SQLite answers the row that has it.
  return db
    .prepare<number[], BusyHost & { rank: number }>(
      `SELECT host, count(*) AS count, level, max(rank) AS rank FROM (
         SELECT host, host_key, level, rank, received_at FROM notifications
         WHERE entry BETWEEN ${entryOf('?', '0')} AND ${entryOf('?', String(2 ** 40 - 1))} ORDER BY entry DESC LIMIT ${newestRows})
       WHERE received_at >= ? AND host_key IS NOT NULL GROUP BY host_key ORDER BY count(*) DESC, host_key LIMIT ?`,
    )
    .all(tenant, tenant, from, limit)
    .map(({ host, count, level }) => ({ host, count, level }));
}
