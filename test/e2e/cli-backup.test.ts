import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient } from '#client/client.ts';
import { Cli } from '../support/cli.ts';

let cli: Cli;
let file: string;
beforeEach(() => {
  cli = new Cli();
  file = join(cli.folder, 'backup', 'belfry.db');
});
afterEach(() => cli.remove());

/** What a database holds, read without Belfry; throws when it is not whole. */
function look(path: string): { epoch: string; titles: Set<string>; tenants: string[] } {
  const db = new Database(path, { readonly: true, fileMustExist: true });
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    const epoch = db.prepare("SELECT value FROM meta WHERE name = 'epoch'").pluck().get() as string;
    const titles = new Set(
      db.prepare('SELECT title FROM log_1_0 WHERE cleared IS NULL').pluck().all() as string[],
    );
    const tenants = db.prepare('SELECT name FROM tenants ORDER BY name').pluck().all() as string[];
    return { epoch, titles, tenants };
  } finally {
    db.close();
  }
}

const keptFiles = () =>
  readdirSync(cli.folder).filter((name) => name.includes('.before-restore-') && !name.endsWith('-shm'));

test('a backup that is taken under load holds all that was acknowledged before it began, and is whole', async () => {
  const { url } = await cli.serve({ BELFRY_RATE_TOKEN: 'off', BELFRY_RATE_TENANT: 'off' });
  const client = createClient({ url, token: await cli.token() });
  const acknowledged: string[] = [];
  let stop = false;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; !stop; n++) {
      await client.send({ title: `${writer}-${n}`, message: 'x'.repeat(500) });
      acknowledged.push(`${writer}-${n}`);
    }
  });
  while (acknowledged.length < 200) await sleep(20);
  const before = [...acknowledged];
  const { stdout: message } = await cli.start(['backup', file]).ended;
  const during = acknowledged.length - before.length;
  stop = true;
  await Promise.all(writers);
  expect(message).toMatch(new RegExp(`^backed up to ${file}: [0-9.]+ MiB, checked\n$`));
  expect(during).toBeGreaterThan(0);
  const { titles } = look(file);
  expect(before.filter((title) => !titles.has(title))).toEqual([]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(cli.folder, 'backup'))).toEqual(['belfry.db']);
});

test('what root makes in the folder of another user is that user’s, so that the server can open it', async () => {
  await cli.token();
  await cli.ok(['backup', file]);
  const folder = join(cli.folder, 'data');
  const env = { BELFRY_DATABASE_URL: `sqlite:${join(folder, 'belfry.db')}` };
  for (const args of [
    ['restore', file],
    ['token', 'create', '--name', 'first'],
  ]) {
    mkdirSync(folder);
    if (process.getuid?.() === 0) chownSync(folder, 12_345, 12_346);
    await cli.ok(args, { env });
    await cli.ok(['export'], { env });
    const { uid, gid } = statSync(folder);
    expect(readdirSync(folder)).toEqual(['belfry.db', 'belfry.db-lock', 'belfry.db.key']);
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)), name).toMatchObject({ uid, gid });
    rmSync(folder, { recursive: true });
  }
});

test('a backup overwrites nothing without the option', async () => {
  await cli.token();
  mkdirSync(join(cli.folder, 'backup'));
  writeFileSync(file, 'precious');
  const refused = await cli.run(['backup', file]);
  expect(refused).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `belfry: ${file} exists: name another file, or overwrite it with --force\n`,
  });
  expect(statSync(file).size).toBe(8);
  await cli.ok(['backup', file, '--force']);
  expect(look(file).tenants).toEqual(['default']);
});

test('a backup that cannot be taken says why in one line, and leaves nothing behind', async () => {
  const missing = await cli.run(['backup', file]);
  expect(missing).toMatchObject({
    code: 1,
    stderr: `belfry: there is no database at ${cli.database}: set BELFRY_DATABASE_URL to where it is\n`,
  });
  await cli.token();
  writeFileSync(join(cli.folder, 'a-file'), '');
  const cases = [
    [cli.database, 'is the database itself'],
    [cli.folder, 'is a folder'],
    [join(cli.folder, 'a-file', 'b.db'), 'name a file in a folder that this user may write to'],
  ] as const;
  for (const [path, message] of cases) {
    const { code, stderr } = await cli.run(['backup', path, '--force']);
    expect(stderr).toMatch(/^belfry: [^\n]+\n$/);
    expect(stderr).toContain(message);
    expect(code).toBe(1);
  }
  expect(look(cli.database).tenants).toEqual(['default']);
  expect(readdirSync(cli.folder).filter((name) => name.includes('partial'))).toEqual([]);
});

