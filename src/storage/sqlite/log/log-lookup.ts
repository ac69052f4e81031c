/** Where in the partitions something lies. */
import type { TenantId } from '#core/log/route.ts';
import { isUuid } from '../../log/history-rows.ts';
import {
  findPartition,
  type Partition,
  partitionsOfId,
  readPartitions,
  type Statements,
  tablesOf,
} from './partitions.ts';
import { joinId, splitId, uuidToText } from './rows.ts';
import { readLog } from './tenant-log.ts';

export interface FoundRow {
  readonly partition: Partition;
  readonly row: number;
  readonly position: number;
  readonly rank: number;
  readonly route: number;
  readonly receivedAt: number;
}

/** Finds a tenant's kept notification by its id, in the partitions of the id's time; undefined also for a text that is no id. */
export function findById(sql: Statements, tenant: TenantId, id: string): FoundRow | undefined {
  if (!isUuid(id)) return undefined;
  const { time, rest } = splitId(id);
  for (const partition of partitionsOfId(sql, time)) {
    const found = sql
      .of<[number, Buffer, number, number], Omit<FoundRow, 'partition'>>(
        `SELECT row, position, rank, route, at AS receivedAt FROM ${tablesOf(partition).log}
         WHERE id_time = ? AND id_rest = ? AND cleared IS NULL AND +tenant = ? AND +row >= coalesce((SELECT first_row FROM logs WHERE tenant = ?), 0)`,
      )
      .get(time, rest, tenant, tenant);
    if (found) return { partition, ...found };
  }
  return undefined;
}

/** The partitions, oldest first, in which positions of a tenant from this one on lie. Older positions are no longer kept. */
function partitionsFrom(sql: Statements, tenant: TenantId, position: number): Partition[] {
  const found = sql
    .of<[number, number], { id: number | null }>(
      'SELECT max(partition) AS id FROM partition_tenants WHERE tenant = ? AND first_position <= ?',
    )
    .get(tenant, position);
  const partitions = readPartitions(sql);
  return partitions.slice(0, partitions.findIndex(({ id }) => id === found?.id) + 1).reverse();
}

interface EntryRange {
  readonly tenant: TenantId;
  readonly from: number;
  readonly limit: number;
}

/**
 * Reads `columns` of entries `n` in a partition, by position. The index finds each position that `positionStep` divides; the entries
 * between two of them, and those after the last, are found by following `previous`.
 */
function readEntries<Row>(
  sql: Statements,
  partition: Partition,
  { tenant, from, limit }: EntryRange,
  columns: string,
): Row[] {
  const { id, positionStep: step } = partition;
  const { log } = tablesOf(partition);
  const entry = `SELECT n.row, n.position, ${step === 1 ? 'NULL' : 'n.previous'}`;
  const last = `SELECT coalesce(last_row, head_row) FROM partition_tenants JOIN logs USING (tenant) WHERE tenant = @tenant AND partition = ${id}`;
  return sql
    .of<[EntryRange & { readonly most: number }], Row>(
      `WITH RECURSIVE indexed(row, position, previous) AS (
         ${entry} FROM ${log} n WHERE n.tenant = @tenant AND n.position >= @from AND n.position % ${step} = 0
         ORDER BY n.position LIMIT @most
       ), found(row, position, previous) AS (
         SELECT * FROM indexed
         UNION ${entry} FROM ${log} n WHERE n.row = (${last})
         UNION ${entry} FROM found JOIN ${log} n ON n.row = found.previous
         WHERE n.position >= @from AND n.position % ${step} <> 0
       )
       SELECT ${columns} FROM found CROSS JOIN ${log} n ON n.row = found.row WHERE found.position >= @from
       ORDER BY found.position LIMIT @limit`,
    )
    .all({ tenant, from, limit, most: Math.ceil(limit / step) + 1 });
}

/** Reads `columns` of entries `n`, in order: those of each partition together. The caller may stop after any partition. */
export function* entriesFrom<Row>(
  sql: Statements,
  { tenant, from, limit }: EntryRange,
  columns: string,
): Iterable<{ readonly partition: Partition; readonly rows: readonly Row[] }> {
  let left = limit;
  for (const partition of partitionsFrom(sql, tenant, from)) {
    // Positions are dense: what is read here is all before the next partition.
    const rows = readEntries<Row>(
      sql,
      partition,
      { tenant, from: from + limit - left, limit: left },
      columns,
    );
    yield { partition, rows };
    left -= rows.length;
    if (left === 0) return;
  }
}

/** The row of the tenant's first entry at or after a position; undefined when there is none. */
export function rowAtOrAfter(sql: Statements, tenant: TenantId, position: number): number | undefined {
  const from = Math.max(position, readLog(sql, tenant).first);
  const [found] = entriesFrom<{ row: number }>(sql, { tenant, from, limit: 1 }, 'n.row');
  return found?.rows[0]?.row;
}

/** The key of a notification. */
export function keyAt(sql: Statements, { partition, row }: FoundRow): string | null {
  const { log, dictionary } = tablesOf(partition);
  const found = sql
    .of<[number], { key: string | null }>(
      `SELECT coalesce((SELECT text FROM ${dictionary} WHERE id = n.key AND typeof(n.key) = 'integer'), n.key) AS key
       FROM ${log} n WHERE n.row = ?`,
    )
    .get(row);
  return found?.key ?? null;
}

/** The id of the notification in a row. */
export function idAt(sql: Statements, row: number): string {
  const partition = findPartition(sql, row);
  const found =
    partition &&
    sql
      .of<[number], { time: number; rest: Buffer }>(
        `SELECT id_time AS time, id_rest AS rest FROM ${tablesOf(partition).log} WHERE row = ?`,
      )
      .get(row);
  if (!found) throw new Error(`row ${row} of the log is missing`);
  return joinId(found.time, found.rest);
}

/** What a sender's retry key was used for, while it is remembered. */
export function findRetry(
  { sql }: { readonly sql: Statements },
  tenant: TenantId,
  key: string,
  now: number,
): { readonly id: string; readonly hash: string } | undefined {
  const found = sql
    .of<[number, string, number], { id: Buffer; hash: string }>(
      'SELECT id, hash FROM idempotency WHERE tenant = ? AND key = ? AND expires_at > ?',
    )
    .get(tenant, key, now);
  return found && { id: uuidToText(found.id), hash: found.hash };
}
