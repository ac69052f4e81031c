import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { AppError } from '../../core/errors.ts';
import { transaction } from './database.ts';

/** One file a version, `0001-baseline.sql`; a published one never changes (`SHA256SUMS` beside them holds it). */
const folder = new URL('./migrations/', import.meta.url);
/** Names the advisory lock for which nodes that start at once wait. */
const lock = 0x62656c66;

/**
 * Brings the schema to the newest version, each step in one transaction. Nodes that start at once wait for each other.
 * @throws AppError `conflict` when the database was made by a newer Belfry.
 */
export async function migrate(pool: pg.Pool): Promise<void> {
  const files = readdirSync(folder)
    .filter((file) => /^\d{4}-.+\.sql$/.test(file))
    .sort();
  for (const file of files) {
    await transaction(pool, async (client) => {
      // Another node may take long, and so may this migration.
      await client.query('SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0');
      await client.query('SELECT pg_advisory_xact_lock($1)', [lock]);
      if ((await schemaVersion(client)) >= Number(file.slice(0, 4))) return;
      await client.query(readFileSync(new URL(file, folder), 'utf8'));
      await client.query('UPDATE schema_version SET version = $1', [Number(file.slice(0, 4))]);
    });
  }
  const newest = Number(files.at(-1)?.slice(0, 4));
  const version = await schemaVersion(pool);
  if (version > newest)
    throw new AppError(
      'conflict',
      `the database has schema version ${version}, this Belfry knows ${newest}: start the newer Belfry`,
    );
}

async function schemaVersion(client: pg.Pool | pg.PoolClient): Promise<number> {
  await client.query('CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)');
  const { rows } = await client.query<{ version: number }>(
    `INSERT INTO schema_version SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM schema_version) RETURNING version`,
  );
  if (rows[0]) return 0;
  return (
    (await client.query<{ version: number }>('SELECT version FROM schema_version')).rows[0]?.version ?? 0
  );
}
