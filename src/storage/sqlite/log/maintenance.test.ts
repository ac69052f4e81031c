import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { Query } from '#core/search/search-query.ts';
import { draft, HistoryModel } from '#test/support/history-model.ts';
import { searchPage } from '../search/search.ts';

/** The copy that is being made is of this partition. */
const log = 'log_1_1';
const terms = 'terms_1_1';

/** Of the first partition 15 of 40 are kept; so many of them are copied to its next generation. */
function beginCopy(copied: number): HistoryModel {
  const model = new HistoryModel({ sizes: { partitionRows: 40, indexBatchRows: 7 } });
  model.transaction(() => {
    for (let i = 1; i <= 110; i++) model.append(draft({ title: `n${i}`, host: `host${i}` }));
  });
  model.prune(25, 1);
  const count = () =>
    model.db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(log) === undefined
      ? -1
      : (model.db.prepare(`SELECT count(*) FROM ${log}`).pluck().get() as number);
  // As for a purge, no dead row is tolerated.
  while (count() < copied) model.maintain(1, 0);
  return model;
}

async function expectAllKept(model: HistoryModel): Promise<void> {
  model.sql.forget();
  const find = async (query: Query) => {
    const asked = { tenant: model.tenant, query, options: { limit: 1000, now: 1 } };
    return (await searchPage(model, asked)).records.map(({ title }) => title);
  };
  const titles = model.known.map(({ title }) => title).reverse();
  expect(await find({ kind: 'all' })).toEqual(titles);
  expect(await find({ kind: 'host', patterns: ['host3*'] })).toEqual(
    titles.filter((title) => title.startsWith('n3')),
  );
  expect(model.db.prepare('SELECT count(*) FROM retired_partitions').pluck().get()).toBe(0);
  expect(model.db.prepare('SELECT generation FROM partitions WHERE id = 1').pluck().get()).toBe(1);
  expect(model.db.pragma('integrity_check', { simple: true })).toBe('ok');
}

it('while a partition is dropped step by step, the file is whole at each step, as a backup of it must be', () => {
  const model = new HistoryModel({ sizes: { partitionRows: 600, indexBatchRows: 50 } });
  for (let i = 1; i <= 650; i++)
    model.transaction(() => model.append(draft({ title: `n${i}`, host: `host${i}`, key: `key${i}` })));
  model.prune(610, 1);
  const pages = () => model.db.prepare('SELECT count(*) FROM terms_1_0_data').pluck().get() as number;
  const isThere = () =>
    model.db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'terms_1_0'").get() !== undefined;
  const seen = new Set<number>();
  for (let i = 0; i < 10_000 && isThere(); i++) {
    seen.add(pages());
    // By another connection, as this one remembers segments.
    const copy = new Database(model.db.serialize());
    expect(copy.pragma('integrity_check(1)', { simple: true })).toBe('ok');
    copy.close();
    model.maintain(1);
  }
  expect(isThere()).toBe(false);
  expect(seen.size).toBeGreaterThan(5);
  model.db.close();
});

it('a partition that nobody keeps any more is dropped, however few entries were the last', () => {
  const model = new HistoryModel({ sizes: { partitionRows: 160, indexBatchRows: 40 } });
  for (const count of [160, 20])
    model.transaction(() => {
      for (let i = 0; i < count; i++) model.append(draft());
    });
  const isThere = () => model.db.prepare('SELECT 1 FROM partitions WHERE id = 1').pluck().get() !== undefined;
  model.prune(155, 1);
  model.maintain();
  expect(isThere()).toBe(true);
  model.prune(162, 2);
  model.maintain();
  expect(isThere()).toBe(false);
  model.db.close();
});

it('what a busy tenant no longer keeps leaves the file, also when a quiet tenant keeps a row of each partition', () => {
  const partitionRows = 40;
  const model = new HistoryModel({ sizes: { partitionRows, indexBatchRows: 20 } });
  const kept = 100;
  const quiet = 12;
  for (let i = 0; i < quiet; i++) {
    model.transaction(() => {
      model.append(draft(), 8);
      for (let j = 1; j < partitionRows; j++) model.append(draft({ expiresAt: 1 }));
    });
    model.prune(Math.max(0, (i + 1) * (partitionRows - 1) - kept), 2);
    model.maintain();
  }
  const tables = model.db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'log_*'")
    .pluck()
    .all();
  const stored = tables.map(
    (table) => model.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number,
  );
  expect(stored.filter((rows) => rows > 0).length).toBe(quiet);
  // So many dead rows may stay: those of one partition.
  expect(stored.reduce((sum, rows) => sum + rows, 0)).toBeLessThanOrEqual(kept + quiet + partitionRows);
  model.db.close();
});

