/** Evaluates an expression of terms on a partition, with sets of rows. */
import type { TermExpression } from '#core/search/term-expression.ts';
import { type IndexedRows, RowSet } from './row-set.ts';

export type SingleTerm = Extract<TermExpression, { kind: 'term' }>;

/** All terms of an expression, excluded ones too. */
export const singleTerms = (terms: TermExpression): SingleTerm[] =>
  terms.kind === 'term'
    ? [terms]
    : (terms.kind === 'without' ? [terms.of, terms.not] : terms.of).flatMap(singleTerms);

/** The index of one partition, for the searches of one tenant. */
export abstract class TermIndex {
  /** Whether the result of `narrow` may contain rows that do not match the terms. */
  mayHaveFalsePositives = false;
  /** Whether reading a few rows costs less than reading more of the index. */
  protected readonly stopsAtFew: boolean = true;
  readonly #rows: IndexedRows;

  constructor(rows: IndexedRows) {
    this.#rows = rows;
  }

  /** The rows with the term; with `prefix`, with any term that begins with it. undefined: unknown, because they are too many or were not read. */
  protected abstract rowsOf(term: SingleTerm): RowSet | undefined;

  /** Adds the rows of a term to `found`; false if they are unknown, as for `rowsOf`. */
  protected addRows(term: SingleTerm, found: RowSet): boolean {
    const rows = this.rowsOf(term);
    if (rows) found.addAll(rows);
    return rows !== undefined;
  }

  /** Whether it is known that all rows of the partition have the term. */
  protected isOfAll(_term: SingleTerm): boolean {
    return false;
  }

  /** Exactly the rows that match `terms`; undefined if the rows of a term are unknown. */
  find(terms: TermExpression): RowSet | undefined {
    switch (terms.kind) {
      case 'term':
        return this.rowsOf(terms);
      case 'or': {
        const found = new RowSet(this.#rows);
        for (const part of terms.of) {
          const rows = part.kind === 'term' ? undefined : this.find(part);
          if (rows) found.addAll(rows);
          else if (part.kind !== 'term' || !this.addRows(part, found)) return undefined;
        }
        return found;
      }
      case 'and':
        return this.#findAll(terms.of);
      case 'without': {
        const found = this.find(terms.of);
        if (!found || found.isEmpty) return found;
        const unwanted = this.find(terms.not);
        return unwanted && found.remove(unwanted);
      }
    }
  }

  /**
   * The given rows that match `terms`, and maybe other ones of them: it may stop at few rows, and a term with unknown rows
   * excludes nothing. In these cases it sets `mayHaveFalsePositives`.
   */
  narrow(rows: RowSet, terms: TermExpression): RowSet {
    if (this.#isEnough(rows)) return this.#withFalsePositives(rows);
    switch (terms.kind) {
      case 'term':
      case 'or': {
        if (terms.kind === 'term' && this.isOfAll(terms)) return rows;
        const found = this.find(terms);
        return found ? rows.keepOnly(found) : this.#withFalsePositives(rows);
      }
      case 'and':
        return terms.of.reduce<RowSet>((found, part) => this.narrow(found, part), rows);
      case 'without': {
        const found = this.narrow(rows, terms.of);
        const unwanted = this.#isEnough(found) ? undefined : this.find(terms.not);
        return unwanted ? found.remove(unwanted) : this.#withFalsePositives(found);
      }
    }
  }

  #isEnough(rows: RowSet): boolean {
    return rows.isEmpty || (this.stopsAtFew && rows.isFew);
  }

  #withFalsePositives(rows: RowSet): RowSet {
    this.mayHaveFalsePositives ||= !rows.isEmpty;
    return rows;
  }

  #findAll([first, ...others]: readonly TermExpression[]): RowSet | undefined {
    let found = this.find(first as TermExpression);
    for (const part of others) {
      if (!found || found.isEmpty) break;
      if (part.kind === 'term' && this.isOfAll(part)) continue;
      const rows = this.find(part);
      found = rows && found.keepOnly(rows);
    }
    return found;
  }
}
