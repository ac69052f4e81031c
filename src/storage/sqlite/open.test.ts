import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { labelsOf } from '#contract/history/labels.ts';
import type { Query } from '#core/search/search-query.ts';
import { damagePage } from '#test/support/damage-page.ts';
import { draft, wholeDraft } from '#test/support/notification-draft.ts';
import { limitMs } from '#test/support/patience.ts';
import type { Storage } from '../database/storage.ts';
import { openSqlite } from './open.ts';

let folder: string;
let storage: Storage;
let reported: (string | undefined)[];
const open = () =>
  openSqlite({
    path: join(folder, 'belfry.db'),
    queueCapacity: 100,
    minFreeBytes: 0,
    onProblem: (message) => reported.push(message),
  });
beforeEach(() => {
  reported = [];
  folder = mkdtempSync(join(tmpdir(), 'belfry-open-'));
  storage = open();
});
afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

const write = (text: string) => storage.db.write([sql.raw(text)]);
const read = (text: string) => storage.db.read(sql.raw(text));
/** Keeps a thread inside SQLite for some seconds. */
const long =
  'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000000) SELECT count(*) AS n FROM c';

it('a reserve that is switched off is not left on the disk', async () => {
  await storage.close();
  const reserve = join(folder, 'belfry.db-reserve');
  writeFileSync(reserve, 'x'.repeat(1_000));
  storage = open();
  expect(existsSync(reserve)).toBe(false);
});

/** Undoes all later migrations. */
function asFirstVersion() {
  const older = new Database(join(folder, 'belfry.db'));
  older.exec(`ALTER TABLE log_1_0 DROP COLUMN url; ALTER TABLE log_1_0 DROP COLUMN host;
    ALTER TABLE log_1_0 DROP COLUMN labels; ALTER TABLE receipts_1 DROP COLUMN in_group;
    DROP INDEX live_returns; DROP TABLE alarm_entries; ALTER TABLE acknowledgements DROP COLUMN until;
    ALTER TABLE levels DROP COLUMN acknowledge_for_ms; DROP TABLE alarm_causes;
    ALTER TABLE saved_searches DROP COLUMN alarms;
    ALTER TABLE deliveries DROP COLUMN event; ALTER TABLE deliveries DROP COLUMN reference;
    DROP INDEX panels_topics; ALTER TABLE panels DROP COLUMN kind; ALTER TABLE panels DROP COLUMN topic;
    DROP TABLE on_call; ALTER TABLE push_devices DROP COLUMN person;
    DROP INDEX live_steps; DROP INDEX live_suppressed; DROP INDEX live_follows; PRAGMA user_version = 1`);
  for (const column of [
    ...['since', 'earlier', 'highest_level', 'highest_rank', 'shelved', 'returns_at'],
    ...['escalation', 'step', 'step_at', 'next_step_at', 'owner', 'follows', 'suppressed'],
  ])
    older.exec(`ALTER TABLE live DROP COLUMN ${column}`);
  return older;
}

it('adds the columns of new fields to the partitions of an older version', async () => {
  const tenant = 1;
  const [before, after] = [wholeDraft({ receivedAt: 1_000 }), wholeDraft({ receivedAt: 2_000 })];
  await storage.history.append(tenant, before, null);
  await storage.close();
  const older = asFirstVersion();
  older.exec(
    "INSERT INTO push_devices VALUES (1, 'c', 'd', 'Pixel', 'sealed', 1, 'ann', 2, 3, NULL, NULL, NULL)",
  );
  older.close();
  storage = open();
  expect(await read('SELECT name, person FROM push_devices')).toEqual([{ name: 'Pixel', person: null }]);
  await storage.history.append(tenant, after, null);
  expect((await storage.history.readAfter(tenant, 0, 10)).entries).toMatchObject([
    { ...before, url: null, host: null, labels: null },
    after,
  ]);
  const receipt = { id: before.id, state: 'shown', at: 2_000, inGroup: true } as const;
  await storage.history.record(tenant, { id: 'p', tags: ['noc'] }, [receipt]);
  expect((await storage.history.of(tenant, [before.id])).get(before.id)).toMatchObject([{ inGroup: true }]);
  const query = { kind: 'label', patterns: ['env=prod'] } as const;
  const found = async (wanted: Query) => {
    const { records } = await storage.history.search(tenant, wanted, { limit: 9, now: 3_000 });
    return records.map(({ id }) => id);
  };
  expect(await found(query)).toEqual([after.id]);
  expect(await found({ kind: 'not', term: query })).toEqual([before.id]);
  const all = { limit: 9, now: 3_000, form: 'ndjson' } as const;
  const exported = (await storage.history.search(tenant, { kind: 'all' }, all)).records;
  expect(exported.map((line) => JSON.parse(line).labels)).toEqual([labelsOf(after.labels), {}]);
});

