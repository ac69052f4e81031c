import { spawn } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterAll, expect, test } from 'vitest';
import { openWritable } from '#storage/sqlite/file/database-file.ts';
import { migrate } from '#storage/sqlite/migrate.ts';
import { root } from '#test/support/server-process.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';

const rows = countOf('upgradedRows');
const kills = countOf('upgradeKills');
const migrations = join(root, 'src/storage/sqlite/migrations');
const upgradeProcess = fileURLToPath(new URL('./upgrade-process.ts', import.meta.url));

const home = mkdtempSync(join(tmpdir(), 'belfry-upgrade-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** The migrations there are, and two made-up ones that touch every row; answers their folder and the newest version. */
function withNext(): { folder: string; newest: number } {
  const folder = join(home, 'migrations');
  cpSync(migrations, folder, { recursive: true });
  const version = readdirSync(folder).filter((file) => file.endsWith('.sql')).length;
  const name = (next: number) => join(folder, `${String(version + next).padStart(4, '0')}-made-up.sql`);
  writeFileSync(
    name(1),
    'ALTER TABLE idempotency ADD COLUMN note TEXT; UPDATE idempotency SET note = hash || key;',
  );
  writeFileSync(
    name(2),
    'CREATE TABLE copied AS SELECT * FROM idempotency; CREATE INDEX copied_key ON copied (key);',
  );
  return { folder, newest: version + 2 };
}

/** A database of today's schema with a table of many rows. */
function createDatabase(path: string): void {
  const db = openWritable(path);
  migrate(db);
  const insert = db.prepare(
    'INSERT INTO idempotency (tenant, key, hash, id, expires_at) VALUES (1, ?, ?, ?, 1)',
  );
  db.transaction(() => {
    for (let n = 0; n < rows; n++) insert.run(`key ${n}`, `hash ${n}`, Buffer.from(`${n}`));
  })();
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

/** Upgrades in a process of its own, and kills it so long after its first write. */
async function upgrade(path: string, folder: string, killAfterMs = Number.POSITIVE_INFINITY) {
  const child = spawn(process.execPath, [upgradeProcess, path, folder], { cwd: root, stdio: 'inherit' });
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('exit', (_code, signal) => resolve(signal)),
  );
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver && (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) await sleep(1);
  const began = performance.now();
  if (Number.isFinite(killAfterMs)) {
    await Promise.race([sleep(killAfterMs), ended]);
    child.kill('SIGKILL');
  }
  const signal = await ended;
  return { ms: performance.now() - began, killed: signal === 'SIGKILL' };
}

/** What a database holds. @throws Error when it is damaged. */
function look(path: string) {
  const db = new Database(path);
  try {
    expect(db.pragma('integrity_check(1)', { simple: true })).toBe('ok');
    return {
      version: db.pragma('user_version', { simple: true }) as number,
      rows: db.prepare('SELECT count(*) FROM idempotency').pluck().get() as number,
      schema: db.prepare('SELECT name FROM sqlite_schema ORDER BY name').pluck().all(),
    };
  } finally {
    db.close();
  }
}

test(`a database of ${rows} rows is upgraded whole, through ${kills} kills on the way`, {
  timeout: timeLimit(120_000),
}, async () => {
  const { folder, newest } = withNext();
  const old = join(home, 'old.db');
  createDatabase(old);
  const copy = (name: string): string => {
    const path = join(mkdtempSync(join(home, 'copy-')), name);
    copyFileSync(old, path);
    return path;
  };
  const whole = copy('whole.db');
  const { ms: uninterruptedMs } = await upgrade(whole, folder);
  const upgraded = look(whole);
  expect(upgraded).toMatchObject({ version: newest, rows });

  let interrupted = 0;
  for (let i = 0; i < kills; i++) {
    const path = copy('killed.db');
    const { killed } = await upgrade(path, folder, (uninterruptedMs * i) / kills);
    if (killed) interrupted += 1;
    const left = look(path);
    expect(left.rows).toBe(rows);
    expect([newest - 2, newest - 1, newest]).toContain(left.version);
    await upgrade(path, folder);
    expect(look(path)).toEqual(upgraded);
    rmSync(join(path, '..'), { recursive: true });
  }
  report({
    promise: 'an upgrade is whole or has not happened, whatever interrupts it',
    method: `two made-up migrations, kill -9 spread over the time from the upgrade's first write, then integrity check, schema, and the same upgrade again`,
    count: `${rows} rows, ${kills} kills, ${interrupted} of them before its end`,
    result: `0 lost, the schema is that of an uninterrupted upgrade; it takes ${Math.round(uninterruptedMs)} ms to the end of its process`,
  });
  expect(interrupted).toBeGreaterThan(0);
});
