import fc from 'fast-check';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { draft, HistoryModel, routeTo } from '../../../../test/support/history-model.ts';
import { context } from '../../../../test/support/search-context.ts';
import { AppError } from '../../../core/errors.ts';
import { parseQuery } from '../../../core/search/search.ts';
import type { Query } from '../../../core/search/search-query.ts';
import type { Db } from '../database.ts';
import { indexSlice } from '../indexer.ts';
import { findById, searchPage } from './search.ts';

const now = 2_000_000;
const parse = (text: string) => parseQuery(text, context);
const search = (model: HistoryModel, text: string) =>
  searchPage(model.db, model.tenant, parse(text), { limit: 50, now }).records;

describe('a record', () => {
  const model = new HistoryModel();
  const sent = draft({
    title: 'Disk full',
    host: 'db-01',
    ip: '10.0.0.5',
    level: 'error',
    route: routeTo({ ids: ['p1'] }),
  });
  model.db.exec(`INSERT INTO credentials (tenant, id, kind, name, hash, scopes, allow_from, created_at, created_by)
    VALUES (7, 'tok1', 'token', 'ci', '', '[]', '[]', 0, '')`);
  model.transaction(() => model.append(sent));
  model.transaction(() => model.append(draft({ tokenId: 'gone' })));
  model.transaction(() => {
    model.show(sent.id, { id: 'p1', tags: [] });
    model.clear(sent.id, 1_500_000);
  });

  test('tells all of a notification, who sent it, what became of it', () => {
    const [record] = search(model, 'disk');
    expect(record).toEqual({
      kind: 'notification',
      position: 1,
      ...sent,
      tokenName: 'ci',
      cleared: { at: 1_500_000, by: 'test', reason: 'cleared' },
      receipts: { shown: 1, expired: 0, cleared: 0 },
    });
    expect(findById(model.db, 7, sent.id)).toEqual(record);
  });

  test('of a token that is unknown has its id for a name', () => {
    expect(search(model, '-disk')).toMatchObject([
      { tokenName: 'gone', cleared: null, receipts: { shown: 0 } },
    ]);
  });

  test('is found by its id in its own tenant only, indexed or not', () => {
    for (const step of [() => undefined, () => indexSlice(model.db, 10)]) {
      step();
      expect(findById(model.db, 7, sent.id)?.position).toBe(1);
      for (const [tenant, id] of [
        [8, sent.id],
        [7, draft().id],
        [7, 'x'],
        [7, ''],
      ] as const)
        expect(findById(model.db, tenant, id)).toBeUndefined();
    }
  });
});

describe('a page', () => {
  const model = new HistoryModel();
  model.transaction(() => {
    for (let i = 1; i <= 30; i++) model.append(draft({ title: i % 2 === 0 ? 'even' : 'odd' }));
  });

  test('has the newest first, and tells where the next begins', () => {
    const even = parse('even');
    const first = searchPage(model.db, 7, even, { limit: 10, now });
    expect(first.records.map(({ position }) => position)).toEqual([30, 28, 26, 24, 22, 20, 18, 16, 14, 12]);
    expect(first).toMatchObject({ next: 12, head: 30 });
    const second = searchPage(model.db, 7, even, { limit: 10, now, before: 12 });
    expect(second.records.map(({ position }) => position)).toEqual([10, 8, 6, 4, 2]);
    expect(second.next).toBeNull();
    expect(searchPage(model.db, 7, even, { limit: 5, now, before: 12 })).toMatchObject({ next: null });
  });

  test('can be of what is newer than a position', () => {
    const page = searchPage(model.db, 7, parse(''), { limit: 10, now, after: 27 });
    expect(page).toMatchObject({
      records: [{ position: 30 }, { position: 29 }, { position: 28 }],
      next: null,
    });
    expect(searchPage(model.db, 7, parse(''), { limit: 10, now, after: 30 }).records).toEqual([]);
  });

  test('of a tenant without a log is empty', () => {
    expect(searchPage(model.db, 99, parse(''), { limit: 10, now })).toEqual({
      records: [],
      next: null,
      searchedTo: null,
      head: 0,
    });
  });

  test('has what the transaction before it stored', () => {
    indexSlice(model.db, 100);
    model.transaction(() => model.append(draft({ title: 'brand new' })));
    expect(search(model, '"brand new"')).toMatchObject([{ position: 31 }]);
  });
});