it('no step of dropping a partition frees many pages, as each of them may have to be read from the disk', () => {
  const model = new HistoryModel({ sizes: { partitionRows: 9_000, indexBatchRows: 250 } });
  for (let i = 0; i < 9_100; i += 100)
    model.transaction(() => {
      for (let j = 1; j <= 100; j++) model.append(draft({ title: `n${i + j}`, host: `host${j}` }));
    });
  model.prune(9_050, 1);
  const free = () => model.db.pragma('freelist_count', { simple: true }) as number;
  const retired = model.db.prepare('SELECT count(*) FROM retired_partitions').pluck();
  let most = 0;
  while (retired.get() === 0) model.maintain(1);
  while (retired.get() === 1) {
    const before = free();
    model.maintain(1);
    most = Math.max(most, free() - before);
  }
  expect(model.db.prepare("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'log_1_%'").pluck().get()).toBe(
    0,
  );
  expect(free()).toBeGreaterThan(300);
  expect(most).toBeLessThan(8);
  model.db.close();
});

it('of two partitions, the one is rewritten of which the smaller share is kept, so that less is copied', () => {
  const model = new HistoryModel({ sizes: { partitionRows: 40, indexBatchRows: 20 } });
  for (const tenant of [7, 8, 7])
    model.transaction(() => {
      for (let i = 0; i < 40; i++) model.append(draft({ expiresAt: 1 }), tenant);
    });
  const generations = () =>
    model.db.prepare('SELECT id, generation FROM partitions WHERE generation > 0').raw().all();
  model.prune(20, 2);
  model.maintain(undefined, 0);
  expect(generations()).toEqual([[1, 1]]);
  // Now 14 of 20 rows of the first partition are dead, and 16 of 40 of the second one.
  model.db.exec('UPDATE logs SET first = 17 WHERE tenant = 8');
  model.prune(34, 2);
  const before = generations();
  while (String(generations()) === String(before)) model.maintain(1, 0);
  expect(generations()).toEqual([[1, 2]]);
  model.db.close();
});

it('a step of a copy deletes the states of at most a thousand rows', () => {
  const model = new HistoryModel({ sizes: { partitionRows: 5_000, indexBatchRows: 250 } });
  model.transaction(() => {
    for (let i = 0; i < 5_000; i++) model.append(draft({ expiresAt: 1 }));
  });
  model.maintain();
  model.db.exec('INSERT INTO state_1 (row, cleared_at) SELECT row, 1 FROM log_1_0');
  model.prune(4_500, 2);
  const states = model.db.prepare('SELECT count(*) FROM state_1').pluck();
  let most = 0;
  for (let before = 5_000; before > 500; ) {
    model.maintain(1, 0);
    const after = states.get() as number;
    most = Math.max(most, before - after);
    before = after;
  }
  expect(most).toBeLessThanOrEqual(1_000);
  model.db.close();
});

describe('while a partition is copied', () => {
  const piecesOf = ({ db }: HistoryModel, table: string) =>
    db.prepare(`SELECT count(DISTINCT segid) FROM ${table}_idx`).pluck().get() as number;

  it('its new index is merged, so it never has many pieces', () => {
    const model = new HistoryModel({ sizes: { partitionRows: 400, indexBatchRows: 250 } });
    model.transaction(() => {
      for (let i = 0; i < 400; i++) model.append(draft({ expiresAt: 1 }));
    });
    model.maintain();
    model.prune(100, 2);
    const copies = model.db.prepare('SELECT count(*) FROM retired_partitions WHERE last_row = 0').pluck();
    let most = 0;
    for (model.maintain(1, 0); copies.get() === 1; model.maintain(1, 0))
      most = Math.max(most, piecesOf(model, terms));
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(25);
    model.db.close();
  });

  it('the index of the newest partition is merged as well', () => {
    const model = new HistoryModel({ sizes: { partitionRows: 400, indexBatchRows: 4 } });
    model.transaction(() => {
      for (let i = 0; i < 400; i++) model.append(draft());
    });
    model.maintain();
    model.prune(100, 1);
    for (let i = 0; i < 50; i++) {
      model.maintain(1, 0);
      model.transaction(() => {
        for (let j = 0; j < 4; j++) model.append(draft());
      });
    }
    expect(model.db.prepare('SELECT count(*) FROM retired_partitions').pluck().get()).toBe(1);
    expect(piecesOf(model, 'terms_2_0')).toBeLessThan(20);
    model.db.close();
  });
});

describe('a copy of a partition that is not finished', () => {
  it('is gone on with after a restart', async () => {
    const model = beginCopy(6);
    model.restart();
    model.maintain(1, 0);
    expect(model.db.prepare(`SELECT count(*) FROM ${log}`).pluck().get()).toBeGreaterThan(6);
    model.maintain(undefined, 0);
    await expectAllKept(model);
    model.db.close();
  });

  it('gets the columns of new fields, as the partition does', async () => {
    const model = beginCopy(6);
    model.sql.forget();
    model.db.exec(`ALTER TABLE log_1_0 DROP COLUMN url; ALTER TABLE ${log} DROP COLUMN url`);
    model.restart();
    model.maintain(undefined, 0);
    await expectAllKept(model);
    model.db.close();
  });
});
