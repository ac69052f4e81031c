import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { CompiledQuery } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite, type SqliteStorage } from './open.ts';

let folder: string;
let storage: SqliteStorage;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-open-'));
  storage = openSqlite({
    path: join(folder, 'belfry.db'),
    queueCapacity: 100,
    minFreeBytes: 0,
    onTrouble: () => undefined,
  });
});
afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

const write = (sql: string) => storage.executor.write([CompiledQuery.raw(sql)]);
const read = (sql: string) => storage.executor.read(CompiledQuery.raw(sql));
/** Keeps a thread inside SQLite for some seconds. */
const long =
  'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000000) SELECT count(*) AS n FROM c';

describe('closing the storage', () => {
  it('leaves all that was stored in the database file alone, though readers were open', async () => {
    await read('SELECT count(*) FROM meta');
    await write("INSERT INTO meta (name, value) VALUES ('kept', 7)");
    await storage.close();
    const copy = join(folder, 'copy.db');
    copyFileSync(join(folder, 'belfry.db'), copy);
    const db = new Database(copy, { readonly: true });
    expect(db.prepare("SELECT value FROM meta WHERE name = 'kept'").get()).toEqual({ value: '7' });
    db.close();
  });

  it('empties the write-ahead log although another process has the file open', async () => {
    const other = new Database(join(folder, 'belfry.db'));
    other.prepare('SELECT count(*) FROM meta').get();
    await write("INSERT INTO meta (name, value) VALUES ('kept', 7)");
    await storage.close();
    const wal = join(folder, 'belfry.db-wal');
    expect(existsSync(wal) ? statSync(wal).size : 0).toBe(0);
    other.close();
  });

  it('does not wait for a statement that takes longer than it has, and says that it goes on', async () => {
    await read('SELECT 1');
    const reading = read(long).catch((error: Error) => error.message);
    const began = performance.now();
    expect(await storage.close(1_500)).toBe(false);
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(await reading).toBe('storage is closed');
  });
});
