import { describe, expect, test } from 'vitest';
import { draft, HistoryModel, routeTo } from '../../../test/support/history-model.ts';
import { context } from '../../../test/support/search-context.ts';
import type { NotificationDraft } from '../../core/ports.ts';
import { parseQuery } from '../../core/search/search.ts';
import { indexSlice, markSeen, type Slice, unindex } from './indexer.ts';
import { searchPage } from './search/search.ts';

function filled(count: number, over: (i: number) => Partial<NotificationDraft> = () => ({})): HistoryModel {
  const model = new HistoryModel();
  model.transaction(() => {
    for (let i = 0; i < count; i++) model.append(draft(over(i)));
  });
  return model;
}

const marks = (model: HistoryModel) =>
  model.db.prepare('SELECT tenant, indexed, head FROM logs ORDER BY tenant').all();
const count = (model: HistoryModel, table: string) =>
  model.db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get();
const tables = ['index_id', 'postings', 'index_text_docsize', 'index_hour'];

/** How many segments each level of the full-text index has, read from its structure record (see fts5_index.c). */
function segmentsByLevel({ db }: HistoryModel): number[] {
  const record = db.prepare<[], Buffer>('SELECT block FROM index_text_data WHERE id = 10').pluck().get();
  if (!record) throw new Error('the full-text index has no structure');
  let at = 4;
  const isNewer = record.readUInt32BE(at) === 0xff000001;
  if (isNewer) at += 4;
  const varint = () => {
    let value = 0;
    for (;;) {
      const byte = record[at++] as number;
      value = value * 128 + (byte & 0x7f);
      if (byte < 0x80) return value;
    }
  };
  const levels = varint();
  varint();
  varint();
  return Array.from({ length: levels }, () => {
    varint();
    const segments = varint();
    for (let i = 0; i < segments * (isNewer ? 8 : 3); i++) varint();
    return segments;
  });
}

describe('a slice', () => {
  test('takes no more than it is asked to, and tells whether there is more', () => {
    const model = filled(10);
    expect(indexSlice(model.db, 4)).toMatchObject({ indexed: 4, behind: true });
    expect(indexSlice(model.db, 4)).toMatchObject({ indexed: 4, behind: true });
    expect(indexSlice(model.db, 4)).toMatchObject({ indexed: 2, behind: false });
    expect(indexSlice(model.db, 4)).toMatchObject({ indexed: 0, behind: false });
    expect(marks(model)).toEqual([{ tenant: 7, indexed: 10, head: 10 }]);
    expect(count(model, 'index_id')).toBe(10);
  });

  test('ends early when texts are long', () => {
    const model = filled(40, () => ({ message: 'word '.repeat(3000) }));
    const { indexed, behind } = indexSlice(model.db, 1000);
    expect(indexed).toBeGreaterThan(2);
    expect(indexed).toBeLessThan(40);
    expect(behind).toBe(true);
  });

  test('of the longest texts merges enough that no level of the full-text index is merged as a whole', () => {
    const words = Array.from({ length: 40_000 }, (_, i) => `w${(i * 7919) % 40_000}`);
    const model = filled(400, (i) => ({ message: words.slice(i * 90, i * 90 + 2_600).join(' ') }));
    let most = 0;
    let slice: Slice;
    do {
      slice = indexSlice(model.db, 4);
      most = Math.max(most, ...segmentsByLevel(model));
    } while (slice.behind);
    expect(most).toBeGreaterThan(15);
    expect(most).toBeLessThan(24);
  });

  test('with nothing to index merges what deletions left behind, and ends', () => {
    const words = Array.from({ length: 20_000 }, (_, i) => `w${(i * 7919) % 20_000}`);
    const model = filled(800, (i) => ({ message: words.slice(i * 20, i * 20 + 400).join(' ') }));
    while (indexSlice(model.db, 100).behind);
    while (indexSlice(model.db, 100).merging);
    model.transaction(() => unindex(model.db, model.tenant, 1, 700));
    const before = count(model, 'index_text_data') ?? 0;
    let slices = 0;
    while (indexSlice(model.db, 100).merging) slices += 1;
    expect(slices).toBeGreaterThan(0);
    expect(slices).toBeLessThan(100);
    expect(count(model, 'index_text_data')).toBeLessThan(before / 2);
  });

  test('owes the next ones the merging it left out', () => {
    const model = filled(300);
    let owedPages = 0;
    for (let i = 0; i < 20; i++) ({ owedPages } = indexSlice(model.db, 10, { merges: false, owedPages }));
    expect(owedPages).toBeGreaterThan(20 * 10);
    expect(segmentsByLevel(model)[0]).toBe(20);
    const { owedPages: less, merged } = indexSlice(model.db, 10, { owedPages });
    expect(merged.pages).toBeGreaterThan(12);
    expect(less).toBeLessThan(owedPages);
    while (indexSlice(model.db, 10).merging);
    expect(Math.max(...segmentsByLevel(model))).toBeLessThan(16);
  });

  describe('of several tenants', () => {
    function behind(...backlogs: readonly number[]): HistoryModel {
      const model = new HistoryModel();
      model.transaction(() => {
        for (const [i, backlog] of backlogs.entries())
          for (let row = 0; row < backlog; row++) model.append(draft(), 7 + i);
      });
      return model;
    }
    const reached = (model: HistoryModel) =>
      model.db.prepare<[], number>('SELECT indexed FROM logs ORDER BY tenant').pluck().all();

    test('gives each its share', () => {
      const model = behind(300, 5, 5);
      expect(indexSlice(model.db, 120)).toMatchObject({ indexed: 50, behind: true });
      expect(reached(model)).toEqual([40, 5, 5]);
    });

    test('takes them in turn where there are too many, with so much of each as is worth its pages', () => {
      const model = behind(100, 40, 5, 40);
      expect(indexSlice(model.db, 64)).toMatchObject({ indexed: 64, behind: true });
      expect(reached(model)).toEqual([32, 32, 0, 0]);
      expect(indexSlice(model.db, 64)).toMatchObject({ indexed: 64, behind: true });
      expect(reached(model)).toEqual([59, 32, 5, 32]);
      expect(indexSlice(model.db, 64)).toMatchObject({ indexed: 48, behind: true });
      expect(reached(model)).toEqual([91, 40, 5, 40]);
    });

    test('lets no long texts of one keep the others from their turn', () => {
      const model = behind(0, 5);
      model.transaction(() => {
        for (let i = 0; i < 100; i++) model.append(draft({ message: 'word '.repeat(3_000) }));
      });
      indexSlice(model.db, 64);
      indexSlice(model.db, 64);
      expect(reached(model)[1]).toBe(5);
    });
  });

  test('passes over positions of clears', () => {
    const model = filled(3);
    model.transaction(() => model.clear(model.known[0]!.id, 2_000_000));
    expect(indexSlice(model.db, 10)).toMatchObject({ indexed: 3, behind: false });
    expect(marks(model)).toEqual([{ tenant: 7, indexed: 4, head: 4 }]);
  });

  test('that fails leaves nothing behind', () => {
    const model = filled(5);
    model.db.exec(
      "CREATE TRIGGER stop BEFORE INSERT ON postings WHEN new.field = 'route' BEGIN SELECT raise(ABORT, 'no'); END",
    );
    expect(() => indexSlice(model.db, 10)).toThrow('no');
    expect(tables.map((table) => count(model, table))).toEqual([0, 0, 0, 0]);
    expect(marks(model)).toEqual([{ tenant: 7, indexed: 0, head: 5 }]);
    model.db.exec('DROP TRIGGER stop');
    expect(indexSlice(model.db, 10)).toMatchObject({ indexed: 5, behind: false });
  });
});

