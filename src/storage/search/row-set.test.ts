import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TermExpression } from '#core/search/index-terms.ts';
import { RowSet, type SingleTerm, TermIndex } from './row-set.ts';

const rows = { firstRow: 11, indexed: 210 };
const range = { low: rows.firstRow, high: rows.indexed };

/** Has the term `n` in every nth row, and has not read some terms. */
class FakeIndex extends TermIndex {
  readonly #unread: readonly number[];

  constructor(unread: readonly number[] = []) {
    super(rows);
    this.#unread = unread;
  }

  protected override rowsOf({ term }: SingleTerm): RowSet | undefined {
    if (this.#unread.includes(Number(term))) return undefined;
    const found = new RowSet(rows);
    for (let row = range.low; row <= range.high; row++) if (row % Number(term) === 0) found.add(row);
    return found;
  }

  protected override isOfAll({ term }: SingleTerm): boolean {
    return term === '1';
  }
}

const numbersOf = (found: RowSet) => found.last(Number.POSITIVE_INFINITY, range);
const term = (n: number): TermExpression => ({ kind: 'term', term: String(n), prefix: false });

function has(terms: TermExpression, row: number): boolean {
  switch (terms.kind) {
    case 'term':
      return row % Number(terms.term) === 0;
    case 'and':
      return terms.of.every((part) => has(part, row));
    case 'or':
      return terms.of.some((part) => has(part, row));
    case 'without':
      return has(terms.of, row) && !has(terms.not, row);
  }
}
const foundBy = (terms: TermExpression) =>
  Array.from({ length: 200 }, (_, i) => range.low + i).filter((row) => has(terms, row));

const { terms: anyTerms } = fc.letrec<{ terms: TermExpression }>((tie) => ({
  terms: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(1, 2, 3, 5, 7, 13, 101).map(term),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      of: fc.array(tie('terms'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('without' as const), of: tie('terms'), not: tie('terms') }),
  ),
}));

test('finds what the terms say, or says that it has not read them; narrows to that, and says when it has left others', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyTerms, fc.uniqueArray(fc.constantFrom(2, 3, 13)), (asked, unread) => {
      const index = new FakeIndex(unread);
      const expected = foundBy(asked);
      const found = index.find(asked);
      if (found) expect(numbersOf(found)).toEqual(expected);
      else expect(unread).not.toEqual([]);
      const narrowed = numbersOf(index.narrow(RowSet.all(rows), asked)).filter((row) => row <= range.high);
      expect(narrowed).toEqual(index.mayHaveFalsePositives ? expect.arrayContaining(expected) : expected);
      seen.add(`${found !== undefined} ${index.mayHaveFalsePositives} ${narrowed.length > expected.length}`);
    }),
    { numRuns: 600 },
  );
  for (const kind of ['true false false', 'true true true', 'false true true']) expect(seen).toContain(kind);
});