test('restoring brings back what was, keeps what is, and tells every panel by a new epoch', async () => {
  const first = await cli.serve();
  const token = await cli.token();
  const client = createClient({ url: first.url, token });
  await client.send({ title: 'old', message: 'm' });
  await cli.ok(['backup', file]);
  await client.send({ title: 'new', message: 'm' });
  const panel = await client.registerPanel({ name: 'lobby' });
  const { epoch } = look(cli.database);

  const busy = await cli.run(['restore', file]);
  expect(busy).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `belfry: a Belfry server runs on ${cli.database}: stop it first\n`,
  });
  first.running.child.kill('SIGTERM');
  await first.running.ended;

  const message = await cli.ok(['restore', file]);
  const [kept = ''] = keptFiles();
  expect(message).toContain(`what was there is kept as ${join(cli.folder, kept)}`);
  expect([...look(join(cli.folder, kept)).titles].sort()).toEqual(['new', 'old']);
  const now = look(cli.database);
  expect([...now.titles]).toEqual(['old']);
  expect(now.epoch).toMatch(/^[0-9a-f]{16}$/);
  expect(now.epoch).not.toBe(epoch);

  const second = await cli.serve();
  const again = createClient({ url: second.url, token });
  const back = await again.registerPanel({ name: 'lobby' });
  expect(back.id).not.toBe(panel.id);
  for await (const event of again.panelEvents(back.id, { lastEventId: `${epoch}-1` })) {
    if (event.type === 'ready') expect(event.data).toMatchObject({ resume: 'reset', epoch: now.epoch });
    if (event.type === 'heartbeat') break;
    if (event.type === 'notification') expect(event.data.title).toBe('old');
  }
});

test('a restore with --purge leaves nothing that retention does not keep in the file', async () => {
  const { running, url } = await cli.serve();
  const client = createClient({ url, token: await cli.token() });
  await client.send({ title: 'expired-title', message: 'expired-message' });
  await client.send({ title: 'kept-title', message: 'kept-message' });
  running.child.kill('SIGTERM');
  await running.ended;
  const db = new Database(cli.database);
  db.exec('DELETE FROM live; UPDATE logs SET first = 2, first_row = 2, notifications = 1');
  db.close();
  await cli.ok(['backup', file]);
  const has = (path: string, text: string) => readFileSync(path).includes(text);
  expect([has(file, 'expired-'), has(file, 'kept-title')]).toEqual([true, true]);
  await cli.ok(['restore', '--purge', file]);
  expect([has(cli.database, 'expired-'), has(cli.database, 'kept-title')]).toEqual([false, true]);
  const again = await cli.serve();
  const key = (await cli.ok(['key', 'create', '--name', 'look', '--role', 'viewer'])).trim();
  const found = await createClient({ url: again.url, token: key }).history();
  expect(found.notifications.map(({ title }) => title)).toEqual(['kept-title']);
});

test('what a killed server had in its log is kept with the old database', async () => {
  const { running, url } = await cli.serve();
  const client = createClient({ url, token: await cli.token() });
  await cli.ok(['backup', file]);
  await client.send({ title: 'only in the log', message: 'm' });
  running.child.kill('SIGKILL');
  await running.ended;
  expect(existsSync(`${cli.database}-wal`)).toBe(true);
  await cli.ok(['restore', file]);
  const [kept = ''] = keptFiles();
  expect(look(join(cli.folder, kept)).titles).toContain('only in the log');
  expect(look(cli.database).titles).not.toContain('only in the log');
});

test('a database that is gone, or too damaged to be opened, can be replaced', async () => {
  await cli.token();
  await cli.ok(['backup', file]);
  const target = join(cli.folder, 'deep', 'down', 'belfry.db');
  const env = { BELFRY_DATABASE_URL: `sqlite:${target}` };
  expect(await cli.ok(['restore', file], { env })).not.toContain('kept');
  expect(look(target).tenants).toEqual(['default']);
  writeFileSync(cli.database, 'ruined '.repeat(1_000));
  writeFileSync(`${cli.database}-wal`, 'perhaps of use');
  await cli.ok(['restore', file]);
  expect(look(cli.database).tenants).toEqual(['default']);
  expect(keptFiles()).toHaveLength(1);
  expect(existsSync(`${cli.database}-wal`)).toBe(false);
});

