import { expect, test } from 'vitest';
import { pixelShift } from './screen-care.ts';

test('the picture wanders by a few pixels, and comes back to its place', () => {
  const places = Array.from({ length: 9 }, (_, n) => pixelShift(n * 180_000));
  expect(new Set(places.map(String)).size).toBe(9);
  for (const [x, y] of places) expect(Math.max(Math.abs(x), Math.abs(y))).toBeLessThanOrEqual(4);
  expect(pixelShift(9 * 180_000)).toEqual([0, 0]);
  expect(pixelShift(179_999)).toEqual([0, 0]);
});
