import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { conflict } from '../../core/errors.ts';
import { baselineMark, fromBeforeFirstRelease } from '../database/meta.ts';
import { transaction } from './connections.ts';

/** One file a version, `0001-baseline.sql`; a published one never changes (`SHA256SUMS` beside them holds it). */
const ownFolder = new URL('./migrations/', import.meta.url);
/** Names the advisory lock for which nodes that start at once wait. */
const lock = 0x62656c66;

/** A migration, or another node's, takes as long as it takes. */
const unhurried = { query_timeout: 24 * 3_600_000 };

interface SchemaVersion {
  readonly version: number;
  /** Nodes that know this version, but no later one, may go on. */
  readonly oldest: number;
}

/**
 * Brings the schema to the newest version, each step in one transaction. Nodes that start at once wait for each other. A step
 * that begins with the line `-- expands: older nodes may go on` only adds what older nodes need not know, so they may start
 * and run beside newer ones.
 *
 * @throws AppError `conflict` when the database is from before the first release, when it was made by a newer Belfry, beside which this one may not run, and when a new
 * one has another encoding than UTF-8.
 */
export async function migrate(client: pg.ClientBase, folder = ownFolder): Promise<void> {
  const files = readdirSync(folder)
    .filter((file) => /^\d{4}-.+\.sql$/.test(file))
    .sort();
  for (const file of files) {
    await transaction(client, async () => {
      await client.query('SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0');
      await client.query({ text: 'SELECT pg_advisory_xact_lock($1)', values: [lock], ...unhurried });
      const own = Number(file.slice(0, 4));
      const { version, oldest } = await schemaVersion(client);
      await requireReleased(client, version);
      if (version >= own) return;
      if (version === 0) await requireUtf8(client);
      const text = readFileSync(new URL(file, folder), 'utf8');
      await client.query({ text, ...unhurried });
      const isExpanding = text.startsWith('-- expands: older nodes may go on\n');
      await client.query('UPDATE schema_version SET version = $1, oldest = $2', [
        own,
        isExpanding ? oldest : own,
      ]);
    });
  }
  const newest = Number(files.at(-1)?.slice(0, 4));
  const { version, oldest } = await schemaVersion(client);
  if (oldest > newest)
    throw conflict(
      `the database has schema version ${version}, this Belfry knows ${newest}: start the newer Belfry`,
    );
}

/** A database is new, or its schema began with that of the first release. */
async function requireReleased(client: pg.ClientBase, version: number): Promise<void> {
  if (version === 0) return;
  const { rows } = await client.query('SELECT 1 FROM meta WHERE name = $1', [baselineMark]);
  if (rows.length === 0) throw fromBeforeFirstRelease(version);
}

async function requireUtf8(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(
    "SELECT current_setting('server_encoding') AS encoding",
  );
  const { encoding = '' } = rows[0] ?? {};
  if (encoding !== 'UTF8')
    throw conflict(
      `the database stores texts as ${encoding}: make a new one with createdb --encoding UTF8 --template template0`,
    );
}

async function schemaVersion(client: pg.ClientBase): Promise<SchemaVersion> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL, oldest bigint NOT NULL)',
  );
  await client.query(
    'INSERT INTO schema_version SELECT 0, 0 WHERE NOT EXISTS (SELECT 1 FROM schema_version)',
  );
  const { rows } = await client.query<SchemaVersion>('SELECT version, oldest FROM schema_version');
  return rows[0] ?? { version: 0, oldest: 0 };
}
