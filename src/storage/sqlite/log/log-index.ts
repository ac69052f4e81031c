/** The index of the newest partition: rows wait for it in memory, and enter it some hundred at a time, with a commit that is due anyway. */

import type { TenantId } from '#core/ports.ts';
import { indexTerms } from '#core/search/index-terms.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';
import {
  type EntryRow,
  entryColumns,
  type NotificationRow,
  type PartitionName,
  type RowReader,
} from './rows.ts';

const minuteMs = 60_000;

/** Rows that wait until they are indexed together. Searches test these one by one; fewer would make more, smaller pieces of index. */
export const indexBatchRows = 250;

/** A row of the log that is not indexed yet. */
export interface UnindexedRow {
  readonly row: number;
  readonly tenant: TenantId;
  readonly position: number;
  /** undefined: a clear. */
  readonly notification?: {
    readonly terms: string;
    readonly level: string;
    readonly receivedAt: number;
  };
}

interface TenantSum {
  readonly tenant: TenantId;
  entries: number;
  readonly first: number;
  last: number;
  lastRow: number;
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
  const { row, tenant, position, at: receivedAt } = given;
  if (given.cleared !== null) return { row, tenant, position };
  const content = reader.notification(given as NotificationRow, partition);
  const terms = indexTerms(tenant, content, content.route);
  return { row, tenant, position, notification: { terms, level: content.level, receivedAt } };
}

/** Indexes rows of `partition`, which come after all that are indexed, in the caller's transaction. */
export function indexRows(sql: Statements, partition: Partition, rows: readonly UnindexedRow[]): void {
  const last = rows.at(-1);
  if (!last) return;
  addTerms(sql, partition, rows);
  const tenants = new Map<TenantId, TenantSum>();
  let minute = lastMinute(sql, partition);
  const minutes = new Set<number>();
  const addRun = sql.of('INSERT INTO row_minutes (row, minute) VALUES (?, ?)');
  for (const { row, tenant, position, notification } of rows) {
    sumTenant(tenants, { row, tenant, position });
    if (!notification) continue;
    const received = Math.floor(notification.receivedAt / minuteMs);
    if (received !== minute) addRun.run(row, received);
    minute = received;
    minutes.add(received);
  }
  saveTenants(sql, partition, tenants.values());
  addLevels(sql, rows);
  widen(sql, partition, minutes);
  sql.of('UPDATE partitions SET indexed = ? WHERE id = ?').run(last.row, partition.id);
}

/** Level names that one row of `row_levels` has at most: a byte counts no further. */
const mostNames = 256;

/** Saves the level of each row; a clear has that of no meaning. */
function addLevels(sql: Statements, rows: readonly UnindexedRow[]): void {
  const insert = sql.of('INSERT INTO row_levels (row, names, levels) VALUES (?, ?, ?)');
  let names: string[] = [];
  let levels: number[] = [];
  const save = (end: number) => insert.run(end - levels.length, JSON.stringify(names), Buffer.from(levels));
  for (const { row, notification } of rows) {
    const level = notification?.level;
    if (level !== undefined && !names.includes(level)) {
      if (names.length === mostNames) {
        save(row);
        [names, levels] = [[], []];
      }
      names.push(level);
    }
    levels.push(level === undefined ? 0 : names.indexOf(level));
  }
  save((rows.at(-1) as UnindexedRow).row + 1);
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

function sumTenant(
  tenants: Map<TenantId, TenantSum>,
  { row, tenant, position }: Omit<UnindexedRow, 'notification'>,
): void {
  const sum = tenants.get(tenant);
  if (!sum) {
    tenants.set(tenant, { tenant, entries: 1, first: position, last: position, lastRow: row });
    return;
  }
  sum.entries += 1;
  sum.last = position;
  sum.lastRow = row;
}

/** Adds minutes to those between which all rows of the partition were received. */
function widen(sql: Statements, { id }: Partition, minutes: ReadonlySet<number>): void {
  const add = sql.of<[{ id: number; minute: number }], never>(
    `UPDATE partitions SET first_minute = min(coalesce(first_minute, @minute), @minute),
      last_minute = max(coalesce(last_minute, @minute), @minute) WHERE id = @id`,
  );
  for (const minute of minutes) add.run({ id, minute });
}

function saveTenants(sql: Statements, { id }: Partition, tenants: Iterable<TenantSum>): void {
  const add = sql.of(`
    INSERT INTO partition_tenants (tenant, partition, entries, first_position, last_position, last_row) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET entries = entries + excluded.entries, last_position = excluded.last_position, last_row = excluded.last_row`);
  for (const { tenant, entries, first, last, lastRow } of tenants)
    add.run(tenant, id, entries, first, last, lastRow);
}
