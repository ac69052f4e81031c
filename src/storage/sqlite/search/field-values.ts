/** The values of a field in the log, for the completion of a search. */
import { isPatternField, searchForm } from '#contract/history/fields.ts';
import type { WantedValues } from '#core/history/statistics.ts';
import type { Notification, TenantId } from '#core/ports.ts';
import { sortedValues } from '../../log/counting.ts';
import { type TermRange, typedPrefix, valueRanges, valuesMs, wantedValues } from '../../log/field-values.ts';
import { type Partition, readNewest, readPartitions, type Statements, tablesOf } from '../log/partitions.ts';
import { entryColumns, type LogConnection, type NotificationRow } from '../log/rows.ts';

/** The first values of a field that start with `prefix`, in order. */
export function fieldValues(connection: LogConnection, tenant: TenantId, wanted: WantedValues): string[] {
  const { sql } = connection;
  const { field, limit } = wanted;
  const prefix = typedPrefix(wanted);
  const ranges = valueRanges(tenant, wanted);
  const until = performance.now() + valuesMs;
  const found = new Set<string>();
  for (const notification of readUnindexedNotifications(connection, tenant)) {
    const value = notification[field === 'source' ? 'sourceIp' : field];
    const compared = value !== null && isPatternField(field) ? searchForm(field, value) : value;
    if (compared?.startsWith(prefix)) found.add(compared);
  }
  for (const partition of readPartitions(sql)) {
    let values: string[] = [];
    for (const range of ranges) {
      if (values.length < limit)
        values = values.concat(wantedValues(termsBetween(sql, partition, range), wanted));
    }
    for (const value of values) found.add(value);
    if (performance.now() > until) break;
  }
  return sortedValues(found, field).slice(0, limit);
}

/** The tenant's notifications that are not indexed yet. */
function readUnindexedNotifications({ sql, reader }: LogConnection, tenant: TenantId): Notification[] {
  const partition = readNewest(sql);
  // `+`: SQLite must not use the index on the tenant, which covers the whole partition. The range of rows is short.
  return sql
    .of<[number, number], NotificationRow>(
      `SELECT ${entryColumns} FROM ${tablesOf(partition).log} n WHERE row > ? AND +tenant = ? AND cleared IS NULL`,
    )
    .all(partition.indexed, tenant)
    .map((row) => reader.notification(row, partition));
}

function termsBetween(sql: Statements, partition: Partition, { from, upTo, limit }: TermRange): string[] {
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
