import type pg from 'pg';
import type { TenantId } from '#core/log/route.ts';
import type { LogRange } from '../../search/log-search.ts';
import type { Connections, Scope } from '../connections.ts';
import { isLockTimeout, isMissingPartition, isRetryable, isTimeout } from '../errors.ts';

/** Rows of one partition, usually; tests have smaller ones. */
export const partitionRows = 250_000;

interface PartitionInTimes {
  /** Rows from here on … */
  readonly low: number;
  /** … and below this one. */
  readonly high: number;
  /** Rows below this one are in lists. */
  readonly listed: number;
  /** Of these, from here on and below `upTo`, some may be of the times that are asked for. */
  readonly from: number;
  readonly upTo: number;
}

/** Partitions that one statement reads: each takes locks. */
export const partitionsAtOnce = 16;

/**
 * The partitions with some of these rows, the newest first; and which of their listed rows may be of these times (Unix milliseconds).
 * Times of blocks are only read of partitions that are not known to be wholly within the times.
 */
export function readPartitions(
  connections: Connections,
  tenant: TenantId,
  { low, high }: LogRange,
  { after, before } = { after: Number.MIN_SAFE_INTEGER, before: Number.MAX_SAFE_INTEGER },
): Promise<PartitionInTimes[]> {
  return connections.query(
    tenant,
    `SELECT p.low, p.high, p.listed, CASE WHEN within THEN p.low ELSE t.low END AS "from", CASE WHEN within THEN p.listed ELSE t.high END AS "upTo"
     FROM (
       SELECT low, high, coalesce(listed, low) AS listed, coalesce(first_at >= $1 AND last_at < $2, false) AS within FROM partitions
       WHERE high > $3 AND low <= $4 AND coalesce(last_at >= $1 AND first_at < $2, true)
     ) p CROSS JOIN LATERAL (
       SELECT coalesce(min(b.low), p.low) AS low, coalesce(max(b.high), p.low) AS high FROM term_blocks b
       WHERE NOT within AND b.part = p.low AND b.last_at >= $1 AND b.first_at < $2
     ) t ORDER BY p.low DESC`,
    [after, before, low, high],
  );
}

/** The counters of a tenant's log. */
export interface TenantLog {
  readonly head: number;
  readonly first: number;
  readonly notifications: number;
  readonly bytes: number;
  /** Up to this minute, retention may have dropped some of what was counted. */
  readonly dropped_minute: number;
  /** The rows of the entries that are kept, or of those between two positions; without any, `low` is above `high`. */
  readonly low: number;
  readonly high: number;
}

/** undefined: the tenant has no log. */
export async function readLog(
  connections: Connections,
  tenant: TenantId,
  { before, after }: { readonly before?: number | undefined; readonly after?: number | undefined } = {},
): Promise<TenantLog | undefined> {
  const [log] = await connections.query<TenantLog>(
    tenant,
    `SELECT head, k.first, notifications, k.bytes, dropped_minute,
       CASE WHEN $3::bigint IS NULL THEN first_row ELSE coalesce((SELECT row FROM read_after($1, $3, 1)), ${Number.MAX_SAFE_INTEGER}) END AS low,
       coalesce(CASE WHEN n.position >= $2::bigint THEN n.row - 1 ELSE n.row END, 0) AS high
     FROM logs k LEFT JOIN LATERAL read_after($1, least($2::bigint - 1, head) - 1, 1) n ON true WHERE k.tenant = $1`,
    [tenant, before ?? null, after ?? null],
  );
  return log;
}

/**
 * Makes partitions until the next `rows` rows have a place, and one more. Of nodes that do it at once one does it, and the
 * others wait.
 */
export async function makePartitions(client: pg.ClientBase, size: number, rows: number): Promise<void> {
  await client.query('SELECT make_partitions($1, $2)', [size, rows]);
}

export type LogWrite = ReturnType<typeof createLogWrite>;

const attempts = 5;

/**
 * Runs what writes to the log, and again when it met another transaction. `size`: rows of a partition. A call says how many rows
 * it writes at the most: should the sweep be so late that they have no partition, it is made first.
 */
export function createLogWrite(connections: Connections, size: number) {
  return <T>(scope: Scope, rows: number, work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
    connections.run(scope, async (client) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await work(client);
        } catch (error) {
          if (attempt === attempts) throw error;
          if (isMissingPartition(error)) await makePartitions(client, size, rows);
          else if (!isRetryable(error)) throw error;
        }
      }
    });
}

/** Makes partitions ahead of the log, so that an append finds its own there. */
export async function makeAhead(connections: Connections, size: number): Promise<void> {
  const [found] = await connections.query<{ isShort: boolean }>(
    'all',
    `SELECT coalesce(max(high), 0) <= (SELECT last_value FROM log_row) + $1::bigint AS "isShort" FROM partitions`,
    [size],
  );
  if (found?.isShort) await connections.run('all', (client) => makePartitions(client, size, size));
}

/**
 * Drops the partitions of which no tenant keeps a row, and records the times of the others, for searches by time. One that may
 * still take rows is left alone, and one in use is left for the next time.
 * @throws the first error at the end, when all others are done.
 */
export async function maintainPartitions(connections: Connections): Promise<void> {
  const errors: unknown[] = [];
  const all = await connections.query<{ low: number; isUntimed: boolean }>(
    'all',
    `SELECT low, first_at IS NULL AND high <= (SELECT settled FROM list_mark) AS "isUntimed" FROM partitions
     WHERE high <= (SELECT last_value FROM log_row) ORDER BY low DESC`,
  );
  for (const { low, isUntimed } of all) {
    try {
      // Looked at without a lock first: with the lock, writers wait.
      const [found] = await connections.query<{ kept: boolean }>('all', 'SELECT is_kept($1) AS kept', [low]);
      if (found?.kept === false) await connections.query('all', 'SELECT drop_partition($1)', [low]);
      else if (isUntimed) await connections.query('all', 'SELECT record_times($1)', [low]);
    } catch (error) {
      // Times that take too long are recorded with the lists.
      if (!isLockTimeout(error) && !(isUntimed && isTimeout(error))) errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
