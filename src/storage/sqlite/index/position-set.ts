import { addBlockTo, bitmapBytes, blockSize } from './blocks.ts';

/** Positions from `low` to `high`, both included. */
export interface Positions {
  readonly low: number;
  readonly high: number;
}

/** A set of positions within a window of the log, one bit each. Sets of the same window can be put together. */
export class PositionSet {
  readonly #window: Positions;
  readonly #firstBlock: number;
  readonly #bytes: Uint8Array;
  /** The same bits, 32 at a time. */
  readonly #words: Uint32Array;

  constructor(window: Positions) {
    this.#window = window;
    this.#firstBlock = blockOf(window.low);
    this.#bytes = new Uint8Array((blockOf(window.high) - this.#firstBlock + 1) * bitmapBytes);
    this.#words = new Uint32Array(this.#bytes.buffer);
  }

  /** Adds a position of the window; others are left out. */
  add(position: number): void {
    if (position < this.#window.low || position > this.#window.high) return;
    const bit = position - startOf(this.#firstBlock);
    this.#bytes[bit >> 3] = (this.#bytes[bit >> 3] as number) | (1 << (bit & 7));
  }

  /** Adds what a block of the window holds. Its positions outside the window stay unseen. */
  addBlock(block: number, positions: Uint8Array): void {
    addBlockTo(this.#bytes, (block - this.#firstBlock) * bitmapBytes, positions);
  }

  /** Adds what a set of a window around this one holds. */
  addPartOf(whole: PositionSet): void {
    const start = (this.#firstBlock - whole.#firstBlock) * bitmapBytes;
    this.#bytes.set(whole.#bytes.subarray(start, start + this.#bytes.length));
  }

  /** Adds what a set of the same window holds. */
  unite(other: PositionSet): void {
    const words = this.#words;
    const others = other.#words;
    for (let i = 0; i < words.length; i++) words[i] = (words[i] as number) | (others[i] as number);
  }

  /** How many of a stretch of the window are in both sets, which are of the same window. */
  countShared(other: PositionSet, { low, high }: Positions): number {
    const base = startOf(this.#firstBlock);
    const [first, last] = [low - base, high - base];
    let count = 0;
    for (let word = first >> 5; word <= last >> 5; word++) {
      let bits = (this.#words[word] as number) & (other.#words[word] as number);
      if (bits === 0) continue;
      if (word === first >> 5) bits &= -1 << (first & 31);
      if (word === last >> 5) bits &= -1 >>> (31 - (last & 31));
      count += countBits(bits);
    }
    return count;
  }

  /** Keeps what is in the other set too, or, with `keeps` false, what is not. */
  sift(other: PositionSet, keeps: boolean): void {
    const words = this.#words;
    const others = other.#words;
    if (keeps) for (let i = 0; i < words.length; i++) words[i] = (words[i] as number) & (others[i] as number);
    else for (let i = 0; i < words.length; i++) words[i] = (words[i] as number) & ~(others[i] as number);
  }

  /** How many there are, those outside the window in its first and last block included. */
  get size(): number {
    let count = 0;
    for (const word of this.#words) if (word !== 0) count += countBits(word);
    return count;
  }

  /** From the highest to the lowest, at most `count`, below `before`. */
  highest(count: number, before: number): number[] {
    const { low, high } = this.#window;
    const base = startOf(this.#firstBlock);
    const found: number[] = [];
    const last = Math.min(high, before - 1) - base;
    for (let word = last >> 5; word >= 0 && found.length < count; word--) {
      if (this.#words[word] === 0) continue;
      for (let bit = Math.min(last, word * 32 + 31); bit >= word * 32 && found.length < count; bit--) {
        if (((this.#bytes[bit >> 3] as number) & (1 << (bit & 7))) !== 0 && base + bit >= low)
          found.push(base + bit);
      }
    }
    return found;
  }
}

/** Positions can pass 2^31, which `>>` cannot. */
export const blockOf = (position: number) => Math.floor(position / blockSize);
export const startOf = (block: number) => block * blockSize;

function countBits(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
