/** The index of the newest partition: rows wait for it in memory, and enter it some hundred at a time, with a commit that is due anyway. */
import { indexTerms } from '#core/search/index-terms.ts';
import { minuteMs } from '../../search/log-search.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';
import {
  type EntryRow,
  entryColumns,
  type NotificationRow,
  type PartitionName,
  type RowReader,
} from './rows.ts';

/** Rows that wait until they are indexed together. Searches test these one by one; fewer would make more, smaller pieces of index. */
export const indexBatchRows = 250;

/** A row of the log that is not indexed yet. */
export interface UnindexedRow {
  readonly row: number;
  /** undefined: a clear. */
  readonly notification?: {
    readonly terms: string;
    readonly receivedAt: number;
  };
}

/** What an earlier process, or a transaction that was rolled back, left to be indexed. */
export function readUnindexed(
  sql: Statements,
  partition: PartitionName & Pick<Partition, 'indexed'>,
  reader: RowReader,
): UnindexedRow[] {
  return sql
    .of<[number], EntryRow>(
      `SELECT ${entryColumns} FROM ${tablesOf(partition).log} n WHERE n.row > ? ORDER BY n.row`,
    )
    .all(partition.indexed)
    .map((row) => toUnindexed(row, partition, reader));
}

/** A row of the log as the index takes it. */
function toUnindexed(given: EntryRow, partition: PartitionName, reader: RowReader): UnindexedRow {
  const { row, tenant, at: receivedAt } = given;
  if (given.cleared !== null) return { row };
  const content = reader.notification(given as NotificationRow, partition);
  const terms = indexTerms(tenant, content, content.route);
  return { row, notification: { terms, receivedAt } };
}

/** Indexes rows of `partition`, which come after all that are indexed, in the caller's transaction. */
export function indexRows(sql: Statements, partition: Partition, rows: readonly UnindexedRow[]): void {
  const last = rows.at(-1);
  if (!last) return;
  addTerms(sql, partition, rows);
  let minute = lastMinute(sql, partition);
  const minutes: number[] = [];
  for (const { row, notification } of rows) {
    const received = notification ? Math.floor(notification.receivedAt / minuteMs) : minute;
    if (received === undefined || received === minute) continue;
    sql.of('INSERT INTO row_minutes (row, minute) VALUES (?, ?)').run(row, received);
    minute = received;
    minutes.push(received);
  }
  const [earliest, latest] = minutes.length > 0 ? [Math.min(...minutes), Math.max(...minutes)] : [null, null];
  sql
    .of<[Record<string, number | null>], never>(
      `UPDATE partitions SET indexed = @last, first_minute = coalesce(min(first_minute, @earliest), first_minute, @earliest),
         last_minute = coalesce(max(last_minute, @latest), last_minute, @latest) WHERE id = @id`,
    )
    .run({ id: partition.id, last: last.row, earliest, latest });
}

/** Adds the terms of notifications to the partition's index; rows in ascending order. */
export function addTerms(
  sql: Statements,
  partition: Pick<Partition, 'id' | 'generation'>,
  rows: readonly UnindexedRow[],
): void {
  const { terms } = tablesOf(partition);
  const insert = sql.of(`INSERT INTO ${terms} (rowid, terms) VALUES (?, ?)`);
  for (const { row, notification } of rows) if (notification) insert.run(row, notification.terms);
}

/** The minute of the newest indexed row; a partition begins with a minute of its own. */
function lastMinute(sql: Statements, { firstRow }: Partition): number | undefined {
  return sql
    .of<[number], { minute: number }>(
      'SELECT minute FROM row_minutes WHERE row >= ? ORDER BY row DESC LIMIT 1',
    )
    .get(firstRow)?.minute;
}
