import { expect, test } from 'vitest';
import { cardOf } from '#test/support/card-of.ts';
import { dwellMs, dwellOrder } from './dwell.ts';

const cards = [
  cardOf({ id: 'new critical', rank: 50 }),
  cardOf({ id: 'new', rank: 20 }),
  cardOf({ id: 'shown', rank: 20 }),
  cardOf({ id: 'shown long', rank: 20 }),
];

test('what came to the screen a moment ago stays before newer ones of its rank, and behind a higher rank', () => {
  const since = new Map([
    ['shown', 10_000],
    ['shown long', 10_000 - dwellMs],
  ]);
  expect(dwellOrder(cards, since, 10_000).map(({ notification }) => notification.id)).toEqual([
    'new critical',
    'shown',
    'new',
    'shown long',
  ]);
});

test('with nothing on the screen the order is what it was', () => {
  expect(dwellOrder(cards, new Map(), 0)).toEqual(cards);
});
