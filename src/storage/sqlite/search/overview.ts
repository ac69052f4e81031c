/** The overview's reads of the log. */
import type { BusyHost } from '#core/history/statistics.ts';
import type { TenantId } from '#core/ports.ts';
import { entriesFrom } from '../log/log-lookup.ts';
import { bounds } from '../log/log-reader.ts';
import type { LogConnection, NotificationRow } from '../log/rows.ts';

/** Entries read for the busiest hosts: some 20 ms. */
const newestEntries = 10_000;

/** The most frequent hosts since `from` among the newest entries, the most frequent first. */
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
  const read = entriesFrom<Pick<NotificationRow, 'host' | 'level' | 'rank' | 'at' | 'cleared'>>(
    sql,
    range,
    'n.host, n.level, n.rank, n.at, n.cleared',
  );
  for (const { partition, rows } of read) {
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
