import type pg from 'pg';
import type { Connections } from './connections.ts';
import { isMissingPartition, isRetryable } from './database.ts';

/** Rows of one partition, usually; tests have smaller ones. */
export const partitionRows = 250_000;

export interface Partition {
  /** Rows from here on … */
  readonly low: number;
  /** … and below this one. */
  readonly high: number;
}

/** Newest first. */
export const readPartitions = (connections: Connections): Promise<Partition[]> =>
  connections.query('partitions', 'SELECT low, high FROM partitions ORDER BY low DESC', []);

/** Makes partitions until the next `rows` rows have a place, and one more. Nodes that do it at once wait for each other. */
export async function makePartitions(pool: pg.Pool, size: number, rows: number): Promise<void> {
  await pool.query('SELECT make_partitions($1, $2)', [size, rows]);
}

/** Runs what writes to the log, and again when it ran out of partitions or met another transaction. */
export type LogWrite = <T>(rows: number, work: (pool: pg.Pool) => Promise<T>) => Promise<T>;

const attempts = 5;

/** `size`: rows of a partition. A call says how many rows it writes at the most. */
export function createLogWrite(connections: Connections, size: number): LogWrite {
  return (rows, work) =>
    connections.run(async (pool) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await work(pool);
        } catch (error) {
          if (attempt === attempts) throw error;
          if (isMissingPartition(error)) await makePartitions(pool, size, rows);
          else if (!isRetryable(error)) throw error;
        }
      }
    });
}

/**
 * Drops the partitions of which no tenant keeps a row. One that may still take rows stays, and one in use is left for the
 * next time.
 */
export async function dropUnkept(connections: Connections): Promise<void> {
  for (const { low, high } of await readPartitions(connections)) {
    // Looked at without a lock first: with the lock, writers wait.
    const [found] = await connections.query<{ droppable: boolean }>(
      'is-droppable',
      `SELECT $2 <= (SELECT last_value FROM log_row) AND NOT EXISTS (
         SELECT 1 FROM log g JOIN logs k ON k.tenant = g.tenant AND g.row >= k.first_row
         WHERE g.row >= $1 AND g.row < $2) AS droppable`,
      [low, high],
    );
    if (!found?.droppable) continue;
    await connections.query('drop-partition', 'SELECT drop_partition($1)', [low]).catch(() => undefined);
  }
}
