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

/** The newest entry of each tenant that this node has stored or read, and the epoch in which it did. */
export class NewestEntries {
  readonly #byTenant = new Map<TenantId, Noted>();
  #epoch = '';

  note(tenant: TenantId, entry: Entry | undefined): void {
    if (entry && entry.position > (this.#byTenant.get(tenant)?.position ?? 0))
      this.#byTenant.set(tenant, { position: entry.position, id: entry.id });
  }

  /** At a start: a new epoch when the database is another one than at the last, or has another history since. */
  async begin(client: pg.PoolClient): Promise<void> {
    const cluster = await clusterOf(client);
    const { rows } = await client.query<{ name: string; value: string }>(
      "SELECT name, value FROM meta WHERE name IN ('epoch', 'cluster')",
    );
    const known = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
    this.#epoch = known.epoch ?? '';
    if (known.cluster === cluster) return;
    if (known.cluster !== undefined) await this.#renew(client);
    await client.query(noteCluster, [cluster]);
  }

  /** After a lost connection: a new epoch when the log no longer holds what was noted. */
  async check(client: pg.PoolClient): Promise<void> {
    const noted = [...this.#byTenant];
    const { rows } = await client.query(
      `SELECT 1 FROM unnest($1::bigint[], $2::bigint[], $3::uuid[]) AS w (tenant, position, id)
       JOIN tenants t ON t.id = w.tenant
       LEFT JOIN logs k ON k.tenant = w.tenant
       LEFT JOIN log n ON n.tenant = w.tenant AND n.position = w.position
       WHERE k.head IS NULL OR k.head < w.position OR n.id <> w.id LIMIT 1`,
      [
        noted.map(([tenant]) => tenant),
        noted.map(([, { position }]) => position),
        noted.map(([, { id }]) => id),
      ],
    );
    if (rows.length > 0) await this.#renew(client);
    await client.query(noteCluster, [await clusterOf(client)]);
  }

  /** One new epoch, however many nodes notice. */
  async #renew(client: pg.PoolClient): Promise<void> {
    await client.query(
      `UPDATE meta SET value = encode(substr(uuid_send(gen_random_uuid()), 1, 5), 'hex') WHERE name = 'epoch' AND value = $1`,
      [this.#epoch],
    );
    const { rows } = await client.query<{ value: string }>("SELECT value FROM meta WHERE name = 'epoch'");
    this.#epoch = rows[0]?.value ?? '';
    this.#byTenant.clear();
  }
}

const noteCluster =
  "INSERT INTO meta VALUES ('cluster', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/** Changes with a restore, and with every promotion of a standby: the timeline stands in the first digits of a file of the log. */
async function clusterOf(client: pg.PoolClient): Promise<string> {
  const { rows } = await client.query<{ cluster: string }>(
    `SELECT (pg_control_system()).system_identifier || ' ' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS cluster`,
  );
  return rows[0]?.cluster ?? '';
}
