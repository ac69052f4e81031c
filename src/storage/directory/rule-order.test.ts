import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Move, placesFor } from './rule-order.ts';

/** The rules after the places are taken, in their order. */
function placed(rules: readonly Move[], places: readonly Move[]): Move[] {
  const ordinals = new Map([...rules, ...places].map(({ id, ordinal }) => [id, ordinal]));
  return [...ordinals].map(([id, ordinal]) => ({ id, ordinal })).sort((a, b) => a.ordinal - b.ordinal);
}

const idsOf = (rules: readonly Move[]) => rules.map(({ id }) => id);
const neighbours = (count: number, step: number): Move[] =>
  Array.from({ length: count }, (_, i) => ({ id: `r${i}`, ordinal: (i - 2) * step }));

test('whatever the order and the ordinals before, the rules stand in the new order, also new ones', () => {
  const rules = fc.uniqueArray(fc.integer({ min: -20, max: 20 }), { maxLength: 12 });
  fc.assert(
    fc.property(
      rules,
      fc.integer({ min: 0, max: 3 }),
      fc.infiniteStream(fc.nat()),
      (ordinals, added, random) => {
        const before = ordinals
          .map((ordinal) => ({ id: `r${ordinal}`, ordinal }))
          .sort((a, b) => a.ordinal - b.ordinal);
        const ids = [...idsOf(before), ...Array.from({ length: added }, (_, i) => `new${i}`)];
        const order = ids
          .map((id) => [random.next().value as number, id] as const)
          .sort(([a], [b]) => a - b)
          .map(([, id]) => id);
        const after = placed(before, placesFor(order, before));
        expect(idsOf(after)).toEqual(order);
        expect(new Set(after.map(({ ordinal }) => ordinal)).size).toBe(order.length);
        expect(placesFor(order, after)).toEqual([]);
      },
    ),
    { numRuns: 500 },
  );
});

test('one rule that moves is the only one with a new ordinal', () => {
  const rules = neighbours(1_000, 2 ** 20);
  for (const [from, to] of [
    [0, 999],
    [999, 0],
    [10, 500],
    [500, 499],
  ] as const) {
    const ids = idsOf(rules);
    const [moved = ''] = ids.splice(from, 1);
    expect(placesFor(ids.toSpliced(to, 0, moved), rules)).toHaveLength(1);
  }
});

test('where there is no room between two rules, all get new ordinals, once', () => {
  let rules = neighbours(5, 1);
  const sizes: number[] = [];
  for (let i = 0; i < 50; i++) {
    const order = idsOf(rules).toSpliced(2, 0, `new${i}`);
    const places = placesFor(order, rules);
    sizes.push(places.length);
    rules = placed(rules, places);
    expect(idsOf(rules)).toEqual(order);
  }
  expect(sizes[0]).toBe(6);
  expect(sizes.slice(1, 20)).toEqual(Array(19).fill(1));
});
