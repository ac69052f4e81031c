import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { damagePage } from '#test/support/damage-page.ts';
import { draft, openHistory } from '#test/support/history-model.ts';
import { append } from '../log/changes.ts';
import { LogWriter } from '../log/log-writer.ts';
import { backUp } from './backup.ts';
import { applicationId, tryLock } from './database-file.ts';
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
