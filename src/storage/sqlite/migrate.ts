import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { conflict } from '#core/errors.ts';
import { baselineMark, fromBeforeFirstRelease } from '../database/meta.ts';
import { type Db, tryServerLock } from './file/database-file.ts';

/** One file for each version, such as `0001-baseline.sql`. A published file never changes; `SHA256SUMS` beside it ensures this. */
const ownFolder = fileURLToPath(new URL('./migrations/', import.meta.url));
/** How long another command may need to bring the schema up to date. */
const otherCommandMs = 2_000;

interface Migration {
  readonly version: number;
  readonly path: string;
}

const migrationsIn = (folder: string): Migration[] =>
  readdirSync(folder)
    .filter((file) => /^\d{4}-.+\.sql$/.test(file))
    .sort()
    .map((file) => ({ version: Number(file.slice(0, 4)), path: join(folder, file) }));

const newestOf = (migrations: readonly Migration[]) => migrations.at(-1)?.version ?? 0;

/**
 * Brings the schema to the newest version in one transaction, so a kill in the middle changes nothing.
 * Safe with several processes at once: the version is read again inside the transaction. `folder`: the path of the migrations;
 * tests use their own.
 *
 * @throws AppError `conflict` when the database is from before the first release, or from a newer Belfry; it stays as it is.
 */
export function migrate(db: Db, folder = ownFolder): void {
  const all = migrationsIn(folder);
  const newest = newestOf(all);
  if (!isReleased(db)) throw fromBeforeFirstRelease(schemaVersion(db));
  const change = db.transaction(() => {
    const before = schemaVersion(db);
    for (const { version, path } of all) {
      if (version <= before) continue;
      db.exec(readFileSync(path, 'utf8'));
      db.pragma(`user_version = ${version}`);
    }
  });
  if (schemaVersion(db) < newest) change.exclusive();
  if (schemaVersion(db) > newest) {
    throw conflict(
      `the database has schema version ${schemaVersion(db)}, this Belfry knows ${newest}: start the newer Belfry, or restore a backup made by this one`,
    );
  }
}

/**
 * As {@link migrate}, for a process that is not the server. It never changes the schema while a server runs, because a server
 * works only with its own schema. A server migrates the schema at its start, so the schema has the version of the server.
 *
 * @throws AppError `conflict` when a server of an older version runs, and as {@link migrate} does.
 */
export function migrateWithoutServer(db: Db, path: string, folder = ownFolder): void {
  const isOld = () => schemaVersion(db) < newestOf(migrationsIn(folder));
  const lock = isOld() ? tryServerLock(path, otherCommandMs) : undefined;
  if (!lock && isOld())
    throw conflict(
      `a Belfry server of another version runs on ${path}: use the commands of its version, or stop it first`,
    );
  try {
    migrate(db, folder);
  } finally {
    lock?.release();
  }
}

/** Whether it is new, or its schema began with that of the first release. A damaged one without `meta` is left to {@link assertSchema}. */
function isReleased(db: Db): boolean {
  const isMarked = () => db.prepare('SELECT 1 FROM meta WHERE name = ?').get(baselineMark) !== undefined;
  const hasMeta = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() !== undefined;
  return schemaVersion(db) === 0 || !hasMeta || isMarked();
}

export function schemaVersion(db: Db): number {
  return db.pragma('user_version', { simple: true }) as number;
}

/**
 * Checks that the database has all tables, columns and indexes of its version. Additional ones are ignored.
 *
 * @throws AppError `conflict` naming the missing part.
 */
export function assertSchema(db: Db, path: string): void {
  const model = new Database(':memory:');
  try {
    migrate(model);
    const found = new Set(partsOf(db));
    const missing = partsOf(model).find((part) => !found.has(part));
    if (missing !== undefined)
      throw conflict(
        `${path} lacks ${missing}, which schema version ${schemaVersion(db)} has: put a backup in its place with belfry restore FILE`,
      );
  } finally {
    model.close();
  }
}

/** Every column of every table and index, in words. */
function partsOf(db: Db): string[] {
  const sql = `
    SELECT 'the column ' || c.name || ' ' || c.type || ' of the table ' || t.name
    FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table'
    UNION ALL
    SELECT 'the index ' || i.name || ' over ' || coalesce(c.name, 'an expression')
    FROM sqlite_schema i, pragma_index_info(i.name) c WHERE i.type = 'index'`;
  return db.prepare<[], string>(sql).pluck().all();
}
