import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, test } from 'vitest';
import { eventually } from '#test/support/eventually.ts';
import { openWritable, realDatabasePath, tryServerLock } from './file/database-file.ts';
import { restore } from './file/restore.ts';
import { assertSchema, migrate, migrateWithoutServer, schemaVersion } from './migrate.ts';
import { openSqlite } from './open.ts';

const folder = join(import.meta.dirname, 'migrations');
const scripts = readdirSync(folder).filter((file) => file.endsWith('.sql'));
const newest = Number(scripts.sort().at(-1)?.slice(0, 4));
const home = mkdtempSync(join(tmpdir(), 'belfry-migrate-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

let made = 0;
const newPath = () => join(home, `${++made}`, 'belfry.db');

/** The migrations there are, and a made-up one after them. */
function withNext(sql: string): string {
  const copy = mkdtempSync(join(home, 'migrations-'));
  for (const file of scripts) copyFileSync(join(folder, file), join(copy, file));
  writeFileSync(join(copy, `${String(newest + 1).padStart(4, '0')}-made-up.sql`), sql);
  return copy;
}

const open = (path: string, role: 'server' | 'command' = 'server') =>
  openSqlite({ path, role, queueCapacity: 10, minFreeBytes: 0, onProblem: () => undefined });

test('each migration exists for both stores, so that an older Belfry never opens a newer database of either', () => {
  const filesOf = (backend: string) => readdirSync(join(import.meta.dirname, backend, 'migrations')).sort();
  expect(filesOf('.')).toEqual(filesOf('../postgres'));
});

test.each(['.', '../postgres'])(
  'a published migration in %s never changes: add the next one instead',
  (backend) => {
    // Before the first release of a migration: sha256sum *.sql > SHA256SUMS, in its folder.
    const own = join(import.meta.dirname, backend, 'migrations');
    const sums = readdirSync(own)
      .filter((file) => file.endsWith('.sql'))
      .sort()
      .map((file) => {
        const hash = createHash('sha256')
          .update(readFileSync(join(own, file)))
          .digest('hex');
        return `${hash}  ${file}\n`;
      });
    expect(sums.join('')).toBe(readFileSync(join(own, 'SHA256SUMS'), 'utf8'));
  },
);

describe('the next migration', () => {
  test('brings an older database to its version, and a new one too', () => {
    const next = withNext(
      'ALTER TABLE panels ADD COLUMN floor TEXT; UPDATE tenants SET title = upper(title);',
    );
    const db = new Database(':memory:');
    migrate(db);
    db.exec("INSERT INTO tenants (name, title, changed, created_at) VALUES ('a', 'Acme', 1, 1)");
    migrate(db, next);
    expect(schemaVersion(db)).toBe(newest + 1);
    expect(db.prepare('SELECT title FROM tenants').pluck().get()).toBe('ACME');
    const fresh = new Database(':memory:');
    migrate(fresh, next);
    const columns = 'SELECT name FROM pragma_table_info(?)';
    for (const each of [db, fresh]) expect(each.prepare(columns).pluck().all('panels')).toContain('floor');
  });

  test('that fails leaves the database at the version before, with nothing of the step done', () => {
    const db = new Database(':memory:');
    migrate(db);
    const failing = withNext('CREATE TABLE half (a); INSERT INTO missing VALUES (1);');
    expect(() => migrate(db, failing)).toThrow('no such table: missing');
    expect(schemaVersion(db)).toBe(newest);
    expect(db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'half'").get()).toBeUndefined();
  });

  test('is left to the server while one runs, which knows no other schema than its own', () => {
    const path = newPath();
    const lock = tryServerLock(path);
    const db = openWritable(path);
    migrate(db);
    const next = withNext('CREATE TABLE more (a);');
    expect(() => migrateWithoutServer(db, path, next)).toThrow(/a Belfry server of another version runs on /);
    expect(schemaVersion(db)).toBe(newest);
    lock?.release();
    migrateWithoutServer(db, path, next);
    expect(schemaVersion(db)).toBe(newest + 1);
    expect(() => migrateWithoutServer(db, path)).toThrow('start the newer Belfry');
    db.close();
  });
});

describe('a database from before the first release', () => {
  /** As an earlier commit left it: with migrations of other names, and without the mark of the baseline. */
  function createEarlier(version: number): string {
    const path = newPath();
    mkdirSync(join(path, '..'));
    const db = openWritable(path);
    db.exec(`CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      INSERT INTO meta VALUES ('epoch', 'abc'), ('changes', 0); PRAGMA user_version = ${version}`);
    db.close();
    return path;
  }
  const named = (version: number) =>
    `the database is from before the first release (schema version ${version}), and this version of Belfry does not read it: ` +
    'run belfry export with the version that made it, and belfry apply on a new database';

  test.each([1, 16])(
    'is refused, with how to move its content, and stays as it is: version %i',
    (version) => {
      const path = createEarlier(version);
      const before = readFileSync(path);
      for (const role of ['server', 'command'] as const)
        expect(() => open(path, role)).toThrow(named(version));
      expect(readFileSync(path)).toEqual(before);
    },
  );

  test('is refused as a backup, too', () => {
    const path = newPath();
    mkdirSync(join(path, '..'));
    expect(() => restore(path, createEarlier(16), 1)).toThrow(named(16));
    expect(readdirSync(join(path, '..')).filter((file) => !file.endsWith('-lock'))).toEqual([]);
  });
});

describe('a database whose schema is not what its version says', () => {
  const changed = (sql: string) => {
    const db = new Database(':memory:');
    migrate(db);
    db.exec(sql);
    return () => assertSchema(db, 'belfry.db');
  };

  test.each([
    ['DROP TABLE levels', 'the column tenant INTEGER of the table levels'],
    ['ALTER TABLE panels DROP COLUMN client', 'the column client TEXT of the table panels'],
    ['DROP INDEX routes_by_value', 'the index routes_by_value'],
  ])('is refused: %s', (sql, missing) => {
    expect(changed(sql)).toThrow(`belfry.db lacks ${missing}`);
  });

  test('is taken when it only holds more', () => {
    expect(changed('CREATE TABLE extra (a); CREATE INDEX extra_a ON extra (a)')).not.toThrow();
  });
});

describe('the file', () => {
  test('and what lies beside it are for this user alone, in a folder that was made for it', async () => {
    const path = newPath();
    const storage = open(path);
    tryServerLock(path)?.release();
    await storage.db.write([]);
    const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);
    expect(mode(join(path, '..'))).toBe('700');
    const files = readdirSync(join(path, '..')).map((file) => [file, mode(join(path, '..', file))]);
    await storage.close();
    expect(Object.fromEntries(files)).toEqual({
      'belfry.db': '600',
      'belfry.db-wal': '600',
      'belfry.db-shm': '600',
      'belfry.db-lock': '600',
    });
  });

  test('of another program is refused before anything is written', () => {
    const path = newPath();
    mkdirSync(join(path, '..'));
    const db = new Database(path);
    db.pragma('journal_mode = WAL');
    db.exec('CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)');
    db.close();
    const before = readFileSync(path);
    for (const role of ['server', 'command'] as const)
      expect(() => open(path, role)).toThrow('is no database of Belfry');
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(join(path, '..'))).toEqual(['belfry.db']);
  });

  test('is one and the same by whichever link it is reached', () => {
    const path = newPath();
    const lock = tryServerLock(path);
    writeFileSync(path, '');
    symlinkSync(path, join(home, 'link.db'));
    symlinkSync(join(path, '..'), join(home, 'folder'));
    for (const link of ['link.db', 'folder/belfry.db'])
      expect(tryServerLock(join(home, link))).toBeUndefined();
    lock?.release();
    symlinkSync('to-be.db', join(home, 'dangling.db'));
    expect(realDatabasePath(join(home, 'dangling.db'))).toBe(join(realpathSync(home), 'to-be.db'));
  });
});

test('a command does no work in the background: the log is maintained by the server', async () => {
  const path = newPath();
  mkdirSync(join(path, '..'));
  const db = openWritable(path);
  migrate(db);
  db.exec('INSERT INTO retired_partitions VALUES (9, 0, 1, 1, 1)');
  const retired = db.prepare('SELECT count(*) FROM retired_partitions').pluck();
  const command = open(path, 'command');
  for (let i = 0; i < 30; i++) await command.sweep(0);
  await command.close();
  expect(retired.get()).toBe(1);
  const server = open(path, 'server');
  await eventually(() => expect(retired.get()).toBe(0));
  await server.close();
  db.close();
});
