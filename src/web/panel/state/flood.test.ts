import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Card } from '#client/board.ts';
import type { GroupField } from '#contract/history/similar.ts';
import { cardOf } from '#test/support/card-of.ts';
import { gap } from './arrange.ts';
import { joinedBy } from './card-sounds.ts';
import { arrangeFlood, type FloodLayout, rowGap } from './flood.ts';
import { type FloodItem, headingOf, inOrder, isUrgent, itemsOf, titlesOf } from './flood-items.ts';

const wall = { width: 1840, height: 940 };
/** 1080 × 1920, at the least size of its text. */
const portrait = { width: 1463, height: 2602 };
const none: readonly FloodItem[] = [];
const acknowledged = { at: '2026-11-20T10:00:00.000Z', by: 'Ada', note: null, until: null };

/** Titles of words alone, so that no two are similar. */
const word = (n: number): string =>
  (n < 26 ? '' : word(Math.floor(n / 26) - 1)) + 'abcdefghijklmnopqrstuvwxyz'[n % 26];
const different = (count: number, rank = 40): Card[] =>
  Array.from({ length: count }, (_, n) =>
    cardOf({ id: `n${n}`, title: `alarm ${word(n)}`, rank, host: `h-${n}` }),
  );
const similar = (count: number, title: string, over: object = {}): Card[] =>
  Array.from({ length: count }, (_, n) =>
    cardOf({ id: `${title} ${n}`, title: `${title} ${n}`, host: `edge-${n}`, rank: 40, ...over }),
  );

const shownOf = ({ leads, rows }: FloodLayout) => [...leads.map(({ item }) => item), ...rows];
const usedHeight = ({ leadHeights, rows, columns, rowHeight, hasMore }: FloodLayout) => {
  const lines = Math.ceil((rows.length + (hasMore ? 1 : 0)) / columns);
  const leads = leadHeights.reduce((sum, height) => sum + height + gap, 0);
  return leads + lines * (rowHeight + rowGap) - (lines > 0 ? rowGap : gap);
};

test('similar cards are one item, at the level of the first of them', () => {
  const cards = [...different(1, 50), ...similar(50, 'BGP peer lost'), ...different(2, 30).slice(1)];
  const items = itemsOf(cards, none);
  expect(items.map((item) => item.cards.length)).toEqual([1, 50, 1]);
  expect(items[1]?.id).toBe('kind bgp peer lost #');
});

test('two similar cards are two items, and stay one item when they were one before', () => {
  const three = itemsOf(similar(3, 'BGP peer lost'), none);
  expect(three).toHaveLength(1);
  const two = similar(2, 'BGP peer lost');
  expect([itemsOf(two, none).length, itemsOf(two, three).length]).toEqual([2, 1]);
  const one = itemsOf(two.slice(1), three);
  expect([one.length, itemsOf(two, one).length]).toEqual([1, 2]);
});

const numbered = (positions: readonly number[], title: string, over: object = {}) =>
  positions.map((position) =>
    cardOf({ id: `${title} ${position}`, title: `${title} ${position}`, rank: 40, position, ...over }),
  );
const namesOf = (items: readonly FloodItem[]) =>
  items.map(({ cards }) => [cards[0].notification.title.split(' ')[0], cards.length]);

test('a new kind comes first in its level, and one more of a kind moves nothing', () => {
  const first = itemsOf([...numbered([9, 5, 2], 'Disk'), ...numbered([8, 7, 3], 'Link')], none);
  expect(namesOf(first)).toEqual([
    ['Link', 3],
    ['Disk', 3],
  ]);
  const more = [...numbered([12], 'Fan'), ...numbered([11, 9, 5], 'Disk'), ...numbered([10, 8, 7], 'Link')];
  expect(namesOf(itemsOf(more, first))).toEqual([
    ['Fan', 1],
    ['Link', 3],
    ['Disk', 3],
  ]);
});

test('a kind keeps its place when its oldest alarm ends, and leaves it only with its level', () => {
  const link = numbered([4], 'Link');
  const first = itemsOf([...numbered([9, 8, 1], 'Disk'), ...link], none);
  expect(namesOf(itemsOf([...numbered([9, 8], 'Disk'), ...link], first))).toEqual([
    ['Link', 1],
    ['Disk', 2],
  ]);
  const raised = [...numbered([10], 'Disk', { rank: 50 }), ...numbered([9, 8], 'Disk'), ...link];
  expect(namesOf(itemsOf(raised, first))).toEqual([
    ['Disk', 3],
    ['Link', 1],
  ]);
});

