import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joined, one, type TermExpression } from '#core/search/index-terms.ts';
import type { RowSet } from '../../search/row-set.ts';
import { isDamage } from '../file/database-file.ts';
import { createPartition, mergedSegments, readNewest, Statements, tablesOf } from '../log/partitions.ts';
import { FtsIndex } from './fts-index.ts';

const tenant = 7;
const firstRow = 1_000_003;

/** An index with the terms of each row, in as many segments as there are lists of rows; some are half merged. */
function indexOf(commits: readonly (readonly (readonly string[])[])[], merges: readonly number[]) {
  const db = new Database(':memory:');
  db.exec(`
    CREATE TABLE partitions (id, generation, first_row, last_row, indexed, first_minute, last_minute, sealed, position_step);
    CREATE TABLE partition_tenants (tenant, partition);
    INSERT INTO partition_tenants VALUES (${tenant}, 1), (8, 1)`);
  createPartition(db, 1, firstRow);
  const sql = new Statements(db);
  const { terms } = tablesOf({ id: 1, generation: 0 });
  let row = firstRow;
  for (const commit of commits)
    db.transaction(() => {
      for (const words of commit)
        sql.of(`INSERT INTO ${terms} (rowid, terms) VALUES (?, ?)`).run(row++, words.join(' '));
    })();
  for (const pages of merges)
    sql.of(`INSERT INTO ${terms} (${terms}, rank) VALUES ('merge', ?)`).run(BigInt(pages));
  sql.of('UPDATE partitions SET indexed = ?').run(row - 1);
  return {
    sql,
    terms,
    index: new FtsIndex(sql, readNewest(sql), { tenant }),
    range: { low: firstRow, high: row - 1 },
  };
}

const matchOf = (given: TermExpression): string => {
  if (given.kind === 'term') return `"${given.term}"${given.prefix ? ' *' : ''}`;
  if (given.kind === 'without') return `(${matchOf(given.of)} NOT ${matchOf(given.not)})`;
  return `(${given.of.map(matchOf).join(given.kind === 'and' ? ' AND ' : ' OR ')})`;
};

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '7.', '💥'), minLength: 1, maxLength: 4 });
const { expression } = fc.letrec<{ expression: TermExpression }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ kind: fc.constant('term' as const), term: word, prefix: fc.boolean() }),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      of: fc.array(tie('expression'), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('without' as const), of: tie('expression'), not: tie('expression') }),
  ),
}));

function expectSame({ sql, terms, index, range }: ReturnType<typeof indexOf>, asked: TermExpression): number {
  const rows = sql
    .of<[string], { rowid: number }>(`SELECT rowid FROM ${terms} WHERE ${terms} MATCH ? ORDER BY rowid`)
    .all(matchOf(asked))
    .map(({ rowid }) => rowid);
  const found = index.find(asked);
  if (!found) throw new Error('a term is not read');
  expect(found.last(Number.POSITIVE_INFINITY, range), matchOf(asked)).toEqual(rows);
  const { low, high } = { low: range.low + 33, high: range.high - 31 };
  const within = rows.filter((row) => row >= low && row <= high);
  expect(found.last(40, { low, high })).toEqual(within.slice(-40));
  return rows.length;
}

test('finds the rows that FTS5 finds, in any number of segments', () => {
  const commits = fc.array(fc.array(fc.array(word, { maxLength: 6 }), { maxLength: 20 }), { maxLength: 6 });
  const merges = fc.array(fc.constantFrom(1, -1, -1000), { maxLength: 2 });
  fc.assert(
    fc.property(
      commits,
      merges,
      fc.array(expression, { minLength: 20, maxLength: 20 }),
      (given, pages, asked) => {
        const made = indexOf(given, pages);
        for (const each of asked) expectSame(made, each);
        made.sql.db.close();
      },
    ),
    { numRuns: 60 },
  );
});

