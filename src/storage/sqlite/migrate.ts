import { readdirSync, readFileSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';
import type { Db } from './database.ts';

const folder = new URL('./migrations/', import.meta.url);

interface Migration {
  readonly version: number;
  readonly file: string;
}

function migrations(): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{4}-.+\.sql$/.test(file))
    .sort()
    .map((file) => ({ version: Number(file.slice(0, 4)), file }));
}

/**
 * Brings the schema to the newest version; each step is one transaction, so a kill in the middle leaves the step before.
 * Safe with several processes at once: the version is read again inside the transaction.
 *
 * @throws AppError `conflict` when the database was made by a newer Belfry.
 */
export function migrate(db: Db): void {
  const all = migrations();
  const newest = all.at(-1)?.version ?? 0;
  for (const { version, file } of all) {
    db.transaction(() => {
      if (schemaVersion(db) >= version) return;
      db.exec(readFileSync(new URL(file, folder), 'utf8'));
      db.pragma(`user_version = ${version}`);
    }).exclusive();
  }
  if (schemaVersion(db) > newest) {
    throw new AppError(
      'conflict',
      `the database has schema version ${schemaVersion(db)}, this Belfry knows ${newest}: start the newer Belfry, or restore a backup made by this one`,
    );
  }
}

export function schemaVersion(db: Db): number {
  return db.pragma('user_version', { simple: true }) as number;
}