test('only a whole backup of a known Belfry is restored, and nothing is touched otherwise', async () => {
  await cli.token();
  await cli.ok(['backup', file]);
  const variant = (name: string, change: (db: Database.Database) => void) => {
    const path = join(cli.folder, name);
    copyFileSync(file, path);
    const db = new Database(path);
    change(db);
    db.close();
    return path;
  };
  const junk = join(cli.folder, 'junk.db');
  writeFileSync(junk, 'no database at all '.repeat(500));
  const cut = join(cli.folder, 'cut.db');
  copyFileSync(file, cut);
  truncateSync(cut, Math.floor(statSync(file).size / 8192) * 4096);
  const cases = [
    [join(cli.folder, 'nowhere.db'), 'there is no backup at'],
    [cli.folder, 'is no Belfry database'],
    [junk, 'is no Belfry database'],
    [cut, 'is damaged'],
    [
      variant('foreign.db', (db) => db.exec('DROP TABLE tenants')),
      /lacks the column \w+ INTEGER of the table tenants/,
    ],
    [variant('newer.db', (db) => db.pragma('user_version = 9999')), 'start the newer Belfry'],
    [cli.database, 'is the database itself'],
  ] as const;
  const before = look(cli.database).epoch;
  for (const [path, message] of cases) {
    const { code, stdout, stderr } = await cli.run(['restore', path]);
    expect(stderr).toMatch(/^belfry: [^\n]+\n$/);
    expect(stderr).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  }
  expect(look(cli.database).epoch).toBe(before);
  expect(readdirSync(cli.folder).filter((name) => /restor/.test(name))).toEqual([]);
});

test('a backup in which one byte is not as it was written is refused', async () => {
  await cli.ok(['token', 'create', '--name', 'in-the-backup']);
  await cli.ok(['backup', file]);
  const whole = readFileSync(file);
  const before = look(cli.database).epoch;
  const text = whole.indexOf('in-the-backup');
  expect(text).toBeGreaterThan(0);
  for (const at of [text, whole.length - 1, whole.length - 40]) {
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] ?? 0) ^ 0x01;
    writeFileSync(file, flipped);
    const { code, stderr } = await cli.run(['restore', file]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/is damaged \(it is not as its checksum says/)]);
  }
  expect(look(cli.database).epoch).toBe(before);
  // Cut to its pages, it is a database as copies of the file are.
  writeFileSync(file, whole.subarray(0, whole.length - (whole.length % 4096)));
  expect(look(file).tenants).toEqual(['default']);
  await cli.ok(['restore', file]);
});

test('a database that another process has open is left alone', async () => {
  await cli.token();
  await cli.ok(['backup', file]);
  const other = new Database(cli.database);
  other.prepare('SELECT count(*) FROM tenants').get();
  const { code, stderr } = await cli.run(['restore', file]);
  other.close();
  expect(stderr).toMatch(/^belfry: another process has .* open: wait for it, or end it\n$/);
  expect(code).toBe(1);
  expect(keptFiles()).toEqual([]);
});

test('the restored file belongs to whom the old one did, with the same rights', async () => {
  await cli.token();
  await cli.ok(['backup', file]);
  chmodSync(cli.database, 0o640);
  await cli.ok(['restore', file]);
  expect(statSync(cli.database).mode & 0o777).toBe(0o640);
});

test('where the database is a link, what it leads to is replaced', async () => {
  const link = join(cli.folder, 'link.db');
  await cli.token();
  symlinkSync(cli.database, link);
  await cli.ok(['backup', file]);
  const { epoch } = look(cli.database);
  await cli.ok(['restore', file], { env: { BELFRY_DATABASE_URL: `sqlite:${link}` } });
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(look(cli.database).epoch).not.toBe(epoch);
});

test('a restore that is killed at any moment leaves the old database or the new one, whole', async () => {
  await cli.token();
  await cli.ok(['backup', file]);
  await cli.ok(['tenant', 'create', 'later']);
  const began = performance.now();
  await cli.ok(['restore', file]);
  const usualMs = performance.now() - began;
  for (const share of [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]) {
    const restoring = cli.start(['restore', file]);
    await sleep(usualMs * share);
    restoring.child.kill('SIGKILL');
    await restoring.ended;
    expect(look(cli.database).tenants).toEqual(['default']);
  }
  await cli.ok(['restore', file]);
  expect(readdirSync(cli.folder).filter((name) => name.includes('restoring'))).toEqual([]);
});
