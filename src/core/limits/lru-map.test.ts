import { expect, test } from 'vitest';
import { createLruMap } from './lru-map.ts';

test('what was used least recently goes first', () => {
  const map = createLruMap<string, number>(2);
  map.set('a', 1).set('b', 2);
  map.get('a');
  map.set('c', 3);
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3]);
  expect(map.size).toBe(2);
});

test('entries may weigh more than others; one that weighs more than all may is not kept', () => {
  const map = createLruMap<string, string>(10, (value, key) => key.length + value.length);
  map.set('a', '1234').set('b', '1234').set('c', '1');
  expect([...map.keys()].sort()).toEqual(['b', 'c']);
  map.set('d', '1234567890');
  expect([...map.keys()].sort()).toEqual(['b', 'c']);
  map.set('b', '1234567890');
  expect([...map.keys()]).toEqual(['c']);
});

test('an empty one costs next to nothing, however much it may hold', () => {
  const before = process.memoryUsage();
  const maps = Array.from({ length: 20 }, () => createLruMap<string, number>(100_000));
  const after = process.memoryUsage();
  expect(maps).toHaveLength(20);
  // Room made beforehand would be some 40 MB.
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(4_000_000);
});

test('a hundred thousand keys do not slow it', () => {
  const map = createLruMap<number, { at: number }>(1_000);
  for (let key = 0; key < 100_000; key++) map.set(key, { at: key });
  expect(map.size).toBe(1_000);
  expect(map.get(99_999)).toEqual({ at: 99_999 });
});
