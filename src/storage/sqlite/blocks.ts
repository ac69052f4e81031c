/**
 * Positions within one block of 4,096, as `postings` keeps them: up to 255 as ascending 16-bit numbers, more as a bitmap. Bit
 * `i & 7` of byte `i >> 3` is position `i` of the block, low byte first, on every machine.
 */
export const blockBits = 12;
export const blockSize = 2 ** blockBits;
export const bitmapBytes = blockSize / 8;
const listed = bitmapBytes / 2 - 1;

/** The block with some positions added, or taken out; undefined when nothing is left. `known` is what it held before. */
export function changeBlock(
  known: Uint8Array | undefined,
  offsets: readonly number[],
  adds: boolean,
): Uint8Array | undefined {
  const bits = new Uint8Array(bitmapBytes);
  if (known) addBlockTo(bits, 0, known);
  for (const offset of offsets) {
    const byte = offset >> 3;
    const bit = 1 << (offset & 7);
    bits[byte] = adds ? (bits[byte] as number) | bit : (bits[byte] as number) & ~bit;
  }
  const count = countBits(bits);
  if (count === 0) return undefined;
  return count > listed ? bits : listOf(bits, count);
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

const bitsOfByte = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

function countBits(bits: Uint8Array): number {
  let count = 0;
  for (const byte of bits) count += bitsOfByte[byte] as number;
  return count;
}

function listOf(bits: Uint8Array, count: number): Uint8Array {
  const list = new Uint8Array(2 * count);
  let at = 0;
  for (let offset = 0; offset < blockSize; offset++) {
    if (((bits[offset >> 3] as number) & (1 << (offset & 7))) === 0) continue;
    list[at] = offset & 0xff;
    list[at + 1] = offset >> 8;
    at += 2;
  }
  return list;
}
