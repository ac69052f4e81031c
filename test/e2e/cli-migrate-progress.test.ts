/** `belfry migrate` from SQLite to SQLite: the progress that it shows, the files that it makes, and how it goes on after an interruption. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, test } from 'vitest';
import { run } from '#cli/run.ts';
import type { OpenedStorage } from '#server/app.ts';
import { openSqliteTransfer } from '#storage/sqlite/transfer.ts';
import { Cli } from '../support/cli.ts';
import { FakeIo } from '../support/fake-io.ts';
import { onStorage } from '../support/storage.ts';
import { append } from './history-seed.ts';

const cli = new Cli();
afterEach(() => cli.remove());

test('on a terminal, the progress is one bar that is drawn over itself; elsewhere a line for each tenth', async () => {
  await onStorage(cli.folder, async ({ storage, directory }) => {
    const tenant = (await directory.tenants.findByName('default'))?.id ?? 0;
    await append(storage.history, tenant, 2_500);
  });
  const copyTo = async (name: string, terminal?: { columns: number; rows: number }) => {
    const io = new FakeIo({ ...(terminal && { terminal }) });
    const [from, to] = [cli.database, join(cli.folder, name)].map((path) => `sqlite:${path}`) as [
      string,
      string,
    ];
    expect(await run(['migrate', from, to], io), io.err).toBe(0);
    return io.out;
  };
  const drawn = (await copyTo('a.db', { columns: 80, rows: 24 })).split('\r');
  expect(drawn.at(-1)).toMatch(
    /^checking {2}\[#{30}\] 100 % of 2,500 entries\ntenants +1 {2}[0-9a-f]{32}\n(\w+ +[\d,]+ {2}[0-9a-f]{32}\n)*log +2,500 {2}[0-9a-f]{32}\ncopied and compared: 1 tenant, 2,500 entries of history/,
  );
  const bars = drawn.filter((text) => text.startsWith('copying'));
  expect(bars.at(-1)).toBe(`copying   [${'#'.repeat(30)}] 100 % of 2,500 entries`);
  for (const bar of bars) {
    const [, filled = '', percent] = /\[(#*)\.*\] +(\d+) %/.exec(bar) ?? [];
    expect(filled).toHaveLength(Math.round((30 * Number(percent)) / 100));
    expect(bar).not.toContain('\n');
  }
  const linesOf = (step: string, shares: readonly number[]) =>
    shares.map((share) => `${step}: ${share} % of 2,500 entries`);
  const lines = (await copyTo('b.db')).split('\n');
  const progress = [...linesOf('copying', [0, 40, 80, 100]), ...linesOf('checking', [40, 80, 100])];
  expect(lines.slice(0, progress.length)).toEqual(progress);
  expect(lines.slice(progress.length)).toEqual(drawn.at(-1)?.split('\n').slice(1));
});

test('what root makes in the folder of another user is that user’s, also the key, which only that user can read', async () => {
  await cli.token();
  await cli.ok(['export']);
  chmodSync(`${cli.database}.key`, 0o644);
  const folder = join(cli.folder, 'data');
  mkdirSync(folder);
  if (process.getuid?.() === 0) chownSync(folder, 12_345, 12_346);
  const { uid, gid } = statSync(folder);
  await cli.ok(['migrate', `sqlite:${cli.database}`, `sqlite:${join(folder, 'deep', 'belfry.db')}`]);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  expect(names).toEqual(['deep', 'deep/belfry.db', 'deep/belfry.db-lock', 'deep/belfry.db.key']);
  for (const name of names) expect(statSync(join(folder, name)), name).toMatchObject({ uid, gid });
  const key = join(folder, 'deep/belfry.db.key');
  expect(statSync(key).mode & 0o777).toBe(0o600);
  expect(readFileSync(key, 'utf8')).toBe(readFileSync(`${cli.database}.key`, 'utf8'));
});

/** Makes a target in which a step of the copy fails, as if the copy were killed there. Returns how to repair it. */
async function breakAt(path: string, step: keyof typeof steps): Promise<() => void> {
  await (await openSqliteTransfer(path, 'target')).close();
  const change = (statement: string) => new Database(path).exec(statement).close();
  change(`CREATE TRIGGER stop BEFORE ${steps[step]} BEGIN SELECT RAISE(ABORT, 'stopped'); END`);
  return () => change('DROP TRIGGER stop');
}

const steps = {
  'storing the key': "INSERT ON meta WHEN new.name = 'key'",
  'removing the mark': "DELETE ON meta WHEN old.name = 'transfer'",
};

const interrupted = {
  code: 1,
  stderr: expect.stringContaining('the copy into this database was interrupted'),
};

test('a copy that ends before the target has the key makes no server start and no new key, and goes on with the key of the source', async () => {
  await cli.token();
  await cli.ok(['export']);
  const source = `sqlite:${cli.database}`;
  for (const step of ['storing the key', 'writing its file'] as const) {
    const path = join(cli.folder, step);
    const [target, keyFile, blocked] = [`sqlite:${path}`, `${path}.key`, `${path}.key.new`];
    const isFile = step === 'writing its file';
    if (isFile) mkdirSync(blocked);
    const repair = isFile ? () => rmSync(blocked, { recursive: true }) : await breakAt(path, step);
    expect((await cli.run(['migrate', source, target])).code, step).toBe(1);
    // This command makes a key as a server does.
    expect(await cli.run(['export'], { env: { BELFRY_DATABASE_URL: target } }), step).toMatchObject(
      interrupted,
    );
    expect(existsSync(keyFile), step).toBe(false);
    repair();
    await cli.ok(['migrate', source, target]);
    expect(readFileSync(keyFile, 'utf8'), step).toBe(readFileSync(`${cli.database}.key`, 'utf8'));
  }
});

test('an unfinished copy is no source, because its copy would count as complete', async () => {
  await cli.token();
  const half = join(cli.folder, 'half');
  await breakAt(half, 'removing the mark');
  expect((await cli.run(['migrate', `sqlite:${cli.database}`, `sqlite:${half}`])).code).toBe(1);
  const further = join(cli.folder, 'further');
  expect(await cli.run(['migrate', `sqlite:${half}`, `sqlite:${further}`])).toMatchObject(interrupted);
  expect(existsSync(further)).toBe(false);
});

test('a copy does not go on after the source has changed, and says so before it copies', async () => {
  const change = (work: (history: OpenedStorage['storage']['history'], tenant: number) => Promise<unknown>) =>
    onStorage(cli.folder, async ({ storage, directory }) =>
      work(storage.history, (await directory.tenants.findByName('default'))?.id ?? 0),
    );
  await change((history, tenant) => append(history, tenant, 20));
  const migrate = (name: string) =>
    cli.run(['migrate', `sqlite:${cli.database}`, `sqlite:${join(cli.folder, name)}`]);
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    'new entries': () => change((history, tenant) => append(history, tenant, 1)),
    'dropped by retention': () =>
      change((history, tenant) => history.prune(tenant, { olderThan: null, keep: 10 }, Date.now())),
  };
  for (const [name, work] of Object.entries(changes)) {
    await breakAt(join(cli.folder, name), 'removing the mark');
    expect((await migrate(name)).code, name).toBe(1);
    await work();
    expect(await migrate(name), name).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(
        'the source has changed since this copy began: keep its server stopped, and start again with a new, empty target',
      ),
    });
  }
});
