/**
 * Positions within one block of 32,768, as `postings` keeps them: up to 2,047 as ascending 16-bit numbers, more as a bitmap.
 * Numbers are low byte first, and bit `i & 7` of byte `i >> 3` is position `i` of the block, on every machine.
 *
 * Smaller blocks cost a rare value more rows to read, larger ones cost a frequent value more bytes to write again.
 */
export const blockSize = 2 ** 15;
export const bitmapBytes = blockSize / 8;
const longestList = bitmapBytes / 2 - 1;

/** The block with some positions added, or taken out; undefined when nothing is left. `known` is what it held before. */
export function changeBlock(
  known: Uint8Array | undefined,
  offsets: readonly number[],
  adds: boolean,
): Uint8Array | undefined {
  if (!known || known.length < bitmapBytes) {
    const atAnEnd = known && (adds ? appended(known, offsets) : withoutFirst(known, offsets));
    if (atAnEnd) return atAnEnd.length === 0 ? undefined : atAnEnd;
    const list = changeList(known ? readList(known) : [], offsets, adds);
    if (list.length <= longestList) return list.length === 0 ? undefined : writeList(list);
    return writeBitmap(list);
  }
  const bits = Uint8Array.from(known);
  for (const offset of offsets) {
    const byte = offset >> 3;
    const bit = 1 << (offset & 7);
    bits[byte] = adds ? (bits[byte] as number) | bit : (bits[byte] as number) & ~bit;
  }
  return adds || countBits(bits) > longestList ? bits : writeList(readBitmap(bits));
}

/** Sets the block's positions in a bitmap, from byte `at` on. */
export function addBlockTo(bits: Uint8Array, at: number, block: Uint8Array): void {
  if (block.length === bitmapBytes) {
    for (let i = 0; i < bitmapBytes; i++) bits[at + i] = (bits[at + i] as number) | (block[i] as number);
    return;
  }
  for (let i = 0; i < block.length; i += 2) {
    const offset = (block[i] as number) | ((block[i + 1] as number) << 8);
    const byte = at + (offset >> 3);
    bits[byte] = (bits[byte] as number) | (1 << (offset & 7));
  }
}

/** How many positions a block holds. */
export const countInBlock = (block: Uint8Array) =>
  block.length === bitmapBytes ? countBits(block) : block.length / 2;

/** A log grows at its end: the list with these behind it; undefined where they are not, or the list grows too long. */
function appended(list: Uint8Array, offsets: readonly number[]): Uint8Array | undefined {
  let last = list.length === 0 ? -1 : offsetAt(list, list.length / 2 - 1);
  for (const offset of offsets) {
    if (offset <= last) return undefined;
    last = offset;
  }
  if (list.length / 2 + offsets.length > longestList) return undefined;
  const longer = new Uint8Array(list.length + 2 * offsets.length);
  longer.set(list);
  writeOffsets(longer, list.length, offsets);
  return longer;
}

/** And it is cut off at its beginning: the list without its first ones; undefined where these are others. */
function withoutFirst(list: Uint8Array, offsets: readonly number[]): Uint8Array | undefined {
  if (2 * offsets.length > list.length) return undefined;
  for (const [i, offset] of offsets.entries()) if (offsetAt(list, i) !== offset) return undefined;
  return list.slice(2 * offsets.length);
}

const offsetAt = (list: Uint8Array, i: number) =>
  (list[2 * i] as number) | ((list[2 * i + 1] as number) << 8);

function writeOffsets(list: Uint8Array, from: number, offsets: readonly number[]): void {
  for (const [i, offset] of offsets.entries()) {
    list[from + 2 * i] = offset & 0xff;
    list[from + 2 * i + 1] = offset >> 8;
  }
}

function changeList(list: readonly number[], offsets: readonly number[], adds: boolean): number[] {
  const changed = new Set(offsets);
  if (!adds) return list.filter((offset) => !changed.has(offset));
  return [...new Set([...list, ...changed])].sort((a, b) => a - b);
}

function readList(block: Uint8Array): number[] {
  const list: number[] = [];
  for (let i = 0; i < block.length / 2; i++) list.push(offsetAt(block, i));
  return list;
}

function writeList(list: readonly number[]): Uint8Array {
  const block = new Uint8Array(2 * list.length);
  writeOffsets(block, 0, list);
  return block;
}

function readBitmap(bits: Uint8Array): number[] {
  const list: number[] = [];
  for (const [i, byte] of bits.entries()) {
    for (let bit = 0; byte >> bit !== 0; bit++) if (((byte >> bit) & 1) === 1) list.push(8 * i + bit);
  }
  return list;
}

function writeBitmap(list: readonly number[]): Uint8Array {
  const bits = new Uint8Array(bitmapBytes);
  for (const offset of list) bits[offset >> 3] = (bits[offset >> 3] as number) | (1 << (offset & 7));
  return bits;
}

const bitsOfByte = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

function countBits(bits: Uint8Array): number {
  let count = 0;
  for (const byte of bits) count += bitsOfByte[byte] as number;
  return count;
}
