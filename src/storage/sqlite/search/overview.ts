/** What the overview asks of the log. */
import type { TenantId } from '#core/ports.ts';
import type { BusyHost, MinuteCount } from '#core/statistics.ts';
import { minuteMs } from '../../counting.ts';
import { finite } from '../../history-rows.ts';
import { partitionsFrom, readEntries } from '../log/log-lookup.ts';
import { bounds } from '../log/log-reader.ts';
import { readNewest, type Statements, tablesOf } from '../log/partitions.ts';
import type { LogConnection, NotificationRow } from '../log/rows.ts';

/** Entries read for the busiest hosts: some 20 ms. */
const newestEntries = 10_000;

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
    const range = { tenant, from: log.first, limit: 1 };
    const [found] = readEntries<{ at: number }>(sql, partition, range, 'n.at');
    if (found) return Math.floor(found.at / minuteMs);
  }
  return 0;
}

/** Hosts that were named most since `from`, the most frequent first, among the newest entries. */
export function busiestHosts(
  connection: LogConnection,
  tenant: TenantId,
  from: number,
  limit: number,
): BusyHost[] {
  const { sql, reader } = connection;
  const hosts = new Map<string, { host: string; count: number; level: string; rank: number }>();
  const { head, first } = bounds(connection, tenant);
  const range = { tenant, from: Math.max(first, head + 1 - newestEntries), limit: newestEntries };
  for (const partition of partitionsFrom(sql, tenant, range.from)) {
    const rows = readEntries<Pick<NotificationRow, 'host' | 'level' | 'rank' | 'at' | 'cleared'>>(
      sql,
      partition,
      range,
      'n.host, n.level, n.rank, n.at, n.cleared',
    );
    for (const { rank, at, cleared, ...row } of rows) {
      if (cleared !== null) continue;
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
  }
  return [...hosts.entries()]
    .sort(([a, one], [b, other]) => other.count - one.count || (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([, { host, count, level }]) => ({ host, count, level }));
}
