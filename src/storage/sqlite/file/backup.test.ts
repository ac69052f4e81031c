import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { damagePage } from '#test/support/damage-page.ts';
import { draft, openHistory } from '#test/support/history-model.ts';
import { append } from '../log/append.ts';
import { readAfter } from '../log/log-reader.ts';
import { LogWriter } from '../log/log-writer.ts';
import { Statements } from '../log/partitions.ts';
import { connectLog } from '../log/rows.ts';
import { backUp } from './backup.ts';
import { applicationId } from './database-file.ts';
import { tryLock } from './lock.ts';
import { restore } from './restore.ts';

let folder: string;
let database: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-backup-'));
  database = join(folder, 'belfry.db');
  file = join(folder, 'copies', 'backup.db');
  mkdirSync(join(folder, 'copies'));
  fill(database, 500);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const tenant = 7;

function fill(path: string, notifications: number): void {
  const db = openHistory(path);
  db.pragma(`application_id = ${applicationId}`);
  const log = new LogWriter(db);
  log.transaction(() => {
    for (let i = 0; i < notifications; i++) {
      const { route, ...rest } = draft({ message: 'x'.repeat(500) });
      append(log, tenant, { ...rest, route: JSON.stringify(route), shown: true }, null);
    }
  });
  db.close();
}

const partial = (random: string) => `${file}.${random}.partial`;
const copies = () => readdirSync(join(folder, 'copies'));

it('what a killed backup left is taken away by the next one, what another container is writing is not', () => {
  // In a container each process is number 1, also the next one and one beside it.
  const [dead, alive] = [partial('0123456789ab'), partial('ba9876543210')];
  for (const path of [dead, `${dead}-journal`, alive, `${file}.${process.pid}.partial`])
    writeFileSync(path, 'half');
  const other = tryLock(`${alive}-lock`);
  backUp(database, file);
  expect([existsSync(dead), existsSync(`${dead}-journal`), existsSync(alive)]).toEqual([false, false, true]);
  other?.release();
  backUp(database, file, { force: true });
  expect(copies().sort()).toEqual(['backup.db', `backup.db.${process.pid}.partial`]);
});

it('what a killed restore left is taken away by the next one', () => {
  backUp(database, file);
  const left = [`${database}.0123456789ab.restoring`, `${database}.0123456789ab.restoring-journal`];
  for (const path of left) writeFileSync(path, 'half');
  restore(database, file, 1);
  expect(left.filter((path) => existsSync(path))).toEqual([]);
});

it('a damaged backup is called damaged', () => {
  backUp(database, file);
  damagePage(file, Math.floor(statSync(file).size / 8192));
  expect(() => restore(database, file, 1)).toThrow(/^.*backup\.db is damaged \(.+\): take another backup$/);
});

it('a database of another program is refused before any of it is copied', () => {
  const db = new Database(file);
  db.exec(`CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))`);
  db.close();
  // What is copied would be met as damage.
  damagePage(file, 2);
  expect(() => restore(database, file, 1)).toThrow(
    'is no Belfry database: name a file that belfry backup made',
  );
});

it.each([false, true])(
  'a backup of an older version keeps what was not indexed yet (purges: %s)',
  (purges) => {
    const old = join(folder, 'old.db');
    fill(old, 5);
    const db = new Database(old);
    // Version 9 listed the tenants of a partition only as far as it was indexed.
    db.exec(`DROP TABLE partition_tenants; CREATE TABLE partition_tenants (
      tenant INTEGER NOT NULL, partition INTEGER NOT NULL, entries INTEGER NOT NULL, first_position INTEGER NOT NULL,
      last_position INTEGER NOT NULL, last_row INTEGER NOT NULL, PRIMARY KEY (tenant, partition)) WITHOUT ROWID;
    CREATE TABLE row_levels (row INTEGER PRIMARY KEY, names TEXT NOT NULL, levels BLOB NOT NULL);
    DROP INDEX deliveries_open; ALTER TABLE deliveries DROP COLUMN open_key;
    DROP INDEX rules_ended; ALTER TABLE tenants DROP COLUMN rules_from;
    ALTER TABLE sessions DROP COLUMN reauthenticated_at; ALTER TABLE credentials DROP COLUMN allow_in_url; ALTER TABLE tenants DROP COLUMN state;
    PRAGMA user_version = 9`);
    db.close();
    restore(database, old, 1, { purges });
    const restored = new Database(database, { readonly: true });
    const { entries } = readAfter(connectLog(new Statements(restored)), tenant, 0, 100);
    expect(entries.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
    restored.close();
  },
);