describe('unindexing', () => {
  const varied = (i: number): Partial<NotificationDraft> => ({
    receivedAt: i * 3_600_000,
    host: i % 3 === 0 ? null : `host-${i % 5}`,
    ip: i % 4 === 0 ? null : `10.0.0.${i % 7}`,
    key: i % 2 === 0 ? null : `key-${i}`,
    level: i % 6 === 0 ? 'error' : 'info',
    title: `title ${i}`,
    expiresAt: i % 2 === 0 ? null : i + 10,
    route: i % 5 === 0 ? routeTo({}) : routeTo({ all: true }),
    throttledOn: i % 9 === 0 ? '0199c0de-7000-7000-8000-000000000001' : null,
  });

  test('of everything leaves every index empty, also after panels reported', () => {
    const model = filled(300, varied);
    while (indexSlice(model.db, 50).behind);
    for (const { id } of model.known.slice(0, 20))
      model.transaction(() => model.show(id, { id: 'p', tags: [] }));
    markSeen(model.db, model.tenant, model.known[1]!.position);
    model.transaction(() => unindex(model.db, model.tenant, 1, 120));
    model.transaction(() => unindex(model.db, model.tenant, 121, 300));
    expect(tables.map((table) => count(model, table))).toEqual([0, 0, 0, 0]);
    expect(
      model.db.prepare("SELECT count(*) FROM index_text WHERE index_text MATCH 'title'").pluck().get(),
    ).toBe(0);
  });

  test('of some leaves the others to be found', () => {
    const model = filled(300, varied);
    while (indexSlice(model.db, 50).behind);
    model.transaction(() => {
      unindex(model.db, model.tenant, 1, 150);
      model.db.exec(
        'DELETE FROM notifications WHERE entry & 1099511627775 <= 150; UPDATE logs SET first = 151',
      );
    });
    for (const text of [
      'title',
      'level:error',
      'host:host-1',
      'ip:10.0.0.0/24',
      'is:throttled',
      'key:"key-1*"',
      'is:unseen',
    ]) {
      const query = parseQuery(text, context);
      const expected = model
        .search(query, 0)
        .filter((id) => (model.known.find((known) => known.id === id)?.position ?? 0) > 150);
      const found = searchPage(model.db, model.tenant, query, { limit: 200, now: 0 }).records.map(
        ({ id }) => id,
      );
      expect(found, text).toEqual(expected);
    }
  });

  test('reaches only what is indexed', () => {
    const model = filled(10);
    indexSlice(model.db, 4);
    model.transaction(() => unindex(model.db, model.tenant, 1, 8));
    expect(count(model, 'index_id')).toBe(0);
    expect(indexSlice(model.db, 100)).toMatchObject({ indexed: 6, behind: false });
  });
});
