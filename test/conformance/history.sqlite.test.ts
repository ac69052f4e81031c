import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { createDirectory } from '../../src/storage/directory.ts';
import { createSqliteBuilder } from '../../src/storage/sqlite/builder.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { eventually } from '../support/eventually.ts';
import { historyConformance } from './history.ts';
import { type HistoryDatabase, type HistoryOptions, newTenant, now, store } from './history-lab.ts';

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
    figures: storage.figures,
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
  await eventually(() => expect(behind.get()).toBe(0), { interval: 2 }).finally(() => db.close());
}

historyConformance('SQLite on disk', async (options = {}) =>
  openIn(mkdtempSync(join(tmpdir(), 'belfry-history-')), options),
);

test('pruning leaves nothing behind in the search indexes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-history-'));
  const database = openIn(folder, {});
  const tenant = await newTenant(database);
  for (let i = 0; i < 20; i++) {
    await store(database.history, tenant, { host: `h${i}`, ip: '10.0.0.1', key: 'k', expiresAt: now - 1 });
  }
  await database.indexed();
  const rowsOf = () => indexRows(join(folder, 'belfry.db'));
  expect(rowsOf().filter(([, rows]) => rows !== 0).length).toBeGreaterThan(2);
  while ((await database.history.prune(tenant, { olderThan: now + 1, keep: null }, now)) > 0);
  for (const [table, rows] of rowsOf()) expect([table, rows]).toEqual([table, 0]);
  await database.close();
});

/** Every table of a search index with its number of rows; of the full-text index, the one that has a row a document. */
function indexRows(path: string): [string, unknown][] {
  const db = new Database(path, { readonly: true });
  const tables = db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name LIKE 'index\\_%' ESCAPE '\\' OR name = 'postings')",
    )
    .pluck()
    .all() as string[];
  const rows = tables
    .filter((name) => !name.startsWith('index_text') || name === 'index_text_docsize')
    .map((name): [string, unknown] => [name, db.prepare(`SELECT count(*) FROM ${name}`).pluck().get()]);
  db.close();
  return rows;
}
