import { expect, test } from 'vitest';
import { gotifyId, positionOfGotifyId } from './ids.ts';

const first = 'aa65e29e18';
const at = (time: string) => `${(Date.parse(time) / 1000).toString(16).padStart(8, '0')}0badc0de`;

test('ids rise with the position, and name it', () => {
  expect([1, 2, 70_000].map((position) => gotifyId(first, position))).toEqual([1, 2, 70_000]);
  expect(positionOfGotifyId(first, 70_000)).toBe(70_000);
  const epoch = at('2026-12-01T00:00:00Z');
  expect(gotifyId(epoch, 2)).toBe(gotifyId(epoch, 1) + 1);
  expect(positionOfGotifyId(epoch, gotifyId(epoch, 7))).toBe(7);
});

test('ids after a restored backup are greater than all before, although positions begin again', () => {
  const epochs = [first, at('2026-12-01T00:00:00Z'), at('2026-12-01T00:01:00Z'), at('2100-01-01T00:00:00Z')];
  const ids = epochs.map((epoch, i) => gotifyId(epoch, i % 2 === 0 ? 50_000_000 : 1));
  expect(ids.toSorted((a, b) => a - b)).toEqual(ids);
  expect(ids.every((id) => Number.isSafeInteger(id))).toBe(true);
});

test('an id from before a restored backup names no position after it', () => {
  expect(positionOfGotifyId(at('2026-12-01T00:00:00Z'), 70_000)).toBeLessThan(0);
});
