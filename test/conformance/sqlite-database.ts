import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '#storage/sqlite/open.ts';
import type { DirectoryDatabase } from './directory.ts';

/** An empty, migrated database in a folder of its own. */
export async function openDirectoryDatabase(): Promise<DirectoryDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-directory-'));
  const storage = openSqlite({
    path: join(folder, 'belfry.db'),
    queueCapacity: 10_000,
    minFreeBytes: 0,
    onProblem: (message) => console.error(message),
  });
  return {
    dialect: 'sqlite',
    db: storage.db,
    async close() {
      await storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
