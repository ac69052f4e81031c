import type pg from 'pg';
import { FairQueue } from '../fair-queue.ts';
import type { Storage } from '../storage.ts';
import { AppendQueue } from './append-queue.ts';
import { Availability } from './availability.ts';
import { Connections } from './connections.ts';
import { createPool, createPostgresBuilder, type Timeouts, usualTimeouts } from './database.ts';
import { createExecutor } from './executor.ts';
import { checkIdentity } from './fail-over.ts';
import { PostgresHistory } from './history.ts';
import { createLimitStore } from './limits.ts';
import { migrate } from './migrate.ts';
import { createNodes } from './nodes.ts';
import { createLogWrite, makeAhead, makePartitions, partitionRows as usualRows } from './partitions.ts';
import { newestRows as usualNewestRows } from './search.ts';
import { PostgresStatistics } from './statistics.ts';

/** Expired notifications and retry keys taken out in one transaction. */
const sweptAtOnce = 1_000;
const closeMs = 10_000;
/** A statement of a search ends after this; the next one then looks at less. */
const stepMs = 200;
/** Connections for each kind of work. The last is for probes, and for what the nodes tell each other. */
const lanes = { append: 1, reads: 5, writes: 5, spare: 1 };
/** Steps of searches at once, on connections of their own. */
const stepsAtOnce = 2;

export interface PostgresOptions {
  /** As in postgres://user:password@host/database. */
  readonly url: string;
  /** Notifications that may wait for the database before more are refused. */
  readonly queueCapacity: number;
  /** Rows of a partition other than the usual number, for tests … */
  readonly partitionRows?: number;
  /** … and of a search's first look. */
  readonly newestRows?: number;
  /** Time-outs other than the usual ones, for tests. */
  readonly timeouts?: Partial<Timeouts>;
  /** Hears why nothing can be stored, and undefined once it works again. */
  readonly onProblem: (message: string | undefined) => void;
  /** Hears what an operator should change. */
  readonly onWarning?: (message: string) => void;
}

/**
 * Connects to PostgreSQL, brings the schema up to date, and makes the first partitions.
 * @throws Error when the database cannot be reached, or was made by a newer Belfry.
 */
export async function openPostgres(options: PostgresOptions): Promise<Storage> {
  const { url, partitionRows = usualRows, newestRows = usualNewestRows, onProblem } = options;
  const timeouts = { ...usualTimeouts, ...options.timeouts };
  const sum = lanes.append + lanes.reads + lanes.writes + lanes.spare;
  const pool = createPool({ ...timeouts, url, connections: sum });
  const searchPool = createPool({ ...timeouts, statementMs: stepMs, url, connections: stepsAtOnce });
  const availability = new Availability(pool, {
    onProblem,
    onReturn: () => all.run('all', checkIdentity),
  });
  const lane = (atOnce: number, of = pool) =>
    new Connections(of, { availability, atOnce, waitMs: timeouts.connectMs });
  const [reads, writes, all] = [lane(lanes.reads), lane(lanes.writes), lane(lanes.spare)];
  try {
    await all.run('all', async (client) => {
      await migrate(client);
      await makePartitions(client, partitionRows, 0);
      await checkIdentity(client);
      await warnOfBypass(client, options.onWarning);
    });
  } catch (error) {
    availability.close();
    await Promise.all([pool.end(), searchPool.end()]);
    throw error;
  }
  const queue = new AppendQueue(createLogWrite(lane(lanes.append), partitionRows), {
    capacity: options.queueCapacity,
    availability,
  });
  const turns = new FairQueue(stepsAtOnce);
  const searchLanes = { reads, steps: lane(stepsAtOnce, searchPool), newestRows };
  return {
    history: new PostgresHistory({
      ...searchLanes,
      queue,
      write: createLogWrite(writes, partitionRows),
      writes,
      turns,
    }),
    statistics: new PostgresStatistics(searchLanes, turns),
    builder: createPostgresBuilder(),
    executor: createExecutor(reads, writes),
    nodes: createNodes(reads, writes),
    limits: createLimitStore(writes),
    async sweep(now) {
      await makeAhead(writes, partitionRows);
      const [swept] = await writes.query<{ count: number }>(
        'all',
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
      const ended = Promise.all([pool.end(), searchPool.end()]).then(() => true);
      const late = new Promise<boolean>((resolve) => setTimeout(resolve, withinMs / 2, false).unref());
      return Promise.race([ended, late]);
    },
  };
}

async function warnOfBypass(client: pg.PoolClient, warn: PostgresOptions['onWarning']): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT rolname AS name FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)',
  );
  for (const { name } of rows)
    warn?.(
      `the role ${name} of the database is not held to the policies that keep tenants apart: use a role that is no superuser`,
    );
}
