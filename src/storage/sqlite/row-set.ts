/** Rows that a search has found in a partition. */
import type { LogRange } from '../log-search.ts';
import type { Partition } from './partitions.ts';

/** As SQLite's own error, so that it is reported as damage of the file. */
export const damagedIndex = () =>
  Object.assign(new Error('a page of an index of terms is malformed'), { code: 'SQLITE_CORRUPT_INDEX' });

/** To read and test so many rows takes about as long as to read a long list of the index. */
const fewRows = 16;

/** A set of rows of one partition: a bit for each row that is indexed. */
export class RowSet {
  isEmpty = true;
  readonly #firstRow: number;
  readonly #bits: Int32Array;

  constructor({ firstRow, indexed }: Partition) {
    this.#firstRow = firstRow;
    this.#bits = new Int32Array(Math.ceil((indexed + 1 - firstRow) / 32));
  }

  /** All rows, whatever entries they are. */
  static all(partition: Partition): RowSet {
    const all = new RowSet(partition);
    all.#bits.fill(-1);
    all.isEmpty = all.#bits.length === 0;
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

  /** Adds rows as FTS5 writes them: the first, and of each other the difference to the one before, as `Numbers` reads them. */
  addWritten(page: Buffer, from: number, to: number): void {
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
    if (from >= to) return;
    // They ascend: the last one shows whether all are rows of the partition.
    if (!(place >= 0 && place < bits.length * 32)) throw damagedIndex();
    this.isEmpty = false;
  }

  has(row: number): boolean {
    const place = row - this.#firstRow;
    return ((this.#bits[place >>> 5] as number) & (1 << place)) !== 0;
  }

  addAll(other: RowSet): this {
    return other.isEmpty ? this : this.#combine(other, (own, others) => own | others);
  }

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
