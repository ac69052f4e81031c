/** Rows that a search has found in a partition. */
import type { LogRange } from '../log-search.ts';
import type { Partition } from './partitions.ts';

/** A set of rows of one partition: a bit for each row that is indexed. */
export class RowSet {
  readonly #firstRow: number;
  readonly #bits: Int32Array;

  constructor({ firstRow, indexed }: Partition) {
    this.#firstRow = firstRow;
    this.#bits = new Int32Array(Math.ceil((indexed + 1 - firstRow) / 32));
  }

  get isEmpty(): boolean {
    return this.#bits.every((bits) => bits === 0);
  }

  add(row: number): void {
    const place = row - this.#firstRow;
    this.#bits[place >>> 5] = (this.#bits[place >>> 5] as number) | (1 << place);
  }

  has(row: number): boolean {
    const place = row - this.#firstRow;
    return ((this.#bits[place >>> 5] as number) & (1 << place)) !== 0;
  }

  addAll(other: RowSet): this {
    for (const [i, bits] of other.#bits.entries()) this.#bits[i] = (this.#bits[i] as number) | bits;
    return this;
  }

  keepOnly(other: RowSet): this {
    for (const [i, bits] of other.#bits.entries()) this.#bits[i] = (this.#bits[i] as number) & bits;
    return this;
  }

  remove(other: RowSet): this {
    for (const [i, bits] of other.#bits.entries()) this.#bits[i] = (this.#bits[i] as number) & ~bits;
    return this;
  }

  /** The last `limit` rows of a range, in ascending order. */
  last(limit: number, { low, high }: LogRange): number[] {
    const rows: number[] = [];
    const end = Math.max(low, this.#firstRow) - this.#firstRow;
    let place = Math.min(high - this.#firstRow, this.#bits.length * 32 - 1);
    while (place >= end && rows.length < limit) {
      // The bits of this word from `place` down.
      const bits = (this.#bits[place >>> 5] as number) << (31 - (place & 31));
      place -= Math.clz32(bits);
      if (bits === 0) place = (place & ~31) + 31;
      else if (place >= end) rows.push(this.#firstRow + place--);
    }
    return rows.reverse();
  }
}
