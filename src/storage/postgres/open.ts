import { FairQueue } from '../sqlite/fair-queue.ts';
import type { Storage } from '../storage.ts';
import { AppendQueue } from './append-queue.ts';
import { Availability, Connections } from './connections.ts';
import { createPool, createPostgresBuilder } from './database.ts';
import { createExecutor } from './executor.ts';
import { PostgresHistory } from './history.ts';
import { createLimitStore } from './limits.ts';
import { migrate } from './migrate.ts';
import { createNodes } from './nodes.ts';
import { createLogWrite, makePartitions, partitionRows as usualRows } from './partitions.ts';
import { PostgresStatistics } from './statistics.ts';

/** Expired notifications and retry keys taken out in one transaction. */
const sweptAtOnce = 1_000;
const closeMs = 10_000;

export interface PostgresOptions {
  /** As in postgres://user:password@host/database. */
  readonly url: string;
  /** Notifications that may wait for the database before more are refused. */
  readonly queueCapacity: number;
  /** Rows of a partition other than the usual number, for tests. */
  readonly partitionRows?: number;
  /** Hears why nothing can be stored, and undefined once it works again. */
  readonly onProblem: (message: string | undefined) => void;
}

/**
 * Connects to PostgreSQL, brings the schema up to date, and makes the first partitions.
 * @throws Error when the database cannot be reached, or was made by a newer Belfry.
 */
export async function openPostgres(options: PostgresOptions): Promise<Storage> {
  const { partitionRows = usualRows } = options;
  const lanes = { append: 1, reads: 5, writes: 5, searches: 2 };
  const pool = createPool({
    url: options.url,
    connections: lanes.append + lanes.reads + lanes.writes + lanes.searches,
  });
  try {
    await migrate(pool);
    await makePartitions(pool, partitionRows, 0);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const availability = new Availability(pool, options.onProblem);
  const lane = (atOnce: number) => new Connections(pool, availability, atOnce);
  const [reads, writes, searches] = [lane(lanes.reads), lane(lanes.writes), lane(lanes.searches)];
  const queue = new AppendQueue(createLogWrite(lane(lanes.append), partitionRows), {
    capacity: options.queueCapacity,
    availability,
  });
  const turns = new FairQueue();
  return {
    history: new PostgresHistory({
      queue,
      reads,
      write: createLogWrite(writes, partitionRows),
      writes,
      searches,
      turns,
    }),
    statistics: new PostgresStatistics(reads, searches, turns),
    builder: createPostgresBuilder(),
    executor: createExecutor(reads, writes),
    nodes: createNodes(reads, writes),
    limits: createLimitStore(writes),
    async sweep(now) {
      const [swept] = await writes.query<{ count: number }>(
        'sweep',
        `WITH retries AS (
           DELETE FROM idempotency WHERE (tenant, key) IN (
             SELECT tenant, key FROM idempotency WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1
         ), expired AS (
           DELETE FROM live WHERE (tenant, rank, position) IN (
             SELECT tenant, rank, position FROM live WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1
         ), throttled AS (
           DELETE FROM throttles WHERE (tenant, name) IN (
             SELECT tenant, name FROM throttles WHERE until <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1
         ) SELECT (SELECT count(*) FROM retries) + (SELECT count(*) FROM expired) + (SELECT count(*) FROM throttled) AS count`,
        [now, sweptAtOnce],
      );
      return swept?.count ?? 0;
    },
    queueDepth: () => queue.depth,
    problem: () => queue.problem,
    // A connection that is lost is opened again.
    failed: new Promise(() => {}),
    async close(withinMs = closeMs) {
      turns.close();
      await queue.close(withinMs / 2);
      availability.close();
      const ended = pool.end().then(() => true);
      const late = new Promise<boolean>((resolve) => setTimeout(resolve, withinMs / 2, false).unref());
      return Promise.race([ended, late]);
    },
  };
}