test('10,000 hostile searches find something, nothing, or fault the search', () => {
  const model = new HistoryModel();
  const other = 8;
  model.transaction(() => {
    for (let i = 0; i < 50; i++) {
      model.append(draft({ title: `mine ${i}`, host: `h${i}`, key: `k${i}`, ip: `10.0.0.${i}` }));
      model.append(draft({ title: `theirs ${i}`, host: `h${i}`, key: `k${i}`, ip: `10.0.0.${i}` }), other);
    }
  });
  indexSlice(model.db, 60);
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom(
      ...[
        "'",
        '"',
        '""',
        '\\',
        ';--',
        "' OR 1=1 --",
        '"; DROP TABLE notifications; --',
        'NEAR(a b, 5)',
        'title:',
        '{title message}:',
        '^',
        '+',
        '*',
        'a*',
        'AND',
        'OR',
        'NOT',
        '(',
        ')',
        '-',
        ':',
        ',',
      ],
      ...[
        '\0',
        '\ud800',
        '\udfff',
        '\u202e',
        '\u200f',
        '\ufeff',
        '\u0301',
        '%',
        '_',
        '[',
        ']',
        '[a-',
        '?',
        '??*',
        'host:',
        'host:[',
        'key:*',
        'ip:',
        'ip:::/0',
        'is:live',
        'level:>=',
        'since:1h',
        'before:2026-01-01',
        '💥',
        'ﷺ',
      ],
      ...[
        'mine',
        'theirs',
        'host:h*',
        'text_matches(0,1,2)',
        'x'.repeat(300),
        '*'.repeat(50),
        '('.repeat(25),
        'a '.repeat(120),
      ],
    ),
  );
  let found = 0;
  fc.assert(
    fc.property(
      fc
        .array(piece, { minLength: 1, maxLength: 12 })
        .map((pieces) => pieces.join(pieces.length % 2 === 0 ? ' ' : '')),
      (text) => {
        try {
          for (const { title } of search(model, text)) {
            expect(title).toMatch(/^mine/);
            found += 1;
          }
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'bad-request') throw error;
        }
      },
    ),
    { numRuns: 10_000 },
  );
  expect(found).toBeGreaterThan(1000);
}, 120_000);

describe('the plan', () => {
  const model = new HistoryModel();

  beforeAll(() => {
    model.transaction(() => {
      for (let i = 0; i < 3_000; i++) {
        model.append(
          draft({
            receivedAt: i * 60_000,
            title: i % 100 === 0 ? 'rare' : 'common',
            host: `host-${i % 200}`,
            ip: `10.0.${i % 4}.${i % 200}`,
            key: `key-${i % 700}`,
            level: i % 300 === 0 ? 'critical' : 'info',
            expiresAt: i * 60_000 + 1000,
          }),
        );
      }
    });
    while (indexSlice(model.db, 10_000).behind);
  }, 60_000);

  /** The plans of all statements of a search. They do not depend on what is bound. */
  function plansOf(db: Db, query: Query): string[] {
    const spy = vi.spyOn(db, 'prepare');
    searchPage(db, model.tenant, query, { limit: 50, now });
    const texts = spy.mock.calls.map(([text]) => text);
    spy.mockRestore();
    return texts.flatMap((text) => {
      const bound = text.includes('@')
        ? [{ tenant: 1, list: '[1]' }]
        : Array(text.split('?').length - 1).fill(1);
      const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(...bound);
      return plan.map(({ detail }) => detail);
    });
  }

  test.each([
    'rare',
    'host:host-7',
    'host:host-1*',
    'ip:10.0.1.0/24',
    'key:key-7',
    'level:critical',
    'is:throttled',
    'is:cleared',
    'rare is:unseen',
    'rare -host:host-0',
    '(host:host-3 OR rare) level:info',
    'after:1970-01-05 before:1970-01-06',
  ])('of %s reads no table as a whole', (text) => {
    const plans = plansOf(model.db, parse(text));
    expect(plans.length).toBeGreaterThan(3);
    const tables =
      /^SCAN (n|r|k|c|notifications|postings|index_id|index_hour|receipts|clears|minutes|credentials)\b/;
    expect(plans.filter((detail) => tables.test(detail))).toEqual([]);
  });
});
