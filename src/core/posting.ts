/** Lists of rules, and the tables by which a notification finds the lists of the rules that can match it. */
import type { AddressKey, AddressRange } from './addresses.ts';

/** Rules by their place in the walk, in order. `round` tells whether this notification has met the list already. */
export interface Posting {
  readonly ordinals: number[];
  round: number;
}

/** Is told each list that a look-up finds; some more than once. */
export type Hit = (posting: Posting) => void;

class Table<Key> extends Map<Key, Posting> {
  add(key: Key, ordinal: number): void {
    const known = this.get(key);
    if (!known) this.set(key, { ordinals: [ordinal], round: 0 });
    else if (known.ordinals.at(-1) !== ordinal) known.ordinals.push(ordinal);
  }

  find(key: Key, hit: Hit): void {
    const found = this.get(key);
    if (found) hit(found);
  }
}

/** Texts are found inside others by runs of this many UTF-16 units. */
export const gramLength = 3;

/** Runs of `gramLength` in a text as numbers; different runs may share one, which costs a test and no more. */
export function gramsOf(text: string): Set<number> {
  const grams = new Set<number>();
  for (let i = 0; i + gramLength <= text.length; i++) grams.add(gramAt(text, i));
  return grams;
}

function gramAt(text: string, i: number): number {
  return ((text.charCodeAt(i) * 961 + text.charCodeAt(i + 1)) * 31 + text.charCodeAt(i + 2)) & 0x3fffffff;
}

/** Rules by what one text must be, start with, end with or contain. */
export class TextTable {
  readonly #is = new Table<string>();
  readonly #starts = new Table<string>();
  readonly #ends = new Table<string>();
  readonly #grams = new Table<number>();
  readonly #startLengths = new Set<number>();
  readonly #endLengths = new Set<number>();
  /** One bit for each of the lower parts of the grams: most of a long text is passed over by it. */
  #sieve: Uint8Array | undefined;

  get isEmpty(): boolean {
    return this.#is.size + this.#starts.size + this.#ends.size + this.#grams.size === 0;
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

  addGram(gram: number, ordinal: number): void {
    this.#grams.add(gram, ordinal);
    this.#sieve ??= new Uint8Array(8192);
    const at = (gram & 0xffff) >> 3;
    this.#sieve[at] = (this.#sieve[at] as number) | (1 << (gram & 7));
  }

  find(text: string, hit: Hit): void {
    this.#is.find(text, hit);
    for (const length of this.#startLengths)
      if (length <= text.length) this.#starts.find(text.slice(0, length), hit);
    for (const length of this.#endLengths)
      if (length <= text.length) this.#ends.find(text.slice(text.length - length), hit);
    const sieve = this.#sieve;
    if (!sieve) return;
    for (let i = 0; i + gramLength <= text.length; i++) {
      const gram = gramAt(text, i);
      if (((sieve[(gram & 0xffff) >> 3] as number) & (1 << (gram & 7))) !== 0) this.#grams.find(gram, hit);
    }
  }
}

/** Rules by the blocks an address must be in. */
export class AddressTable {
  readonly #byLength = new Map<number, Table<string>>();

  add(range: AddressRange, ordinal: number): void {
    for (const { key, length } of blocksOf(range)) {
      let table = this.#byLength.get(length);
      if (!table) {
        table = new Table();
        this.#byLength.set(length, table);
      }
      table.add(blockText(byteText(key), length), ordinal);
    }
  }

  get isEmpty(): boolean {
    return this.#byLength.size === 0;
  }

  find(key: AddressKey, hit: Hit): void {
    const text = byteText(key);
    for (const [length, table] of this.#byLength) table.find(blockText(text, length), hit);
  }
}

const byteText = (key: AddressKey) => String.fromCharCode(...key);

/** The first `length` bits of an address, as text. */
function blockText(text: string, length: number): string {
  const whole = text.slice(0, length >> 3);
  return (length & 7) === 0
    ? whole
    : whole + String.fromCharCode(text.charCodeAt(length >> 3) & (0xff00 >> (length & 7)) & 0xff);
}

/** The fewest CIDR blocks that together are the range: one for a block, at most 254. */
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
