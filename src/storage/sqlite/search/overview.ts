/** What the overview asks of the log. */
import type { TenantId } from '#core/ports.ts';
import type { BusyHost, MinuteCount } from '#core/statistics.ts';
import { minuteMs } from '../../counting.ts';
import { finite } from '../../history-rows.ts';
import { partitionsFrom } from '../log/log-lookup.ts';
import { readNewest, readPartitions, type Statements, tablesOf } from '../log/partitions.ts';
import type { LogConnection, NotificationRow } from '../log/rows.ts';

/** Notifications read for the busiest hosts: some 20 ms. */
const newestRows = 10_000;

/** By minute and level, oldest first. */
export function minuteCounts({ sql }: LogConnection, tenant: TenantId, from: number): MinuteCount[] {
  const newest = readNewest(sql);
  const { log, dictionary } = tablesOf(newest);
  const since = finite(Math.max(from, firstMinute(sql, tenant) * minuteMs));
  return sql
    .of<[{ tenant: number; since: number; indexed: number }], MinuteCount>(
      `SELECT minute * ${minuteMs} AS at, level, sum(count) AS count FROM (
         SELECT minute, level, count FROM minutes WHERE partition IN (SELECT id FROM partitions) AND tenant = @tenant
         UNION ALL
         SELECT at / ${minuteMs}, iif(typeof(n.level) = 'integer', (SELECT text FROM ${dictionary} WHERE id = n.level), n.level), 1 FROM ${log} n
         WHERE row > @indexed AND +tenant = @tenant AND cleared IS NULL
       ) WHERE minute >= @since / ${minuteMs} GROUP BY 1, 2 ORDER BY 1, 2`,
    )
    .all({ tenant, since, indexed: newest.indexed });
}

/** The minute of the oldest notification that is kept: what came before it counts no more. */
function firstMinute(sql: Statements, tenant: TenantId): number {
  const log = sql
    .of<[number], { head: number; first: number }>('SELECT head, first FROM logs WHERE tenant = ?')
    .get(tenant);
  if (!log || log.first === 1) return 0;
  if (log.first > log.head) return Number.POSITIVE_INFINITY;
  for (const partition of partitionsFrom(sql, tenant, log.first)) {
    const found = sql
      .of<[number, number], { at: number }>(
        `SELECT at FROM ${tablesOf(partition).log} WHERE tenant = ? AND position >= ? ORDER BY position LIMIT 1`,
      )
      .get(tenant, log.first);
    if (found) return Math.floor(found.at / minuteMs);
  }
  return 0;
}

/** Hosts that were named most since `from`, the most frequent first, among the newest notifications. */
export function busiestHosts(
  { sql, reader }: LogConnection,
  tenant: TenantId,
  from: number,
  limit: number,
): BusyHost[] {
  const hosts = new Map<string, { host: string; count: number; level: string; rank: number }>();
  let left = newestRows;
  for (const partition of readPartitions(sql)) {
    const rows = sql
      .of<[number, number, number], Pick<NotificationRow, 'host' | 'level' | 'rank' | 'at'>>(
        `SELECT host, level, rank, at FROM ${tablesOf(partition).log}
         WHERE tenant = ? AND cleared IS NULL AND row >= (SELECT first_row FROM logs WHERE tenant = ?)
         ORDER BY position DESC LIMIT ?`,
      )
      .all(tenant, tenant, left);
    left -= rows.length;
    for (const { rank, at, ...row } of rows) {
      const host = reader.text(row.host, partition);
      if (host === null || at < from) continue;
      const level = reader.text(row.level, partition);
      const known = hosts.get(host.toLowerCase());
      if (!known) hosts.set(host.toLowerCase(), { host, count: 1, level, rank });
      else {
        known.count += 1;
        if (rank > known.rank) Object.assign(known, { host, level, rank });
      }
    }
    if (left <= 0) break;
  }
  return [...hosts.entries()]
    .sort(([a, one], [b, other]) => other.count - one.count || (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([, { host, count, level }]) => ({ host, count, level }));
}