it('goes on with escalations of an older version', async () => {
  const keys = ['open', 'acknowledged', 'over'] as const;
  const alarms = keys.map((key) => draft({ receivedAt: 1_000, key, rank: 40 }));
  for (const each of alarms) await storage.history.append(1, each, null);
  const ids = alarms.map(({ id }) => id) as [string, string, string];
  await storage.history.act(1, [ids[1]], { kind: 'acknowledge', at: 1_000, by: 'Ada', note: null });
  await storage.close();
  const older = asFirstVersion();
  const rule = { id: 'r', name: "on 'call'" };
  const steps = [{ afterMs: 2_000 }, { afterMs: 1, panels: { tags: ['noc'] } }];
  const insert = older.prepare("INSERT INTO due_times VALUES (1, 'escalation', ?, 3000, 'v', ?)");
  for (const [i, over] of [{ step: 0 }, { step: 1, isHandled: true }, { step: 2 }].entries())
    insert.run(`key ${keys[i]}`, JSON.stringify({ id: ids[i], steps, rule, since: 1_000, ...over }));
  older.close();
  storage = open();
  const escalation = async (id: string) => (await storage.history.find(1, id))?.alarm?.escalation;
  expect(await escalation(ids[0])).toEqual({ rule, steps, step: 0, nextAt: 3_000 });
  expect(await escalation(ids[1])).toEqual({ rule, steps, step: 1, nextAt: null });
  expect(await escalation(ids[2])).toEqual({ rule, steps, step: 2, nextAt: null });
  await storage.history.act(1, ids, { kind: 'unacknowledge', at: 2_000, by: 'Ada' });
  expect(await storage.history.dueSteps(3_000, 9)).toEqual([
    { tenant: 1, id: ids[1], step: 1 },
    { tenant: 1, id: ids[0], step: 0 },
  ]);
  expect(await read('SELECT * FROM due_times')).toEqual([]);
});

it('moves pages from the write-ahead log into the database file between commits', async () => {
  const other = new Database(join(folder, 'belfry.db'), { readonly: true });
  const pagesLeft = () => {
    const [wal] = other.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }];
    return wal.log - wal.checkpointed;
  };
  await write('CREATE TABLE many (n)');
  let most = 0;
  for (let i = 0; i < 80; i++) {
    // Some 30 pages.
    await write(`INSERT INTO many
      WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100) SELECT zeroblob(1000) FROM c`);
    most = Math.max(most, pagesLeft());
  }
  // SQLite itself would begin at 2,000; the last write may not be looked at yet.
  expect(most).toBeGreaterThan(500);
  expect(most).toBeLessThan(1_400);
  other.close();
});

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
    expect(performance.now() - began).toBeLessThan(limitMs(1_500));
    expect(await reading).toBe('storage is closed');
  });
});

/** Overwrites the first page of a table or an index, as a bad block does. */
async function damage(name: string): Promise<void> {
  const [{ page } = { page: 0 }] = (await read(
    `SELECT rootpage AS page FROM sqlite_schema WHERE name = '${name}'`,
  )) as { page: number }[];
  await storage.close();
  damagePage(join(folder, 'belfry.db'), page);
  storage = open();
}

describe('a database file with a damaged page', () => {
  it('is named in one log line with the way out, refuses what meets it, and is not ready', async () => {
    await damage('pairings');
    expect(storage.problem()).toBeUndefined();
    for (let i = 0; i < 2; i++)
      await expect(read('SELECT * FROM pairings')).rejects.toMatchObject({
        code: 'unavailable',
        message: 'the database file is damaged: the server log says more',
      });
    expect(reported).toEqual([
      expect.stringMatching(
        /is damaged \(SQLITE_CORRUPT: .* met by SELECT \* FROM pairings\): stop the server.*belfry restore FILE$/,
      ),
    ]);
    expect(storage.problem()).toBe('the database file is damaged: the server log says more');
  });

  it('refuses what writes to that page, and takes everything else', async () => {
    await damage('pairings');
    const [refused, taken] = await Promise.allSettled([
      write('DELETE FROM pairings'),
      write("INSERT INTO meta (name, value) VALUES ('kept', 7)"),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    expect(taken).toMatchObject({ status: 'fulfilled' });
    expect(reported).toEqual([expect.stringContaining('met by writing (sql)')]);
  });
});

describe('a writing thread that dies', () => {
  it('is reported, and what waited for it is refused', async () => {
    await storage.close();
    storage = open();
    // The thread opens the file when it has started.
    rmSync(folder, { recursive: true });
    await expect(write('DELETE FROM meta')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await storage.failed).toMatchObject({ message: expect.stringContaining('annot open database') });
    expect(storage.problem()).toBe('the writer thread ended');
  });
});
