/** The values of a field in the log, which complete a search. */
import { addressesFrom } from '#core/address-prefix.ts';
import { addressText } from '#core/addresses.ts';
import type { Notification, TenantId } from '#core/ports.ts';
import { families } from '#core/search/address-blocks.ts';
import { addressDigits, addressHex, addressTerm, valueOfTerm, valueTerm } from '#core/search/index-terms.ts';
import type { WantedValues } from '#core/statistics.ts';
import { sortedValues } from '../counting.ts';
import { type Partition, readNewest, readPartitions, type Statements, tablesOf } from './partitions.ts';
import { entryColumns, type LogConnection, type NotificationRow } from './rows.ts';

/** The time limit of a search for values. The newest partitions come first. */
const valuesMs = 150;
/** The most addresses of a partition that are read to find those whose text starts with the prefix. */
const maxAddresses = 200;

/** The first values of a field that start with `prefix`, in order. */
export function fieldValues(connection: LogConnection, tenant: TenantId, wanted: WantedValues): string[] {
  const { sql } = connection;
  const { field, limit } = wanted;
  const prefix = field === 'key' ? wanted.prefix : wanted.prefix.toLowerCase();
  const until = performance.now() + valuesMs;
  const found = new Set<string>();
  for (const { host, ip, sourceIp, key } of readUnindexedNotifications(connection, tenant)) {
    const value = { host: host?.toLowerCase(), ip, source: sourceIp, key }[field];
    if (value?.startsWith(prefix)) found.add(value);
  }
  for (const partition of readPartitions(sql)) {
    for (const value of indexedValues(sql, partition, tenant, { field, prefix, limit })) found.add(value);
    if (performance.now() > until) break;
  }
  return sortedValues(found, field).slice(0, limit);
}

/** The tenant's notifications that are not indexed yet. */
function readUnindexedNotifications({ sql, reader }: LogConnection, tenant: TenantId): Notification[] {
  const partition = readNewest(sql);
  // `+` keeps SQLite from the index on the tenant, which holds the whole partition; the range of rows is short.
  return sql
    .of<[number, number], NotificationRow>(
      `SELECT ${entryColumns} FROM ${tablesOf(partition).log} n WHERE row > ? AND +tenant = ? AND cleared IS NULL`,
    )
    .all(partition.indexed, tenant)
    .map((row) => reader.notification(row, partition));
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
    const range = { from: term(digits), upTo: term(addressHex(high).digits), limit: maxAddresses };
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
