import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Card } from '#client/board.ts';
import { cardOf } from '#test/support/card-of.ts';
import { arrange, dwellMs, dwellOrder, gap } from './arrange.ts';

const wall = { width: 1840, height: 940 };
const cards = (...ranks: number[]): Card[] => ranks.map((rank, n) => cardOf({ id: `n${n}`, rank }));
const spans = (ranks: number[], area = wall) =>
  arrange(cards(...ranks), area).places.map(({ row, span }) => [row, span]);

test('the picture of the mock-up: one critical, two errors, four others and the roll-up', () => {
  const { rows, hidden, places } = arrange(cards(50, 40, 40, 30, 30, 10, 20, ...Array(14).fill(20)), wall);
  expect(rows).toHaveLength(4);
  expect(places.map(({ span }) => span)).toEqual([12, 6, 6, 4, 4, 4, 4, 4, 4]);
  expect(places.at(-1)?.card).toBeUndefined();
  expect(hidden).toHaveLength(13);
});

test('an odd one among the serious shares its row with the next', () => {
  expect(spans([40, 30, 30])).toEqual([
    [0, 6],
    [0, 6],
    [1, 4],
  ]);
});

test('a long title has room for two lines and its message', () => {
  const long = cardOf({ rank: 50, title: 'A title that is rather long for a card of half the width' });
  const [alone, beside] = [[long], [long, cardOf({ rank: 50 }), ...cards(40, 40, 30)]].map(
    (all) => arrange(all, wall).rows[0],
  );
  expect(alone?.height).toBeGreaterThanOrEqual(316 * (alone?.zoom ?? 0));
  expect(beside?.height).toBeGreaterThanOrEqual(316 * (beside?.zoom ?? 0));
});

test('a row grows with its texts up to the height of the screen, and one very long text takes nothing from the others', () => {
  const title = 'A title of two hundred and fifty letters '.repeat(6);
  const message = 'A message of some hundred letters that goes on and on. '.repeat(8);
  const heightOf = (...all: Card[]) => arrange(all, wall).rows.map(({ height }) => height);
  const [short = 0] = heightOf(cardOf());
  const [long = 0] = heightOf(cardOf({ title, message }));
  expect(long).toBeGreaterThan(1.5 * short);
  expect(heightOf(cardOf({ message: message.repeat(20) }))).toEqual([wall.height]);
  const [endless = 0, other = 0] = heightOf(
    cardOf({ rank: 40, message: message.repeat(20) }),
    cardOf({ rank: 40 }),
    cardOf({ id: 'long', rank: 20, title, message: 'short' }),
  );
  expect(endless + gap + other).toBeLessThanOrEqual(wall.height);
  expect(other).toBeGreaterThan(short);
});

test('text is as large as complete titles allow, on critical cards first', () => {
  const title = 'A title of two hundred and fifty letters '.repeat(6);
  const [only] = arrange([cardOf({ rank: 50, title })], wall).rows;
  expect(only?.zoom).toBeLessThan(2.2);
  expect(only?.zoom).toBeGreaterThan(1);
  const five = [...cards(40, 40, 30, 20), cardOf({ id: 'long', rank: 20, title })];
  expect(arrange(five, wall).zoom).toBeLessThan(arrange(cards(40, 40, 30, 20, 20), wall).zoom);
});

test('one card alone is large, and the most serious the largest', () => {
  expect(arrange(cards(20), wall).rows[0]?.zoom).toBe(1.6);
  expect(arrange(cards(50), wall).rows[0]?.zoom).toBe(2.2);
});

test('a flood of the most serious is rolled up as well', () => {
  const { places, hidden } = arrange(cards(...Array(100).fill(50)), wall);
  expect(places.length + hidden.length).toBe(101);
  expect(places.at(-1)?.card).toBeUndefined();
});

test('no critical card is hidden while more columns or smaller text give it room', () => {
  const long = cardOf({ id: 'long', rank: 50, title: 'A title of two hundred and fifty letters '.repeat(6) });
  const two = cardOf({ id: 'two', rank: 50, title: 'Power lost in rack 4, on battery' });
  const others = cards(...Array(51).fill(40), ...Array(240).fill(20));
  const rowsOf = (critical: number) =>
    arrange([long, two, ...cards(...Array(critical - 2).fill(50)), ...others], wall);
  for (const critical of [5, 6, 8, 11]) {
    const { hidden, rows } = rowsOf(critical);
    expect([critical, hidden[0]?.notification.rank]).not.toEqual([critical, 50]);
    const used = rows.reduce((sum, row) => sum + row.height, 0) + gap * (rows.length - 1);
    expect(used).toBeLessThanOrEqual(wall.height);
  }
  expect(rowsOf(5).rows[0]?.zoom).toBe(1);
});

test('cards that the limit of the panel hides change nothing, and a roll-up alone in its row takes all of it', () => {
  const flood = cards(...Array(30).fill(50));
  expect(arrange(flood, wall, { maxCards: 4 }).places.map(({ span }) => span)).toEqual([6, 6, 6, 6, 12]);
});

test('there is one column on a narrow screen', () => {
  expect(spans([50, 40, 20], { width: 560, height: 3000 }).map(([, span]) => span)).toEqual([12, 12, 12]);
});

test('whatever comes, each card is shown once or rolled up, in order, and all of it fits', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(10, 20, 30, 40, 50), { maxLength: 90 }),
      fc.integer({ min: 600, max: 1840 }),
      fc.integer({ min: 560, max: 1100 }),
      (ranks, width, height) => {
        const all = cards(...ranks.sort((a, b) => b - a));
        const { places, hidden, rows } = arrange(all, { width, height });
        const shown = places.flatMap(({ card }) => (card ? [card] : []));
        expect([...shown, ...hidden]).toEqual(all);
        expect(places.some(({ card }) => card === undefined)).toBe(hidden.length > 0);
        const used = rows.reduce((sum, row) => sum + row.height, 0) + gap * Math.max(0, rows.length - 1);
        expect(used).toBeLessThanOrEqual(height);
        for (const { column, span } of places) expect(column + span).toBeLessThanOrEqual(13);
      },
    ),
  );
});

const mixed = [
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
  expect(dwellOrder(mixed, since, 10_000).map(({ notification }) => notification.id)).toEqual([
    'new critical',
    'shown',
    'new',
    'shown long',
  ]);
});

test('with nothing on the screen the order is what it was', () => {
  expect(dwellOrder(mixed, new Map(), 0)).toEqual(mixed);
});
