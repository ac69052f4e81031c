import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Card } from '#client/board.ts';
import { cardOf } from '#test/support/card-of.ts';
import { type Area, type Arrangement, arrange as arrangeAll, gap } from './arrange.ts';

/** Of cards that fit. */
function arrange(cards: readonly Card[], area: Area): Arrangement {
  const arranged = arrangeAll(cards, area);
  if (!arranged) throw new Error('they do not fit');
  return arranged;
}

const wall = { width: 1840, height: 940 };
const cards = (...ranks: number[]): Card[] => ranks.map((rank, n) => cardOf({ id: `n${n}`, rank }));
const spans = (ranks: number[], area = wall) =>
  arrange(cards(...ranks), area).places.map(({ row, span }) => [row, span]);

test('one critical, two errors, and others in rows of three', () => {
  const { rows, places } = arrange(cards(50, 40, 40, 30, 30, 10, 20, 20), wall);
  expect(rows).toHaveLength(4);
  expect(places.map(({ span }) => span)).toEqual([12, 6, 6, 4, 4, 4, 4, 4]);
});

test('an odd one among the serious shares its row with the next', () => {
  expect(spans([40, 30, 30])).toEqual([
    [0, 6],
    [0, 6],
    [1, 4],
  ]);
});

test('a card that says how many alarms follow has room for that line', () => {
  const suppresses = { count: 41, alarms: [] };
  const [with41, without] = [true, false].map((follow) => {
    const all = cards(...Array.from({ length: 9 }, () => 30));
    return arrange(follow ? all.map((card) => ({ ...card, suppresses })) : all, wall).rows[0];
  });
  const least = ({ height = 0, zoom = 1 }: { height?: number; zoom?: number } = {}) => height / zoom;
  expect(least(with41)).toBeGreaterThanOrEqual(190 + 44);
  expect(with41?.zoom).toBeLessThanOrEqual(without?.zoom ?? 0);
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

test('cards that do not all fit have no layout, and neither have more than people read as cards', () => {
  expect(arrangeAll(cards(...Array(12).fill(50)), wall)).toBeUndefined();
  expect(arrangeAll(cards(...Array(25).fill(20)), { width: 1840, height: 9_000 })).toBeUndefined();
});

test('there is one column on a narrow screen', () => {
  expect(spans([50, 40, 20], { width: 560, height: 3000 }).map(([, span]) => span)).toEqual([12, 12, 12]);
});

test('whatever comes, each card has a place, in order, and all of it fits', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(10, 20, 30, 40, 50), { maxLength: 30 }),
      fc.integer({ min: 600, max: 1840 }),
      fc.integer({ min: 560, max: 1100 }),
      (ranks, width, height) => {
        const all = cards(...ranks.sort((a, b) => b - a));
        const arranged = arrangeAll(all, { width, height });
        if (!arranged) return;
        const { places, rows } = arranged;
        expect(places.map(({ card }) => card)).toEqual(all);
        const used = rows.reduce((sum, row) => sum + row.height, 0) + gap * Math.max(0, rows.length - 1);
        expect(used).toBeLessThanOrEqual(height);
        for (const { column, span } of places) expect(column + span).toBeLessThanOrEqual(13);
      },
    ),
  );
});