test('a group has the level of its worst alarm, also if somebody takes care of that one', () => {
  const cards = inOrder([
    cardOf({ id: 'c', title: 'Disk 1', level: 'critical', rank: 50, acknowledged }),
    ...numbered([4, 3], 'Disk', { level: 'error' }),
    ...numbered([5], 'Link', { level: 'error' }),
  ]);
  const items = itemsOf(cards, none);
  expect(items.map(({ level, rank, cards: [first] }) => [level, rank, first.notification.title])).toEqual([
    ['critical', 50, 'Disk 4'],
    ['error', 40, 'Link 5'],
  ]);
  const open = itemsOf(inOrder(numbered([2, 1], 'Fan', { level: 'critical', rank: 50 })), none, 2);
  expect([...items, ...open].map(isUrgent)).toEqual([false, false, true]);
});

const byCluster = (group: GroupField[], titles: readonly string[], cluster = 'eu-1'): Card[] =>
  titles.map((title, n) =>
    cardOf({ id: `${cluster} ${n}`, title, rank: 40, host: `h-${n}`, labels: { cluster }, group }),
  );

test('alarms that a rule groups are one item, which says what they share, and their titles if these differ', () => {
  const titles = ['Disk 91 % full', 'Fan stopped', 'Disk 7 % full'];
  const cards = [...byCluster(['label:cluster'], titles), ...byCluster(['label:cluster'], titles, 'us-2')];
  const items = itemsOf(cards, none);
  expect(items.map((item) => [item.cards.length, headingOf(item), titlesOf(item)])).toEqual([
    [3, 'cluster=eu-1', ['Disk … full', 'Fan stopped']],
    [3, 'cluster=us-2', ['Disk … full', 'Fan stopped']],
  ]);
});

test('a group with one title says it before what its rule groups by', () => {
  const titles = ['Disk 91 % full', 'Disk 7 % full', 'Disk 8 % full'];
  const headings = [['label:cluster'], ['title'], ['level', 'title', 'key']].map((group) => {
    const [item] = itemsOf(byCluster(group as GroupField[], titles), none);
    return item && headingOf(item, (level) => level.toUpperCase());
  });
  expect(headings).toEqual(['Disk … full · cluster=eu-1', 'Disk … full', 'Disk … full · INFO']);
});

test('the title of a card is read once, however often the screen is drawn', () => {
  let reads = 0;
  const cards = similar(50, 'BGP peer lost').map((card) => {
    const { title } = card.notification;
    const notification = { ...card.notification };
    const get = () => {
      reads += 1;
      return title;
    };
    Object.defineProperty(notification, 'title', { get });
    return { ...card, notification };
  });
  const drawn = [1, 2, 3].map(() => itemsOf(cards, none).length);
  const joins = joinedBy(cards.slice(0, 1), cards);
  expect([drawn, cards.map(joins).includes(false), reads]).toEqual([[1, 1, 1], false, 50]);
});

test('what somebody takes care of comes last, whatever its level', () => {
  const cards = [
    cardOf({ id: 'a', rank: 50, acknowledged }),
    cardOf({ id: 'b', rank: 50 }),
    cardOf({ id: 'c' }),
  ];
  expect(inOrder(cards).map(({ notification }) => notification.id)).toEqual(['b', 'c', 'a']);
});

test('of 60 different alarms a wall shows nearly all, and never less than one that is upright', () => {
  const items = itemsOf([...different(3, 50), ...different(60).slice(3)], none);
  const [wide, high] = [arrangeFlood(items, wall), arrangeFlood(items, portrait)];
  expect(shownOf(wide).length).toBeGreaterThanOrEqual(40);
  expect(shownOf(wide).length).toBeGreaterThanOrEqual(shownOf(high).length);
  expect(wide.leads.map(({ item }) => item.cards[0].notification.rank)).toEqual([50, 50, 50]);
});

