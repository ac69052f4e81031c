/** Posting lists of rules, and the tables that find the lists for a notification. */
import type { AddressKey, AddressRange } from '../addresses.ts';

/** The ordinals of the rules that share one prefilter, ascending. */
export interface Posting {
  readonly ordinals: number[];
  /** The number of the last look-up that found this list. */
  lastLookup: number;
}

/** Called with each list that a look-up finds; it may be called with the same list more than once. */
export type OnPosting = (posting: Posting) => void;

class Table<Key> extends Map<Key, Posting> {
  add(key: Key, ordinal: number): void {
    const known = this.get(key);
    if (!known) this.set(key, { ordinals: [ordinal], lastLookup: 0 });
    else if (known.ordinals.at(-1) !== ordinal) known.ordinals.push(ordinal);
  }

  find(key: Key, onPosting: OnPosting): void {
    const found = this.get(key);
    if (found) onPosting(found);
  }
}

/** The index has no `contains` prefilter for shorter texts. */
export const gramLength = 3;
/** Texts of at least this length use grams of this length, because longer grams are rarer. */
const longGramLength = 5;

/** An n-gram: consecutive UTF-16 units of a text, as a hash. A hash collision only adds a candidate, whose conditions then fail. */
export interface Gram {
  readonly length: number;
  readonly hash: number;
}

/** A rule is found by one gram, so some from the beginning of a long text are enough to choose from. */
const mostGrams = 64;

/** Grams of a text, of a long one the first. Every text that contains this text has all of them. */
export function gramsOf(text: string): readonly Gram[] {
  const length = text.length >= longGramLength ? longGramLength : gramLength;
  const hashes = new Set<number>();
  for (let i = 0; i + length <= text.length && i < mostGrams; i++) hashes.add(gramAt(text, i, length));
  return Array.from(hashes, (hash) => ({ length, hash }));
}

function gramAt(text: string, at: number, length: number): number {
  let hash = 0;
  for (let i = at; i < at + length; i++) hash = Math.imul(hash, 0x01000193) ^ text.charCodeAt(i);
  return (hash ^ (hash >>> 15)) & 0x3fffffff;
}

/** Maps grams of one length to the rules whose prefilter needs a text with that gram. */
class GramTable {
  readonly #length: number;
  readonly #table = new Table<number>();
  /** A bitmap of the low 16 bits of the hashes (a one-hash Bloom filter). It skips most positions of a long text. */
  #filter: Uint8Array | undefined;

  constructor(length: number) {
    this.#length = length;
  }

  get size(): number {
    return this.#table.size;
  }

  add(hash: number, ordinal: number): void {
    this.#table.add(hash, ordinal);
    this.#filter ??= new Uint8Array(8192);
    const at = (hash & 0xffff) >> 3;
    this.#filter[at] = (this.#filter[at] as number) | (1 << (hash & 7));
  }

  find(text: string, onPosting: OnPosting): void {
    const filter = this.#filter;
    if (!filter) return;
    const length = this.#length;
    for (let i = 0; i + length <= text.length; i++) {
      const hash = gramAt(text, i, length);
      if (((filter[(hash & 0xffff) >> 3] as number) & (1 << (hash & 7))) !== 0)
        this.#table.find(hash, onPosting);
    }
  }
}

/** Maps the prefilters of one text field (is, starts, ends, contains) to rules. */
export class TextTable {
  readonly #is = new Table<string>();
  readonly #starts = new Table<string>();
  readonly #ends = new Table<string>();
  readonly #grams = new GramTable(gramLength);
  readonly #longGrams = new GramTable(longGramLength);
  readonly #startLengths = new Set<number>();
  readonly #endLengths = new Set<number>();

  get isEmpty(): boolean {
    return (
      this.#is.size + this.#starts.size + this.#ends.size + this.#grams.size + this.#longGrams.size === 0
    );
  }

  addIs(text: string, ordinal: number): void {
    this.#is.add(text, ordinal);
  }

  addStarts(text: string, ordinal: number): void {
    this.#starts.add(text, ordinal);
    this.#startLengths.add(text.length);
  }

  addEnds(text: string, ordinal: number): void {
    this.#ends.add(text, ordinal);
    this.#endLengths.add(text.length);
  }

  addGram({ length, hash }: Gram, ordinal: number): void {
    (length === gramLength ? this.#grams : this.#longGrams).add(hash, ordinal);
  }

  find(text: string, onPosting: OnPosting): void {
    // No look-up in an empty table: it would hash the text, which may be long.
    if (this.#is.size > 0) this.#is.find(text, onPosting);
    for (const length of this.#startLengths) {
      if (length <= text.length) this.#starts.find(text.slice(0, length), onPosting);
    }
    for (const length of this.#endLengths) {
      if (length <= text.length) this.#ends.find(text.slice(text.length - length), onPosting);
    }
    this.#grams.find(text, onPosting);
    this.#longGrams.find(text, onPosting);
  }
}

/** Maps CIDR blocks to the rules whose prefilter is a range with that block. */
export class AddressTable {
  /** By the length of the prefix, then by the hash of its bits. */
  readonly #byLength = new Map<number, Table<number>>();

  add(range: AddressRange, ordinal: number): void {
    for (const { key, length } of blocksOf(range)) {
      let table = this.#byLength.get(length);
      if (!table) {
        table = new Table();
        this.#byLength.set(length, table);
      }
      table.add(hashPrefix(key, length), ordinal);
    }
  }

  get isEmpty(): boolean {
    return this.#byLength.size === 0;
  }

  find(key: AddressKey, onPosting: OnPosting): void {
    for (const [length, table] of this.#byLength) table.find(hashPrefix(key, length), onPosting);
  }
}

/** A hash of the first `length` bits of an address. A collision only adds a candidate, whose conditions then fail. */
function hashPrefix(key: AddressKey, length: number): number {
  let hash = 0;
  const whole = length >> 3;
  for (let i = 0; i < whole; i++) hash = (Math.imul(hash, 0x01000193) ^ (key[i] as number)) & 0x3fffffff;
  const rest = length & 7;
  if (rest === 0) return hash;
  return (Math.imul(hash, 0x01000193) ^ ((key[whole] as number) & (0xff00 >> rest) & 0xff)) & 0x3fffffff;
}

/** Splits a range into the fewest CIDR blocks: one if the range is a block, at most 254. */
export function blocksOf({
  low,
  high,
}: AddressRange): readonly { readonly key: AddressKey; readonly length: number }[] {
  const blocks: { key: AddressKey; length: number }[] = [];
  const last = toNumber(high);
  for (let first = toNumber(low); first <= last; ) {
    let bits = 0n;
    while (
      bits < 128n &&
      (first & ((1n << (bits + 1n)) - 1n)) === 0n &&
      first + (1n << (bits + 1n)) - 1n <= last
    )
      bits += 1n;
    blocks.push({ key: fromNumber(first), length: 128 - Number(bits) });
    first += 1n << bits;
  }
  return blocks;
}

function toNumber(key: AddressKey): bigint {
  return key.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

function fromNumber(number: bigint): AddressKey {
  return Uint8Array.from({ length: 16 }, (_, i) => Number((number >> BigInt(8 * (15 - i))) & 0xffn));
}
