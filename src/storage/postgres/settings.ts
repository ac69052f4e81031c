/** What an operator should change in PostgreSQL, looked at when a node starts. */
import type pg from 'pg';

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

/** Warns of a role without policies, and of limits that the nodes that run, and this one, may exceed. */
export async function checkSettings(
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
