import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addBlockTo, bitmapBytes, blockSize, changeBlock, countInBlock } from './blocks.ts';

const offsets = fc.array(fc.nat({ max: blockSize - 1 }), { maxLength: 4000, size: 'max' });

function read(block: Uint8Array | undefined): number[] {
  const bits = new Uint8Array(bitmapBytes);
  if (block) addBlockTo(bits, 0, block);
  return Array.from({ length: blockSize }, (_, i) => i).filter(
    (i) => ((bits[i >> 3] ?? 0) & (1 << (i & 7))) !== 0,
  );
}

test('a block holds what was added and not taken out again, as a list or as a bitmap', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(offsets, fc.boolean()), { maxLength: 5 }), (changes) => {
      let block: Uint8Array | undefined;
      const expected = new Set<number>();
      for (const [some, adds] of changes) {
        block = changeBlock(block, some, adds);
        for (const offset of some) adds ? expected.add(offset) : expected.delete(offset);
      }
      expect(read(block)).toEqual([...expected].sort((a, b) => a - b));
      expect(block ? countInBlock(block) : 0).toBe(expected.size);
      expect(block?.length ?? 0).toBeLessThanOrEqual(Math.min(bitmapBytes, 2 * expected.size));
    }),
    { numRuns: 300 },
  );
});

test('a block turns from list to bitmap before their lengths meet', () => {
  const first = (count: number) =>
    changeBlock(
      undefined,
      Array.from({ length: count }, (_, i) => i),
      true,
    );
  expect(first(2047)?.length).toBe(4094);
  expect(first(2048)?.length).toBe(4096);
  expect(read(first(2048))).toHaveLength(2048);
  expect(changeBlock(first(2048), [7], false)?.length).toBe(4094);
  expect(changeBlock(first(2047), [2047], true)?.length).toBe(4096);
  expect(changeBlock(first(1), [0], false)).toBeUndefined();
});

test('what is first in a list is taken out, and what comes behind it added, without touching the rest', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat({ max: blockSize - 1 }), { minLength: 1, maxLength: 300 }),
      fc.nat({ max: 300 }),
      (some, cut) => {
        const list = some.sort((a, b) => a - b);
        const block = changeBlock(undefined, list, true);
        const [first, rest] = [list.slice(0, cut), list.slice(cut)];
        expect(read(changeBlock(block, first, false))).toEqual(rest);
        expect(read(changeBlock(changeBlock(undefined, first, true), rest, true))).toEqual(list);
      },
    ),
  );
});
