import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeBlock } from './blocks.ts';
import { blockOf, PositionSet, startOf } from './position-set.ts';

const base = 2 ** 33 - 30_000;
const window = fc
  .tuple(fc.nat({ max: 9000 }), fc.nat({ max: 9000 }))
  .map(([a, b]) => ({ low: base + Math.min(a, b), high: base + Math.max(a, b) }));
const positions = fc.array(
  fc.nat({ max: 91_000 }).map((offset) => base - 500 + offset),
  { maxLength: 200 },
);

const inside = ({ low, high }: { low: number; high: number }, list: readonly number[]) =>
  [...new Set(list)].filter((position) => position >= low && position <= high).sort((a, b) => b - a);

test('a set gives back what was added within its window, from the highest on, in parts of any size', () => {
  fc.assert(
    fc.property(window, positions, fc.integer({ min: 1, max: 50 }), (within, list, count) => {
      const set = new PositionSet(within);
      for (const position of list) set.add(position);
      const found: number[] = [];
      for (
        let part = set.highest(count, Number.POSITIVE_INFINITY);
        part.length > 0;
        part = set.highest(count, found.at(-1) ?? 0)
      ) {
        expect(part.length).toBeLessThanOrEqual(count);
        found.push(...part);
      }
      expect(found).toEqual(inside(within, list));
      expect(set.size).toBe(found.length);
    }),
  );
});

test('sets are sifted, and filled from blocks and from wider sets', () => {
  fc.assert(
    fc.property(window, positions, positions, fc.boolean(), (within, list, others, keeps) => {
      const set = new PositionSet(within);
      for (const position of list) {
        const block = blockOf(position);
        if (block < blockOf(within.low) || block > blockOf(within.high)) continue;
        set.addBlock(block, changeBlock(undefined, [position - startOf(block)], true) as Uint8Array);
      }
      const whole = new PositionSet({ low: within.low - 40_000, high: within.high + 50_000 });
      for (const position of others) whole.add(position);
      const part = new PositionSet(within);
      part.addPartOf(whole);
      set.sift(part, keeps);
      const expected = inside(within, list).filter((position) => others.includes(position) === keeps);
      expect(set.highest(1000, Number.POSITIVE_INFINITY)).toEqual(expected);
    }),
  );
});
