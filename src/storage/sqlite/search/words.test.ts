import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Query } from '../../../core/search/search-query.ts';
import { wordCharacter } from '../../../core/search/search-terms.ts';
import { isMatchable, matchOf } from './match.ts';
import { textMatcher, tokenizer, WordReader } from './words.ts';

const reader = new WordReader();

function openIndex() {
  const db = new Database(':memory:');
  db.exec(
    `CREATE VIRTUAL TABLE t USING fts5 (title, message, content='', contentless_delete=1, tokenize='${tokenizer}')`,
  );
  return {
    insert: db.prepare('INSERT INTO t (rowid, title, message) VALUES (?, ?, ?)'),
    match: db.prepare<[string], number>('SELECT rowid FROM t WHERE t MATCH ?').pluck(),
  };
}

/** Letters with and without accents, in several scripts and forms, digits, marks, emoji old and new, separators. */
const piece = fc.constantFrom(
  ...'aAzZ09 -_.:éÉe\u0301\u0327ßẞçÇñżŁøØİıſﬁΣςσЖжй하ㄱ磁盘デ゙١٢ॐक्षא🔥🦄\u200d\ufe0f\u00ad\u2028\u{1d49c}'.split(
    '',
  ),
  'disk',
  'Full',
  'ẛ̣',
  '\u{1f9ff}',
);
const text = fc
  .oneof(
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
    fc.string({ unit: 'binary', maxLength: 12 }),
  )
  .map((some) => some.toWellFormed().replaceAll('\0', ' '));

test('a text holds a phrase here exactly when the full-text index says so', () => {
  const phrase = fc.record({ text: text.filter((some) => wordCharacter.test(some)), prefix: fc.boolean() });
  const term = fc.record({
    kind: fc.constant('text' as const),
    field: fc.constantFrom(null, 'title' as const, 'message' as const),
    phrases: fc.array(phrase, { minLength: 1, maxLength: 2 }),
  });
  const query: fc.Arbitrary<Query> = fc.oneof(
    term,
    fc
      .tuple(fc.constantFrom('and' as const, 'or' as const), fc.array(term, { minLength: 2, maxLength: 3 }))
      .map(([kind, terms]) => ({ kind, terms })),
    fc
      .tuple(term, term)
      .map(([a, b]) => ({ kind: 'and' as const, terms: [a, { kind: 'not' as const, term: b }] })),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 5 }), query, (texts, asked) => {
      const index = openIndex();
      for (const [i, [title, message]] of texts.entries()) index.insert.run(i, title, message);
      expect(isMatchable(asked)).toBe(true);
      const matches = textMatcher(asked, reader);
      const found = texts.flatMap(([title, message], i) => (matches(title, message) ? [i] : []));
      expect(found).toEqual(index.match.all(matchOf(asked)));
    }),
    { numRuns: 500 },
  );
});

test('whatever a search takes for a word is one to the index, so that no phrase is empty', () => {
  const all: string[] = [];
  for (let point = 1; point <= 0x1ffff; point++) {
    // Han and Hangul are tens of thousands of the same.
    if (point === 0x3400) point = 0x9f00;
    if (point === 0xac10) point = 0xd790;
    const character = String.fromCodePoint(point);
    if (character.isWellFormed() && wordCharacter.test(character)) all.push(character);
  }
  expect(all.length).toBeGreaterThan(20_000);
  expect(reader.words(all.join(' '))).toHaveLength(all.length);
});

test('words are folded as the index folds them', () => {
  expect(reader.words('Größe der café-Tür: 12 %')).toEqual(['große', 'der', 'cafe', 'tur', '12']);
  expect(reader.words('CAFE\u0301')).toEqual(['cafe']);
});
