import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Card } from '#client/board.ts';
import { cardOf } from '#test/support/card-of.ts';
import { arrange, dwellMs, dwellOrder, gap, rollUp } from './arrange.ts';

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

test('one card alone is large, and the most serious the largest', () => {
  expect(arrange(cards(20), wall).rows[0]?.zoom).toBe(1.6);
  expect(arrange(cards(50), wall).rows[0]?.zoom).toBe(2.2);
});

test('a flood of the most serious is rolled up as well', () => {
  const { places, hidden } = arrange(cards(...Array(100).fill(50)), wall);
  expect(places.length + hidden.length).toBe(101);
  expect(places.at(-1)?.card).toBeUndefined();
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

test('counts by level, the most serious first, and knows the newest', () => {
  expect(
    rollUp([
      cardOf({ level: 'info', rank: 20, receivedAt: '2026-11-20T10:00:00.000Z' }),
      cardOf({ level: 'warning', rank: 30, receivedAt: '2026-11-20T10:00:09.000Z' }),
      cardOf({ level: 'info', rank: 20, receivedAt: '2026-11-20T10:00:05.000Z' }),
    ]),
  ).toEqual({
    count: 3,
    hosts: undefined,
    levels: [
      { level: 'warning', count: 1 },
      { level: 'info', count: 2 },
    ],
    newestAt: Date.parse('2026-11-20T10:00:09.000Z'),
    rank: 30,
  });
});

test.each([
  [['web-1', 'web-22'], 'web-*'],
  [['web-1', 'web-1'], 'web-1'],
  [['web-1', 'db-1'], undefined],
  [['a1', 'a2'], undefined],
  [['web-1', null], undefined],
  [[null, 'web-1'], undefined],
])('hosts %j are summarized as %s', (hosts, text) => {
  expect(rollUp(hosts.map((host) => cardOf({ host }))).hosts).toBe(text);
});
