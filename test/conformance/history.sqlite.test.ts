import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, vi } from 'vitest';
import { createDirectory } from '../../src/storage/directory.ts';
import { createSqliteBuilder } from '../../src/storage/sqlite/builder.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { historyConformance } from './history.ts';
import type { HistoryDatabase, HistoryOptions } from './history-lab.ts';

/** The real thing: a file on disk, with its threads. */
function openIn(folder: string, { queueCapacity = 10_000 }: HistoryOptions): HistoryDatabase {
  const path = join(folder, 'belfry.db');
  const storage = openSqlite({
    path,
    queueCapacity,
    minFreeBytes: 0,
    onTrouble: (message) => {
      throw new Error(message ?? 'a trouble has ended that never was');
    },
  });
  return {
    history: storage.history,
    receipts: storage.history,
    directory: createDirectory(createSqliteBuilder(), storage.executor),
    sweep: (now) => storage.sweep(now),
    indexed: () => indexed(path),
    async reopen() {
      await storage.close();
      return openIn(folder, { queueCapacity });
    },
    async close() {
      await storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function indexed(path: string): Promise<void> {
  const db = new Database(path, { readonly: true });
  const behind = db.prepare('SELECT count(*) FROM logs WHERE indexed < head').pluck();
  await vi
    .waitFor(() => expect(behind.get()).toBe(0), { timeout: 5_000, interval: 2 })
    .finally(() => db.close());
}

historyConformance('SQLite on disk', async (options = {}) =>
  openIn(mkdtempSync(join(tmpdir(), 'belfry-history-')), options),
);