const longNamed = (count: number, host = (n: number) => `host-sierra-${10 + n}.example.net`): Card[] =>
  Array.from({ length: count }, (_, n) =>
    cardOf({
      ...{ id: `n${n}`, rank: 40, host: host(n) },
      title: `Queue ${word(n + 26)} is not read any more`.padEnd(30, '.'),
    }),
  );

test.each([24, 30, 60, 200])(
  'of %i alarms with long titles and hosts, at least 24 are complete on a wall',
  (count) => {
    const { leads, rows, columns, rowText, hidden } = arrangeFlood(itemsOf(longNamed(count), none), wall);
    expect(leads.length + rows.length).toBeGreaterThanOrEqual(24);
    expect(columns).toBe(2);
    expect(rowText).toBeGreaterThanOrEqual(20);
    expect((26 * 0.6 + 30 * 0.54 + 4.2) * rowText).toBeLessThanOrEqual((wall.width - 14) / 2 - 84);
    expect(leads.length + rows.length + hidden.length).toBe(count);
  },
);

test.each([39, 42, 47, 80, 253])('a host of %i characters leaves room for the title', (chars) => {
  const cards = longNamed(60, (n) => `${n}`.padEnd(chars, 'x'));
  const { columns, rowText, hostChars } = arrangeFlood(itemsOf(cards, none), wall);
  const inner = (wall.width + 14) / columns - 14 - 84;
  expect(hostChars * 0.6 * rowText).toBeLessThanOrEqual(inner * 0.62);
  expect(hostChars).toBeGreaterThan(15);
});

test('an open critical alarm comes before a group whose critical one somebody takes care of', () => {
  const group = [
    cardOf({ id: 'c', title: 'Disk 1', level: 'critical', rank: 50, position: 9, acknowledged }),
    ...numbered([12, 11, 10], 'Disk', { level: 'warning', rank: 30 }),
  ];
  const cards = inOrder([...numbered([1], 'Fan', { level: 'critical', rank: 50 }), ...group]);
  expect(namesOf(itemsOf(cards, none))).toEqual([
    ['Fan', 1],
    ['Disk', 4],
  ]);
});

test('the text of rows grows no more than is allowed', () => {
  const items = itemsOf(different(36), none);
  const { rowText } = arrangeFlood(items, wall);
  expect(arrangeFlood(items, wall, { maxText: rowText - 4 }).rowText).toBe(rowText - 4);
});

/** The areas of screens of 1080p, 4K, 2560 × 1080 and 4:3, wide and upright, at their scale. */
test.each([
  [1840, 940, 1463, 2602],
  [1840, 940, 1840, 3273],
  [2480, 940, 1463, 3517],
  [1520, 1060, 1463, 2002],
  [1520, 760, 1520, 2704],
])('a screen of %i × %i shows at least as many as one of %i × %i', (width, height, narrow, high) => {
  for (const criticals of [0, 1, 3, 10]) {
    const items = itemsOf([...different(criticals, 50), ...different(150).slice(criticals)], none);
    const [wide, upright] = [
      arrangeFlood(items, { width, height }),
      arrangeFlood(items, { width: narrow, height: high }),
    ];
    expect([criticals, shownOf(wide).length >= shownOf(upright).length]).toEqual([criticals, true]);
  }
});

test('of 500 alarms of 20 kinds every kind is shown', () => {
  const cards = Array.from({ length: 20 }, (_, n) => similar(25, `kind ${word(n)}`)).flat();
  const layout = arrangeFlood(itemsOf(cards, none), wall);
  expect([shownOf(layout).length, layout.hidden.length]).toEqual([20, 0]);
});

test('few items are cards, more are rows as large as there is room for', () => {
  const sizes = [4, 12, 24, 40].map((count) => arrangeFlood(itemsOf(different(count), none), wall));
  expect(sizes[0]?.leads).toHaveLength(4);
  expect(sizes.map(({ rows }) => rows.length)).toEqual(
    [...sizes.map(({ rows }) => rows.length)].sort((a, b) => a - b),
  );
  const heights = sizes.flatMap(({ rows, rowHeight }) => (rows.length > 0 ? rowHeight : []));
  expect(heights).toEqual([...heights].sort((a, b) => b - a));
});

