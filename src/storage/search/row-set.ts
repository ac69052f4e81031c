/** Rows that a search has found in a partition. */
import type { TermExpression } from '#core/search/index-terms.ts';
import type { LogRange } from './log-search.ts';

/** Reading and testing this many rows takes about as long as reading a long list of the index. */
const fewRows = 16;

/** The indexed rows of a partition. */
export interface IndexedRows {
  readonly firstRow: number;
  /** The last indexed row. */
  readonly indexed: number;
}

/** A set of rows of one partition, with one bit for each indexed row. */
export class RowSet {
  isEmpty = true;
  readonly #firstRow: number;
  readonly #bits: Int32Array;

  constructor({ firstRow, indexed }: IndexedRows) {
    this.#firstRow = firstRow;
    this.#bits = new Int32Array(Math.ceil((indexed + 1 - firstRow) / 32));
  }

  /** All rows, with entries of every kind and tenant. */
  static all(rows: IndexedRows): RowSet {
    const all = new RowSet(rows);
    all.#bits.fill(-1);
    const last = all.#bits.length - 1;
    if (last >= 0) all.#bits[last] = -1 >>> ((last + 1) * 32 - (rows.indexed + 1 - rows.firstRow));
    all.isEmpty = last < 0;
    return all;
  }

  /** Whether there are at most {@link fewRows}. */
  get isFew(): boolean {
    if (this.isEmpty) return true;
    let count = 0;
    for (const word of this.#bits)
      for (let bits = word; bits !== 0; bits &= bits - 1) {
        count += 1;
        if (count > fewRows) return false;
      }
    return true;
  }

  add(row: number): void {
    const place = row - this.#firstRow;
    this.isEmpty = false;
    this.#bits[place >>> 5] = (this.#bits[place >>> 5] as number) | (1 << place);
  }

  /**
   * Adds ascending rows in the format of FTS5: varints with seven bits in each byte, the highest first; the eighth
   * bit is set if more bytes follow. The first number is a row, each other one the difference to the previous row. Returns false if
   * they cannot be rows of this partition.
   */
  addVarintDeltas(page: Buffer, from: number, to: number): boolean {
    const bits = this.#bits;
    let place = -this.#firstRow;
    let number = 0;
    for (let i = from; i < to; i++) {
      const byte = page[i] as number;
      number = number * 128 + (byte & 0x7f);
      if (byte >= 0x80) continue;
      place += number;
      bits[place >>> 5] = (bits[place >>> 5] as number) | (1 << place);
      number = 0;
    }
    if (from >= to) return true;
    this.isEmpty = false;
    // Rows ascend, so the last one shows whether all are rows of the partition.
    return place >= 0 && place < bits.length * 32;
  }

  /** Adds rows that are stored as offsets from `first`, two bytes each, the higher byte first. */
  addOffsets(offsets: Uint8Array, first: number): void {
    const bits = this.#bits;
    const from = first - this.#firstRow;
    for (let i = 0; i < offsets.length; i += 2) {
      const place = from + (((offsets[i] as number) << 8) | (offsets[i + 1] as number));
      bits[place >>> 5] = (bits[place >>> 5] as number) | (1 << place);
    }
    if (offsets.length > 0) this.isEmpty = false;
  }

  /** Adds rows that are stored as a bitmap, which begins at `first`; the lowest bit of a byte comes first. */
  addBits(bytes: Uint8Array, first: number): void {
    const bits = this.#bits;
    const from = first - this.#firstRow;
    let all = 0;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      all |= byte;
      const place = from + 8 * i;
      const shift = place & 31;
      bits[place >>> 5] = (bits[place >>> 5] as number) | (byte << shift);
      if (shift > 24 && byte !== 0)
        bits[(place >>> 5) + 1] = (bits[(place >>> 5) + 1] as number) | (byte >>> (32 - shift));
    }
    if (all !== 0) this.isEmpty = false;
  }

  has(row: number): boolean {
    const place = row - this.#firstRow;
    return ((this.#bits[place >>> 5] as number) & (1 << place)) !== 0;
  }

  addAll(other: RowSet): this {
    return other.isEmpty ? this : this.#combine(other, (own, others) => own | others);
  }

  /** Returns the rows that are in both sets; it may change this set. */
  keepOnly(other: RowSet): RowSet {
    return other.isEmpty ? other : this.#combine(other, (own, others) => own & others);
  }

  remove(other: RowSet): this {
    return other.isEmpty ? this : this.#combine(other, (own, others) => own & ~others);
  }

  #combine(other: RowSet, bitsOf: (own: number, others: number) => number): this {
    const [own, others] = [this.#bits, other.#bits];
    let all = 0;
    for (let i = 0; i < own.length; i++) {
      const bits = bitsOf(own[i] as number, others[i] as number);
      own[i] = bits;
      all |= bits;
    }
    this.isEmpty = all === 0;
    return this;
  }

  /** How many rows of a range are in both sets. */
  countShared(other: RowSet, { low, high }: LogRange): number {
    const first = Math.max(low - this.#firstRow, 0);
    const last = Math.min(high - this.#firstRow, this.#bits.length * 32 - 1);
    let count = 0;
    for (let word = first >> 5; word <= last >> 5; word++) {
      let bits = (this.#bits[word] as number) & (other.#bits[word] as number);
      if (word === first >> 5) bits &= -1 << (first & 31);
      if (word === last >> 5) bits &= -1 >>> (31 - (last & 31));
      for (; bits !== 0; bits &= bits - 1) count += 1;
    }
    return count;
  }

  /** The last `limit` rows of a range, in ascending order. */
  last(limit: number, { low, high }: LogRange): number[] {
    const rows: number[] = [];
    if (this.isEmpty) return rows;
    const first = Math.max(low - this.#firstRow, 0);
    const last = Math.min(high - this.#firstRow, this.#bits.length * 32 - 1);
    for (let word = last >> 5; word >= first >> 5 && rows.length < limit; word--) {
      let bits = this.#bits[word] as number;
      if (bits === 0) continue;
      if (word === last >> 5) bits &= -1 >>> (31 - (last & 31));
      if (word === first >> 5) bits &= -1 << (first & 31);
      while (bits !== 0 && rows.length < limit) {
        const place = 31 - Math.clz32(bits);
        rows.push(this.#firstRow + word * 32 + place);
        bits &= ~(1 << place);
      }
    }
    return rows.reverse();
  }
}

/** Evaluates an expression of terms on a partition, with sets of rows. */

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
