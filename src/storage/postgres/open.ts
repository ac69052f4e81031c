/**
 * Storage on PostgreSQL, shared by several nodes. Each kind of work has connections of its own, so that searches never hold up
 * appends; a database that does not answer counts as away after some seconds, and requests are then refused at once
 * (`connections.ts`). `log/` appends by group commit and reads and searches the log; `nodes.ts` has what nodes share: leases,
 * connected panels, commands and rate limits. Positions are given in the transaction that commits them, so they are dense and in
 * commit order on all nodes. If the connection is lost during a commit, the entries may have been stored; a retry with the same
 * idempotency key never stores twice. Migrations only add what older nodes can ignore.
 */
import {
  type Dialect,
  DummyDriver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type pg from 'pg';
import { AppError, conflict } from '#core/errors.ts';
import { FairQueue } from '#core/limits/concurrency.ts';
import { Database, type SqlExecutor } from '../database/sql.ts';
import type { Storage } from '../database/storage.ts';
import {
  Availability,
  Connections,
  createPool,
  type Timeouts,
  transaction,
  usualTimeouts,
} from './connections.ts';
import { AppendQueue } from './log/append-queue.ts';
import { createPostgresHistory, createReceiptStore } from './log/history.ts';
import {
  createLogWrite,
  type LogWrite,
  makePartitions,
  partitionRows as usualRows,
} from './log/partitions.ts';
import { createRetain, createSweep } from './log/retention.ts';
import { createPostgresStatistics } from './log/statistics.ts';
import { createIndexing, blockRows as usualBlockRows } from './log/term-lists.ts';
import { migrate } from './migrate.ts';
import { createLimitStore, createNodes } from './nodes.ts';

const closeMs = 10_000;
/** Connections for each kind of work. The last are for the lease of retention's rounds, and for probes. */
const lanes = { append: 1, reads: 5, writes: 5, lease: 1, spare: 1, watch: 1 };
/** Steps of searches at once, on connections of their own. */
const stepsAtOnce = 2;
/** The connection of the bus. */
const listening = 1;

export interface PostgresOptions {
  /** As in postgres://user:password@host/database. */
  readonly url: string;
  /** False: an empty database stays empty, and is refused. */
  readonly makes?: boolean;
  /** Notifications that may wait for the database before more are refused. */
  readonly queueCapacity: number;
  /** Rows of a partition other than the usual number, for tests … */
  readonly partitionRows?: number;
  /** … and rows whose lists of terms are made together. */
  readonly blockRows?: number;
  /** Time-outs other than the usual ones, for tests. */
  readonly timeouts?: Partial<Timeouts>;
  /** Expiry goes by this node's clock alone, for tests with times of their own. */
  readonly trustsOwnClock?: boolean;
  /** Hears why nothing can be stored, and undefined once it works again. */
  readonly onProblem: (message: string | undefined) => void;
  /** Hears what an operator should change. */
  readonly onWarning?: (message: string) => void;
}

/**
 * Connects to PostgreSQL, brings the schema up to date, and makes the first partitions.
 * @throws Error when the database cannot be reached, is from before the first release, was made by a newer Belfry, or has tables of another program; AppError `not-found` for an empty one with `makes: false`.
 */
export async function openPostgres(options: PostgresOptions): Promise<Storage> {
  const { url, partitionRows = usualRows, blockRows = usualBlockRows, onProblem } = options;
  const warn = options.onWarning ?? (() => undefined);
  const timeouts = { ...usualTimeouts, ...options.timeouts };
  const sum = Object.values(lanes).reduce((all, some) => all + some, stepsAtOnce);
  const pool = createPool({ ...timeouts, url, connections: sum });
  const availability = new Availability(pool, {
    onProblem,
    onReturn: () => all.run('all', checkIdentity),
  });
  const lane = (atOnce: number) =>
    new Connections(pool, { availability, atOnce, waitMs: timeouts.connectMs });
  const [reads, writes, all] = [lane(lanes.reads), lane(lanes.writes), lane(lanes.spare)];
  try {
    await all.run('all', async (client) => {
      if (options.makes === false) await requireTables(client, url);
      await requireEmptyOrOurs(client, url);
      await migrate(client);
      await makePartitions(client, partitionRows, 0);
      await checkIdentity(client);
      await checkSettings(client, sum + listening, warn);
    });
  } catch (error) {
    availability.close();
    await pool.end();
    throw error;
  }
  const write = createLogWrite(writes, partitionRows);
  const queue = new AppendQueue(createLogWrite(lane(lanes.append), partitionRows), {
    capacity: options.queueCapacity,
    availability,
  });
  const turns = new FairQueue(stepsAtOnce);
  const shared = { reads, steps: lane(stepsAtOnce), turns };
  return {
    history: {
      ...createPostgresHistory({ ...shared, queue, write, writes }),
      ...createReceiptStore(reads, writes),
    },
    statistics: createPostgresStatistics(shared),
    db: new Database(postgresDialect, createExecutor(reads, write)),
    nodes: createNodes(reads, writes),
    limits: createLimitStore(writes),
    ...createSweep(writes, { partitionRows, trustsOwnClock: options.trustsOwnClock ?? false, warn }),
    ...createIndexing(writes, blockRows, warn),
    retain: createRetain(lane(lanes.lease), writes),
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

/** A table of another program may have the name of one of Belfry's. Those of extensions do not count. */
async function requireEmptyOrOurs(client: pg.ClientBase, url: string): Promise<void> {
  const { rows } = await client.query<{ relname: string }>(
    `SELECT relname FROM pg_class c
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
       AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
       AND NOT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('schema_version') AND attname = 'oldest')
     ORDER BY relname LIMIT 1`,
  );
  const [foreign] = rows;
  if (!foreign) return;
  const { host, pathname } = new URL(url);
  throw conflict(
    `${host}${pathname} has tables of another program (${foreign.relname}): make an empty database with createdb, and name it in BELFRY_DATABASE_URL`,
  );
}

async function requireTables(client: pg.ClientBase, url: string): Promise<void> {
  const { rows } = await client.query<{ has: boolean }>("SELECT to_regclass('meta') IS NOT NULL AS has");
  if (rows[0]?.has) return;
  const { host, pathname } = new URL(url);
  throw new AppError(
    'not-found',
    `${host}${pathname} is no database of Belfry yet: start the server on it first, or set BELFRY_DATABASE_URL to where it is`,
  );
}

/**
 * What no copy of the database has in common with it: the cluster, its timeline (a promotion begins a new one: it stands in
 * the first digits of a file of the log), the database and its table.
 */
const identity = `(pg_control_system()).system_identifier
  || ' ' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
  || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database()) || ' ' || 'meta'::regclass::oid`;

/**
 * Begins a new epoch when the database went back, because a standby was promoted or a backup restored: positions that panels
 * have seen may then mean other entries, so panels start afresh. Nodes that find this out together begin only one. It begins with its
 * time: ids of Gotify rise with it.
 */
async function checkIdentity(client: pg.ClientBase): Promise<void> {
  await client.query(
    `WITH noted AS (
       INSERT INTO meta VALUES ('cluster', ${identity})
       ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE meta.value <> excluded.value
       RETURNING xmax <> 0 AS is_other
     ) UPDATE meta SET value = lpad(to_hex(extract(epoch FROM clock_timestamp())::bigint), 8, '0')
         || encode(substr(uuid_send(gen_random_uuid()), 1, 4), 'hex')
       WHERE name = 'epoch' AND EXISTS (SELECT 1 FROM noted WHERE is_other)`,
  );
}

interface Settings {
  /** The role's name; null: it is held to the policies. */
  readonly bypassing: string | null;
  readonly nodes: number;
  readonly partitions: number;
  readonly usable: number;
  readonly connections: number;
  readonly locks: number;
}

/** A lookup of an id that no partition has locks the tables of each and their indexes; a node may run some such statements at once. */
const locksOfPartition = 60;

/** What an operator should change in PostgreSQL: warns of a role without policies, and of limits that the nodes that run, and this one, may exceed. */
async function checkSettings(
  client: pg.ClientBase,
  connectionsOfNode: number,
  warn: (message: string) => void,
): Promise<void> {
  const { rows } = await client.query<Settings>(
    `SELECT (SELECT rolname FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)) AS bypassing,
       (SELECT count(*) FROM nodes WHERE alive_until > now()) + 1 AS nodes,
       (SELECT count(*) FROM partitions) AS partitions,
       current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint AS usable,
       current_setting('max_connections')::bigint AS connections,
       current_setting('max_locks_per_transaction')::bigint AS locks`,
  );
  for (const { bypassing, nodes, partitions, usable, connections, locks } of rows) {
    if (bypassing !== null)
      warn(
        `the role ${bypassing} of the database is not held to the policies that keep tenants apart: use a role that is no superuser`,
      );
    if (nodes * connectionsOfNode > usable)
      warn(
        `PostgreSQL has ${usable} connections, and ${nodes} nodes may use ${nodes * connectionsOfNode}: raise max_connections`,
      );
    const neededLocks = Math.ceil((locksOfPartition * nodes * partitions) / connections);
    if (neededLocks > locks)
      warn(
        `with ${partitions} partitions and ${nodes} nodes PostgreSQL may run out of locks: set max_locks_per_transaction to at least ${neededLocks}`,
      );
  }
}

/** The dialect of the directory's statements, without a driver: see {@link SqlExecutor}. */
export const postgresDialect: Dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};

/** How the directory reaches PostgreSQL. */
function createExecutor(reads: Connections, write: LogWrite): SqlExecutor {
  return {
    read: ({ sql, parameters }, tenant) =>
      reads.run(tenant ?? 'all', async (client) => (await client.query(sql, [...parameters])).rows),
    write: (queries, tenant) =>
      write(tenant ?? 'all', 0, (client) =>
        transaction(client, async () => {
          const results = [];
          for (const { sql, parameters } of queries) {
            const { rows, rowCount } = await client.query(sql, [...parameters]);
            results.push({ rows, changes: rowCount ?? 0 });
          }
          return results;
        }),
      ),
  };
}