test('rows become no cards beyond the most that are allowed, except urgent ones', () => {
  const leadsOf = (criticals: number, count: number, maxLeads: number) => {
    const items = itemsOf([...different(criticals, 50), ...different(count).slice(criticals)], none);
    return arrangeFlood(items, wall, { maxLeads }).leads.length;
  };
  expect([leadsOf(0, 20, 9), leadsOf(0, 20, 3), leadsOf(2, 20, 0), leadsOf(3, 20, 0)]).toEqual([6, 3, 2, 3]);
});

test('there is a third column only if rows in two have smaller text', () => {
  const layouts = [20, 23, 25, 27, 36, 45].map((count) =>
    arrangeFlood(itemsOf(different(count), none), wall),
  );
  const texts = layouts.map(({ rowText }) => rowText);
  expect(texts).toEqual(texts.toSorted((a, b) => b - a));
  expect(layouts.map(({ columns }) => columns)).toEqual([2, 2, 2, 2, 3, 3]);
});

test.each([1, 2, 3, 4, 7, 9, 20])(
  '%i kinds fill the screen, wide or upright, with text no smaller than a row',
  (count) => {
    const cards = Array.from({ length: count }, (_, n) => similar(20, `BGP peer ${word(n)} lost`)).flat();
    for (const area of [wall, portrait]) {
      const layout = arrangeFlood(itemsOf(cards, none), area);
      expect(usedHeight(layout)).toBeGreaterThan(area.height * 0.9);
      for (const { zoom } of layout.leads) expect(zoom).toBeGreaterThanOrEqual(count > 9 ? 0.8 : 1.15);
    }
  },
);

test('the text of a lead is as small as its title demands', () => {
  const zoomOf = (title: string) => {
    const cards = [cardOf({ id: 'a', rank: 50, title }), ...different(30)];
    return arrangeFlood(itemsOf(cards, none), wall).leads[0]?.zoom ?? 0;
  };
  expect(zoomOf('Service lambda gamma does not answer')).toBeLessThan(zoomOf('Fire'));
});

test('a limit of the panel is the most items, and the rest is counted', () => {
  const layout = arrangeFlood(itemsOf(different(30), none), wall, { maxItems: 5 });
  expect([shownOf(layout).length, layout.hidden.length]).toEqual([5, 25]);
});

test('a line says that there are more than the page has, also if all of these are shown', () => {
  const items = itemsOf(similar(20, 'BGP peer lost'), none);
  const layout = arrangeFlood(items, wall, { isPartial: true });
  expect([layout.hasMore, layout.hidden.length]).toEqual([true, 0]);
  expect(usedHeight(layout)).toBeLessThanOrEqual(wall.height);
  expect(arrangeFlood(items, wall).hasMore).toBe(false);
});

test('a page that scrolls shows everything', () => {
  const layout = arrangeFlood(itemsOf(different(300), none), {
    width: 500,
    height: Number.POSITIVE_INFINITY,
  });
  expect([shownOf(layout).length, layout.columns]).toEqual([300, 1]);
  expect(layout.leadHeights.every(Number.isFinite) && Number.isFinite(layout.rowHeight)).toBe(true);
});

test('whatever comes, each card is in one item, in order, and all that is shown fits', () => {
  const card = fc.record({
    rank: fc.constantFrom(20, 30, 40, 50),
    kind: fc.nat(70),
    isDone: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(card, { minLength: 1, maxLength: 150 }),
      fc.integer({ min: 600, max: 3000 }),
      fc.integer({ min: 560, max: 2700 }),
      (given, width, height) => {
        const cards = given
          .sort((a, b) => b.rank - a.rank)
          .map(({ rank, kind, isDone }, n) =>
            cardOf({
              ...{ id: `n${n}`, title: `${word(kind)} ${n}`, rank },
              acknowledged: isDone ? acknowledged : null,
            }),
          );
        const items = itemsOf(cards, none);
        expect(items.flatMap((item) => item.cards).length).toBe(cards.length);
        const layout = arrangeFlood(items, { width, height });
        expect([...shownOf(layout), ...layout.hidden]).toEqual(items);
        expect(usedHeight(layout)).toBeLessThanOrEqual(height);
        for (const { column, span } of layout.leads) expect(column + span).toBeLessThanOrEqual(13);
      },
    ),
  );
});
