import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { createDeliveryQueue } from '#storage/deliveries/deliveries.ts';
import { createDirectory } from '#storage/directory/directory.ts';
import { createDueTimes } from '#storage/directory/due-times.ts';
import type { LogSizes } from '#storage/sqlite/log/log-writer.ts';
import { openSqlite } from '#storage/sqlite/open.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { eventually } from '../support/eventually.ts';
import { historyConformance } from './history.ts';
import { everyone, type HistoryDatabase, type HistoryOptions, newTenant, now, store } from './history-lab.ts';

interface SqliteOptions extends HistoryOptions {
  readonly sizes?: LogSizes;
}

/** The real thing: a file on disk, with its threads. */
function openIn(folder: string, { queueCapacity = 10_000, sizes }: SqliteOptions): HistoryDatabase {
  const path = join(folder, 'belfry.db');
  const storage = openSqlite({
    path,
    queueCapacity,
    minFreeBytes: 0,
    ...(sizes && { sizes }),
    onProblem: (message) => {
      throw new Error(message ?? 'the end of a problem was reported, and no problem before');
    },
  });
  return {
    history: storage.history,
    statistics: storage.statistics,
    receipts: storage.history,
    directory: createDirectory(storage.db),
    dueTimes: createDueTimes(storage.db),
    deliveries: createDeliveryQueue(storage.db, { name: 'server' }),
    nodes: 1,
    sweep: (now) => storage.sweep(now),
    async reopen() {
      await storage.close();
      return openIn(folder, { queueCapacity, ...(sizes && { sizes }) });
    },
    async close() {
      await storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const folder = () => mkdtempSync(join(tmpdir(), 'belfry-history-'));

historyConformance('SQLite on disk', async (options = {}) => openIn(folder(), options));

/** So that few entries have many partitions, which are indexed, sealed, dropped and written anew between all else. */
const small = { partitionRows: 5, indexBatchRows: 2 };

historyConformance('SQLite on disk, in small partitions', async (options = {}) =>
  openIn(folder(), { ...options, sizes: small }),
);

test('what retention drops leaves the file: tables, terms, counts and routes', async () => {
  const home = folder();
  const database = openIn(home, { sizes: small });
  const tenant = await newTenant(database);
  const route = (revision: number) => routeTo(everyone, { revision });
  for (let i = 0; i < 23; i++)
    await store(database.history, tenant, { host: `h${i}`, key: 'k', expiresAt: now - 1, route: route(i) });
  const db = new Database(join(home, 'belfry.db'), { readonly: true });
  const count = (sql: string) => db.prepare<[], number>(sql).pluck().get();
  const logs = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'log\\_%\\__' ESCAPE '\\'";
  expect(count(logs)).toBe(5);
  while ((await database.history.prune(tenant, { olderThan: now + 1, keep: null }, now)) > 0);
  // The log goes first, and what is known of it afterwards.
  await eventually(() => {
    expect(count(logs)).toBe(1);
    expect(count('SELECT count(*) FROM retired_partitions')).toBe(0);
  });
  for (const table of ['row_minutes', 'partition_tenants'])
    expect(count(`SELECT count(*) FROM ${table}`)).toBeLessThanOrEqual(5);
  expect(await database.history.oldestRevision(tenant)).toBe(20);
  db.close();
  await database.close();
});
