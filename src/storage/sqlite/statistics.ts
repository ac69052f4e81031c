/** What the overview and completion ask of the log. */
import { addressesFrom } from '#core/address-prefix.ts';
import { addressKey, addressText, compareAddresses } from '#core/addresses.ts';
import type { Notification, TenantId } from '#core/ports.ts';
import { addressDigits, addressHex, addressTerm, valueOfTerm, valueTerm } from '#core/search/index-terms.ts';
import { families } from '#core/search/search-compile.ts';
import type { BusyHost, MinuteCount, WantedValues } from '#core/statistics.ts';
import { type Partition, readNewest, readPartitions, type Statements, tablesOf } from './partitions.ts';
import type { LogConnection } from './prepared-query.ts';
import { entryColumns, type NotificationRow } from './rows.ts';

const minuteMs = 60_000;
/** Notifications scanned at for the busiest hosts: some 20 ms. */
const newestRows = 10_000;
/** How long values are scanned for, the newest partitions first. */
const valuesMs = 150;
/** Addresses of a partition scanned at for those whose text begins as asked. */
const mostVisited = 200;

/** By minute and level, oldest first. */
export function minuteCounts(connection: LogConnection, tenant: TenantId, from: number): MinuteCount[] {
  const { sql } = connection;
  const counts = new Map<string, { at: number; level: string; count: number }>();
  const first = Math.ceil(from / minuteMs);
  const add = (minute: number, level: string, count: number) => {
    const key = `${minute} ${level}`;
    const known = counts.get(key);
    if (known) known.count += count;
    else counts.set(key, { at: minute * minuteMs, level, count });
  };
  const since = Math.max(first, firstMinute(sql, tenant));
  const rows = sql
    .of<[number, number], { minute: number; level: string; count: number }>(
      `SELECT minute, level, count FROM minutes
       WHERE partition IN (SELECT id FROM partitions) AND tenant = ? AND minute >= ?`,
    )
    .all(tenant, since);
  for (const { minute, level, count } of rows) add(minute, level, count);
  for (const { receivedAt, level } of unindexed(connection, tenant)) {
    const minute = Math.floor(receivedAt / minuteMs);
    if (minute >= first) add(minute, level, 1);
  }
  return [...counts.values()].sort((a, b) => a.at - b.at || (a.level < b.level ? -1 : 1));
}

export function receivedSince(connection: LogConnection, tenant: TenantId, from: number): number {
  return minuteCounts(connection, tenant, from).reduce((sum, { count }) => sum + count, 0);
}

/** The minute of the oldest notification that is kept: what came before it counts no more. */
function firstMinute(sql: Statements, tenant: TenantId): number {
  const log = sql
    .of<[number], { first: number; row: number }>('SELECT first, first_row AS row FROM logs WHERE tenant = ?')
    .get(tenant);
  if (!log || log.first === 1) return 0;
  for (const partition of readPartitions(sql)) {
    if (partition.firstRow > log.row) continue;
    const found = sql
      .of<[number], { at: number }>(`SELECT at FROM ${tablesOf(partition).log} WHERE row = ?`)
      .get(log.row);
    return found ? Math.floor(found.at / minuteMs) : 0;
  }
  return 0;
}

function unindexed({ sql, reader }: LogConnection, tenant: TenantId): Notification[] {
  const partition = readNewest(sql);
  // `+`: by the rows, which are few, and not by the index on the tenant, which has all of the partition.
  return sql
    .of<[number, number], NotificationRow>(
      `SELECT ${entryColumns} FROM ${tablesOf(partition).log} n WHERE row > ? AND +tenant = ? AND cleared IS NULL`,
    )
    .all(partition.indexed, tenant)
    .map((row) => reader.notification(row, partition));
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

/** The first values of a field that start with `prefix`, in order. */
export function fieldValues(connection: LogConnection, tenant: TenantId, wanted: WantedValues): string[] {
  const { sql } = connection;
  const { field, limit } = wanted;
  const prefix = field === 'key' ? wanted.prefix : wanted.prefix.toLowerCase();
  const until = performance.now() + valuesMs;
  const found = new Set<string>();
  for (const { host, ip, sourceIp, key } of unindexed(connection, tenant)) {
    const value = { host: host?.toLowerCase(), ip, source: sourceIp, key }[field];
    if (value?.startsWith(prefix)) found.add(value);
  }
  for (const partition of readPartitions(sql)) {
    for (const value of indexedValues(sql, partition, tenant, { field, prefix, limit })) found.add(value);
    if (performance.now() > until) break;
  }
  const values = [...found];
  if (field === 'ip' || field === 'source') return sortAddresses(values).slice(0, limit);
  return values.sort((a, b) => (a < b ? -1 : 1)).slice(0, limit);
}

function indexedValues(
  sql: Statements,
  partition: Partition,
  tenant: TenantId,
  { field, prefix, limit }: WantedValues,
): string[] {
  if (field === 'host' || field === 'key') {
    const start = valueTerm(tenant, field, prefix);
    return termsBetween(sql, partition, { from: start, upTo: `${start}\u{10ffff}`, limit }).map(valueOfTerm);
  }
  const values: string[] = [];
  for (const [low, high] of addressesFrom(prefix).flatMap((span) => [...families(span)])) {
    const { family, digits } = addressHex(low);
    const size = addressDigits[family].at(-1) as number;
    const term = (hex: string) => addressTerm(tenant, field, { family, size, digits: hex });
    const range = { from: term(digits), upTo: term(addressHex(high).digits), limit: mostVisited };
    for (const found of termsBetween(sql, partition, range)) {
      const text = addressOf(valueOfTerm(found), family);
      if (text.startsWith(prefix)) values.push(text);
    }
    if (values.length >= limit) break;
  }
  return values;
}

function addressOf(hex: string, family: 4 | 6): string {
  const whole = family === 4 ? `00000000000000000000ffff${hex}` : hex;
  return addressText(Uint8Array.from(Buffer.from(whole, 'hex')));
}

const sortAddresses = (texts: readonly string[]): string[] =>
  texts
    .map((text) => ({ text, key: addressKey(text) }))
    .sort((a, b) => compareAddresses(a.key, b.key))
    .map(({ text }) => text);

function termsBetween(
  sql: Statements,
  partition: Partition,
  { from, upTo, limit }: { readonly from: string; readonly upTo: string; readonly limit: number },
): string[] {
  const { terms } = tablesOf(partition);
  sql.db.exec(
    `CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary_${terms} USING fts5vocab(main, ${terms}, 'row')`,
  );
  return sql
    .of<[string, string, number], { term: string }>(
      `SELECT term FROM temp.vocabulary_${terms} WHERE term >= ? AND term <= ? ORDER BY term LIMIT ?`,
    )
    .all(from, upTo, limit)
    .map(({ term }) => term);
}
