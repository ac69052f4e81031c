import type pg from 'pg';
import type { TenantId } from '#core/ports.ts';
import type { Connections, Scope } from './connections.ts';
import { isLockTimeout, isMissingPartition, isMissingTable, isRetryable, isTimeout } from './errors.ts';

/** Rows of one partition, usually; tests have smaller ones. */
export const partitionRows = 250_000;

export interface Partition {
  /** Rows from here on … */
  readonly low: number;
  /** … and below this one. */
  readonly high: number;
}

/** The counters of a tenant's log; undefined: it has none. */
export async function readLog(connections: Connections, tenant: TenantId) {
  const [log] = await connections.query<{
    readonly head: number;
    readonly first: number;
    readonly notifications: number;
    readonly bytes: number;
    readonly dropped_minute: number;
  }>(tenant, 'SELECT head, first, notifications, bytes, dropped_minute FROM logs WHERE tenant = $1', [
    tenant,
  ]);
  return log;
}

/** The log's table of a partition: policies do not hold there. */
export const logOf = ({ low }: Partition) => `log_${low}`;

/** Runs what looks into partitions one by one once more when one of them was dropped meanwhile. */
export async function againIfDropped<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isMissingTable(error)) throw error;
    return read();
  }
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

/** Records between which times the notifications of full partitions are. A later call does what this one has no time for. */
export async function recordTimes(connections: Connections): Promise<void> {
  const full = await connections.query<Partition>(
    'all',
    `SELECT low, high FROM partitions WHERE (first_at IS NULL OR earliest_from IS NULL) AND high <= (SELECT last_value FROM log_row) ORDER BY low DESC`,
    [],
  );
  if (full.length === 0) return;
  try {
    // Who has taken a row's number holds a lock on the counters until the row is stored.
    await connections.queryOnce(
      'all',
      "DO $$ BEGIN SET LOCAL lock_timeout = '100ms'; LOCK TABLE logs IN EXCLUSIVE MODE; END $$",
      [],
    );
    for (const partition of full)
      await connections.queryOnce(
        'all',
        `WITH part AS (
           SELECT (row - low) / ((high - low + 31) / 32) AS nr, min(at) AS first_at, max(at) AS last_at
           FROM ${logOf(partition)}, partitions WHERE low = $1 AND cleared IS NULL GROUP BY 1
         )
         UPDATE partitions SET first_at = coalesce((SELECT min(first_at) FROM part), 0), last_at = coalesce((SELECT max(last_at) FROM part), 0),
           earliest_from = ARRAY(SELECT (SELECT coalesce(min(first_at), ${Number.MAX_SAFE_INTEGER}) FROM part WHERE part.nr >= i)
             FROM generate_series(0, 31) i ORDER BY i) WHERE low = $1`,
        [partition.low],
      );
  } catch (error) {
    if (!isLockTimeout(error) && !isTimeout(error) && !isMissingTable(error)) throw error;
  }
}

/**
 * Drops the partitions of which no tenant keeps a row. One that may still take rows stays, and one in use is left for the
 * next time.
 * @throws the first error at the end, when all others are dropped.
 */
export async function dropUnkept(connections: Connections): Promise<void> {
  const errors: unknown[] = [];
  const all = await connections.query<Partition>(
    'all',
    'SELECT low, high FROM partitions WHERE high <= (SELECT last_value FROM log_row) ORDER BY low DESC',
    [],
  );
  for (const { low } of all) {
    try {
      // Looked at without a lock first: with the lock, writers wait.
      const [found] = await connections.query<{ kept: boolean }>('all', 'SELECT is_kept($1) AS kept', [low]);
      if (found?.kept === false) await connections.query('all', 'SELECT drop_partition($1)', [low]);
    } catch (error) {
      if (!isLockTimeout(error)) errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
