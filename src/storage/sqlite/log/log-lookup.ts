/** Where in the partitions something lies. */
import type { TenantId } from '#core/ports.ts';
import {
  eachPartition,
  findPartition,
  type Partition,
  readNewest,
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

/** The partition in which a position of a tenant lies, if it is kept. */
export function partitionOfPosition(
  sql: Statements,
  tenant: TenantId,
  position: number,
): Partition | undefined {
  // The newest is asked itself: what of it is not indexed yet is not in the list of what partitions hold.
  const newest = readNewest(sql);
  const isThere = sql
    .of<[number, number], { one: number }>(
      `SELECT 1 AS one FROM ${tablesOf(newest).log} WHERE tenant = ? AND position <= ? LIMIT 1`,
    )
    .get(tenant, position);
  if (isThere) return newest;
  const found = sql
    .of<[number, number], { partition: number }>(
      `SELECT partition FROM partition_tenants WHERE tenant = ? AND first_position <= ?
       ORDER BY partition DESC LIMIT 1`,
    )
    .get(tenant, position);
  return found && readPartitions(sql).find(({ id }) => id === found.partition);
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

/** The partitions, oldest first, in which positions of a tenant from this one on lie. */
export function partitionsFrom(sql: Statements, tenant: TenantId, position: number): Partition[] {
  const first = partitionOfPosition(sql, tenant, position)?.firstRow ?? 0;
  return readPartitions(sql)
    .filter(({ firstRow }) => firstRow >= first)
    .reverse();
}

/** The row of the tenant's first entry at or after a position; undefined when there is none. */
export function rowAtOrAfter(sql: Statements, tenant: TenantId, position: number): number | undefined {
  for (const partition of partitionsFrom(sql, tenant, position)) {
    const found = sql
      .of<[number, number], { row: number }>(
        `SELECT row FROM ${tablesOf(partition).log} WHERE tenant = ? AND position >= ? ORDER BY position LIMIT 1`,
      )
      .get(tenant, position);
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
