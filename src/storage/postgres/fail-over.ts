/**
 * Finds out that the database went back: a standby without the last commits was promoted, or a backup was restored. Positions
 * that panels have seen then mean other entries, so the log gets a new epoch, and panels start afresh.
 */
import type pg from 'pg';
import type { Entry, TenantId } from '#core/ports.ts';

interface Noted {
  readonly position: number;
  readonly id: string;
}

/** The newest entry of each tenant that this node has stored or read. */
export class NewestEntries {
  readonly #byTenant = new Map<TenantId, Noted>();

  note(tenant: TenantId, entry: Entry | undefined): void {
    if (entry && entry.position > (this.#byTenant.get(tenant)?.position ?? 0))
      this.#byTenant.set(tenant, { position: entry.position, id: entry.id });
  }

  /** After a lost connection: starts a new epoch if the log no longer holds what was noted. */
  async check(client: pg.PoolClient): Promise<void> {
    const noted = [...this.#byTenant];
    const { rows } = await client.query<{ epoch: string; missing: TenantId[] | null }>(
      `SELECT (SELECT value FROM meta WHERE name = 'epoch') AS epoch, array_agg(w.tenant) AS missing
       FROM unnest($1::bigint[], $2::bigint[], $3::uuid[]) AS w (tenant, position, id)
       JOIN tenants t ON t.id = w.tenant
       LEFT JOIN logs k ON k.tenant = w.tenant
       LEFT JOIN log n ON n.tenant = w.tenant AND n.position = w.position
       WHERE k.head IS NULL OR k.head < w.position OR n.id <> w.id`,
      [
        noted.map(([tenant]) => tenant),
        noted.map(([, { position }]) => position),
        noted.map(([, { id }]) => id),
      ],
    );
    const missing = rows[0]?.missing ?? [];
    if (rows[0] && missing.length > 0) {
      await client.query(newEpoch, [rows[0].epoch]);
      for (const tenant of missing) this.#byTenant.delete(tenant);
    }
    await client.query(noteCluster, [await clusterOf(client)]);
  }
}

/** Once for an epoch, however many nodes notice. */
const newEpoch = `UPDATE meta SET value = encode(substr(uuid_send(gen_random_uuid()), 1, 5), 'hex')
  WHERE name = 'epoch' AND value = $1`;
const noteCluster =
  "INSERT INTO meta VALUES ('cluster', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/** At a start: a new epoch when the database is another one than at the last, or has a new history since. */
export async function checkCluster(client: pg.PoolClient): Promise<void> {
  const cluster = await clusterOf(client);
  const { rows } = await client.query<{ name: string; value: string }>(
    "SELECT name, value FROM meta WHERE name IN ('epoch', 'cluster')",
  );
  const known = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  if (known.cluster === cluster) return;
  if (known.cluster !== undefined) await client.query(newEpoch, [known.epoch]);
  await client.query(noteCluster, [cluster]);
}

/** Changes with a restore, and with every promotion of a standby: the timeline stands in the first digits of a file of the log. */
async function clusterOf(client: pg.PoolClient): Promise<string> {
  const { rows } = await client.query<{ cluster: string }>(
    `SELECT (pg_control_system()).system_identifier || ' ' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS cluster`,
  );
  return rows[0]?.cluster ?? '';
}
