/**
 * Finds out that the database went back: a standby was promoted, or a backup was restored. Positions that panels have seen may
 * then mean other entries, so the installation gets a new epoch, and panels start afresh.
 */
import type pg from 'pg';

/**
 * What no copy of the database has in common with it: the cluster, its timeline (a promotion begins a new one: it stands in
 * the first digits of a file of the log), the database and its table.
 */
const identity = `(pg_control_system()).system_identifier
  || ' ' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
  || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database()) || ' ' || 'meta'::regclass::oid`;

/** Begins a new epoch when the database is not the noted one. Nodes that find this out together begin only one. */
export async function checkIdentity(client: pg.ClientBase): Promise<void> {
  await client.query(
    `WITH noted AS (
       INSERT INTO meta VALUES ('cluster', ${identity})
       ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE meta.value <> excluded.value
       RETURNING xmax <> 0 AS is_other
     ) UPDATE meta SET value = encode(substr(uuid_send(gen_random_uuid()), 1, 5), 'hex')
       WHERE name = 'epoch' AND EXISTS (SELECT 1 FROM noted WHERE is_other)`,
  );
}
