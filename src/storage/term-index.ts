/** Finds the rows of a partition by an expression of terms, with sets of rows. */
import type { TermExpression } from '#core/search/term-expression.ts';
import { type IndexedRows, RowSet } from './row-set.ts';

export type SingleTerm = Extract<TermExpression, { kind: 'term' }>;

/** The terms of an expression, wanted or not. */
export const singleTerms = (terms: TermExpression): SingleTerm[] =>
  terms.kind === 'term'
    ? [terms]
    : (terms.kind === 'without' ? [terms.of, terms.not] : terms.of).flatMap(singleTerms);

/** The index of one partition, for the searches of one tenant. */
export abstract class TermIndex {
  /** Whether `narrow` has left rows that the terms may not find. */
  isCut = false;
  /** Whether it costs less to read few rows than more of the index. */
  protected readonly stopsAtFew: boolean = true;
  readonly #rows: IndexedRows;

  constructor(rows: IndexedRows) {
    this.#rows = rows;
  }

  /** The rows with a term; with `prefix`, with a term that begins so. undefined: unknown, because there are too many, or they are not read. */
  protected abstract rowsOf(term: SingleTerm): RowSet | undefined;

  /** Adds the rows of a term to others; false: they are unknown, as for `rowsOf`. */
  protected addRows(term: SingleTerm, found: RowSet): boolean {
    const rows = this.rowsOf(term);
    if (rows) found.addAll(rows);
    return rows !== undefined;
  }

  /** Whether all rows of the partition are known to have a term. */
  protected isOfAll(_term: SingleTerm): boolean {
    return false;
  }

  /** Exactly the rows that `terms` find; undefined if the rows of a term are unknown. */
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
   * Those of some rows that `terms` find, and maybe others of them: it may stop at few rows, and a term whose rows are unknown
   * leaves out nothing. Then `isCut`.
   */
  narrow(rows: RowSet, terms: TermExpression): RowSet {
    if (this.#isEnough(rows)) return this.#cut(rows);
    switch (terms.kind) {
      case 'term':
      case 'or': {
        if (terms.kind === 'term' && this.isOfAll(terms)) return rows;
        const found = this.find(terms);
        return found ? rows.keepOnly(found) : this.#cut(rows);
      }
      case 'and':
        return terms.of.reduce<RowSet>((found, part) => this.narrow(found, part), rows);
      case 'without': {
        const found = this.narrow(rows, terms.of);
        const unwanted = this.#isEnough(found) ? undefined : this.find(terms.not);
        return unwanted ? found.remove(unwanted) : this.#cut(found);
      }
    }
  }

  #isEnough(rows: RowSet): boolean {
    return rows.isEmpty || (this.stopsAtFew && rows.isFew);
  }

  #cut(rows: RowSet): RowSet {
    this.isCut ||= !rows.isEmpty;
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
