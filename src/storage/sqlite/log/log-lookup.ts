/** Where in the partitions something lies. */
import type { TenantId } from '#core/ports.ts';
import {
  eachPartition,
  findPartition,
  type Partition,
  readPartitions,
  type Statements,
  tablesOf,
} from './partitions.ts';
import { joinId, splitId, uuidToText } from './rows.ts';

export interface FoundRow {
  readonly partition: Partition;
  readonly row: number;
  readonly position: number;
  readonly rank: number;
  readonly route: number;
  readonly receivedAt: number;
}

/** Finds a tenant's kept notification by its id, the newest partition first. */
export function findById(sql: Statements, tenant: TenantId, id: string): FoundRow | undefined {
  const parts = splitId(id);
  if (!parts) return undefined;
  for (const partition of eachPartition(sql)) {
    const found = sql
      .of<[number, Buffer, number, number], Omit<FoundRow, 'partition'>>(
        `SELECT row, position, rank, route, at AS receivedAt FROM ${tablesOf(partition).log}
         WHERE id_time = ? AND id_rest = ? AND cleared IS NULL AND +tenant = ? AND +row >= coalesce((SELECT first_row FROM logs WHERE tenant = ?), 0)`,
      )
      .get(parts.time, parts.rest, tenant, tenant);
    if (found) return { partition, ...found };
  }
  return undefined;
}

/** The partitions, oldest first, in which positions of a tenant from this one on lie. Older positions are no longer kept. */
export function partitionsFrom(sql: Statements, tenant: TenantId, position: number): Partition[] {
  const found = sql
    .of<[number, number], { id: number; last: number }>(
      `SELECT partition AS id, last_position AS last FROM partition_tenants WHERE tenant = ? AND first_position <= ?
       ORDER BY partition DESC LIMIT 1`,
    )
    .get(tenant, position);
  const partitions = readPartitions(sql);
  // What is not listed is not indexed yet, so it is in the newest one.
  const isListed = found !== undefined && position <= found.last;
  const oldest = isListed ? partitions.findIndex(({ id }) => id === found.id) : 0;
  return partitions.slice(0, oldest + 1).reverse();
}

interface EntryRange {
  readonly tenant: TenantId;
  /** The first position. */
  readonly from: number;
  /** The most entries. */
  readonly limit: number;
}

/**
 * Reads `columns` of entries `n` in a partition, by position. The index finds each position that `positionStep` divides; the entries
 * between two of them, and those after the last, are found by following `previous`.
 */
export function readEntries<Row>(
  sql: Statements,
  partition: Partition,
  { tenant, from, limit }: EntryRange,
  columns: string,
): Row[] {
  const { id, lastRow, positionStep: step } = partition;
  const { log } = tablesOf(partition);
  const entry = `SELECT n.row, n.position, ${step === 1 ? 'NULL' : 'n.previous'}`;
  const last =
    lastRow === null
      ? 'SELECT head_row FROM logs WHERE tenant = @tenant'
      : `SELECT last_row FROM partition_tenants WHERE tenant = @tenant AND partition = ${id}`;
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

/** The row of the tenant's first entry at or after a position; undefined when there is none. */
export function rowAtOrAfter(sql: Statements, tenant: TenantId, position: number): number | undefined {
  const log = sql.of<[number], { first: number }>('SELECT first FROM logs WHERE tenant = ?').get(tenant);
  const from = Math.max(position, log?.first ?? 1);
  for (const partition of partitionsFrom(sql, tenant, from)) {
    const [found] = readEntries<{ row: number }>(sql, partition, { tenant, from, limit: 1 }, 'n.row');
    if (found) return found.row;
  }
  return undefined;
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