test('finds the rows of terms that go over many pages, at any state of a merge', () => {
  const rows = 12_000;
  const wordsOf = (n: number) =>
    [
      '7.all',
      `n${n}`,
      `m${n % 7}`,
      `k${n % 500}`,
      n % 9 === 0 ? 'ninth' : '',
      `x${(n * 7919) % 10_007}`,
    ].filter(Boolean);
  const size = Math.ceil(rows / mergedSegments);
  const commits = Array.from({ length: mergedSegments }, (_, i) =>
    Array.from({ length: size }, (_, k) => wordsOf(i * size + k)),
  );
  const term = (text: string, prefix = false): TermExpression => ({ kind: 'term', term: text, prefix });
  const asked: TermExpression[] = [
    ...['7.all', 'm3', 'k77', 'ninth', 'n11999', 'n0', 'x5', 'a', 'zz'].map((text) => term(text)),
    ...['n1', 'm', 'k1', 'x99', '7', 'n119', 'ninthly', 'q'].map((text) => term(text, true)),
    { kind: 'and', of: [term('m3'), term('ninth'), term('7.all')] },
    { kind: 'without', of: term('7.all'), not: { kind: 'or', of: [term('m', true), term('ninth')] } },
  ];
  const patterns = [
    { begin: '7', pattern: '7.al?', same: one('7.all') },
    { begin: '7', pattern: '7.?', same: one('7.x') },
    { begin: '', pattern: '*ninth', same: one('ninth') },
    { begin: 'm', pattern: '?3', same: one('m3') },
    { begin: 'm', pattern: '*', same: one('m', true) },
    {
      begin: 'k',
      pattern: 'k?7',
      same: joined(
        'or',
        [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => one(`k${n}7`)),
      ),
    },
  ];
  const made = indexOf(commits, []);
  const numbersOf = (found: RowSet | undefined) => found?.last(Number.POSITIVE_INFINITY, made.range);
  const merge = made.sql.of(`INSERT INTO ${made.terms} (${made.terms}, rank) VALUES ('merge', ?)`);
  for (let round = 0; round < 5; round++) {
    const { sql } = made;
    const found = asked.map((each) =>
      expectSame({ ...made, index: new FtsIndex(sql, readNewest(sql), { tenant }) }, each),
    );
    expect(found[0]).toBe(size * mergedSegments);
    const index = new FtsIndex(sql, readNewest(sql), {
      tenant,
      patternWork: Number.POSITIVE_INFINITY,
    });
    for (const { begin, pattern, same } of patterns) {
      const matching = index.find({ ...one(begin, true), pattern });
      expect(numbersOf(matching), pattern).toEqual(numbersOf(index.find(same)));
    }
    const hurried = new FtsIndex(sql, readNewest(sql), { tenant, patternWork: 100_000 });
    expect(hurried.find({ ...one('', true), pattern: '*ninth' })).toBeUndefined();
    // Enough for each value once, and each segment has them all.
    const once = new FtsIndex(sql, readNewest(sql), { tenant, patternWork: 70_000 });
    expect(once.find({ ...one('k', true), pattern: 'k?7' })).toBeDefined();
    merge.run(BigInt(round < 3 ? -40 : -10_000));
  }
});

test('a damaged index is an error or finds other rows, and never goes on for ever', () => {
  const words = (n: number) => [`n${n}`, `m${n % 7}`, 'all'];
  const { sql, terms } = indexOf([Array.from({ length: 900 }, (_, n) => words(n))], []);
  const blocks = sql
    .of<[], { id: number; block: Buffer }>(`SELECT id, block FROM ${terms}_data ORDER BY id`)
    .all();
  sql.db.unsafeMode();
  const save = sql.of(`UPDATE ${terms}_data SET block = ? WHERE id = ?`);
  const asked = ['m', 'n1', 'all'].map(
    (term): TermExpression => ({ kind: 'term', term, prefix: term === 'm' }),
  );
  const search = () => {
    for (const each of asked) new FtsIndex(sql, readNewest(sql), { tenant }).find(each);
  };
  let errors = 0;
  const check = (id: number, block: Buffer) => {
    save.run(block, id);
    try {
      search();
    } catch (error) {
      expect(isDamage(error), String(error)).toBe(true);
      errors += 1;
    }
  };
  for (const { id, block } of blocks) {
    for (let i = 0; i < block.length; i += block.length > 200 ? 37 : 1)
      for (const flipped of [0x80, 0xff]) {
        const damaged = Buffer.from(block);
        damaged[i] = (damaged[i] as number) ^ flipped;
        check(id, damaged);
      }
    for (const length of [0, 3, block.length - 1]) check(id, block.subarray(0, length));
    save.run(block, id);
  }
  expect(errors).toBeGreaterThan(50);
  search();
});
