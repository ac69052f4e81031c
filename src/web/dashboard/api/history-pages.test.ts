import { expect, test } from 'vitest';
import type { HistoryNotification, HistoryPage } from '#contract/history/notification.ts';
import { HistoryPages } from './history-pages.ts';

const row = (position: number, message = '', state: HistoryNotification['state'] = 'expired') =>
  ({ id: `n${position}`, position, message, state }) as HistoryNotification;

/** A log that grows, read by keyset as the server does. */
function log(size: number, message = '') {
  const asked: (string | undefined)[] = [];
  const state = { head: size, fails: false, live: 0 };
  const load = async (cursor: string | undefined): Promise<HistoryPage> => {
    asked.push(cursor);
    if (state.fails) throw new Error('no answer');
    const from = cursor === undefined ? state.head : Number(cursor) - 1;
    const notifications = Array.from({ length: Math.min(100, from) }, (_, i) =>
      row(from - i, message, from - i === state.live ? 'live' : 'expired'),
    );
    const last = notifications.at(-1)?.position ?? 1;
    return { notifications, nextCursor: last > 1 ? String(last) : null, searchedTo: null };
  };
  return { pages: new HistoryPages(load), asked, state };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
const positions = (pages: HistoryPages, count: number) =>
  Array.from({ length: count }, (_, i) => pages.row(i)?.position);

test('pages are read as one scrolls, to the end, each row in its place', async () => {
  const { pages } = log(250);
  await pages.start();
  expect([pages.count, pages.isWhole]).toEqual([100, false]);
  for (let i = 0; i < 4; i++) {
    pages.want(pages.count - 10, pages.count - 1);
    await settle();
  }
  expect([pages.count, pages.isWhole, pages.row(249)?.position]).toEqual([250, true, 1]);
});

test('a search that ran out of time goes on only when it is asked to', async () => {
  const answers: HistoryPage[] = [
    { notifications: [], nextCursor: 'a', searchedTo: '2026-11-02T10:00:00.000Z' },
    { notifications: [row(5)], nextCursor: 'b', searchedTo: '2026-11-01T10:00:00.000Z' },
    { notifications: [row(2)], nextCursor: null, searchedTo: null },
  ];
  const asked: (string | undefined)[] = [];
  const pages = new HistoryPages(async (cursor) => {
    asked.push(cursor);
    return answers[asked.length - 1] as HistoryPage;
  });
  await pages.start();
  pages.want(0, 0);
  await settle();
  expect([pages.count, pages.isWhole, pages.searchedTo, asked]).toEqual([
    0,
    false,
    '2026-11-02T10:00:00.000Z',
    [undefined],
  ]);
  await pages.extend();
  pages.want(0, 0);
  expect([positions(pages, 1), pages.searchedTo]).toEqual([[5], '2026-11-01T10:00:00.000Z']);
  await pages.extend();
  expect([positions(pages, 2), pages.searchedTo, pages.isWhole]).toEqual([[5, 2], null, true]);
  expect(asked).toEqual([undefined, 'a', 'b']);
});

test('what arrives waits or comes in, once, whether the tail or a reading brings it', async () => {
  const { pages, state } = log(10);
  await pages.start();
  pages.isHeld = true;
  pages.add([row(11), row(12)]);
  expect([pages.waiting, pages.count]).toEqual([2, 10]);
  state.head = 13;
  await pages.refresh();
  expect([pages.waiting, pages.count]).toEqual([3, 10]);
  pages.isHeld = false;
  pages.add([row(12), row(13)]);
  expect([pages.waiting, positions(pages, 4)]).toEqual([0, [13, 12, 11, 10]]);
});

test('what a reading brings waits if somebody begins to read the list meanwhile', async () => {
  const { pages, state } = log(10);
  await pages.start();
  state.head = 11;
  const read = pages.refresh();
  pages.isHeld = true;
  await read;
  expect([pages.waiting, pages.count]).toEqual([1, 10]);
});

test('a break that missed more than a page begins anew at the head rather than with a hole', async () => {
  const { pages, state } = log(300);
  await pages.start();
  state.head = 900;
  await pages.refresh();
  await settle();
  expect(positions(pages, 3)).toEqual([900, 899, 898]);
  expect(pages.count).toBe(100);
  state.head = 1500;
  pages.isHeld = true;
  await pages.refresh();
  expect([pages.row(0)?.position, pages.waitingMore]).toEqual([900, true]);
  pages.insertWaiting();
  await settle();
  expect([pages.row(0)?.position, pages.waiting]).toEqual([1500, 0]);
});

test('a tail of days holds a bounded number of rows', async () => {
  const { pages, state } = log(100);
  await pages.start();
  for (let n = 0; n < 50; n++) {
    const fresh = Array.from({ length: 100 }, (_, i) => row(state.head + 1 + i));
    state.head += 100;
    pages.isHeld = n % 2 === 1;
    pages.add(fresh);
    await settle();
    expect(pages.count + pages.waiting).toBeLessThanOrEqual(2_200);
  }
  pages.insertWaiting();
  await settle();
  expect(pages.row(0)?.position).toBe(state.head);
});

test('a row keeps the beginning of its message alone, whichever way it came', async () => {
  const long = 'x'.repeat(16_384);
  const { pages, state } = log(100, long);
  await pages.start();
  pages.add([row(101, long)]);
  state.head = 102;
  await pages.refresh();
  pages.update(row(50, long));
  const rows = Array.from({ length: pages.count }, (_, i) => pages.row(i));
  expect(rows.length).toBe(102);
  expect(Math.max(...rows.map((each) => each?.message.length ?? 0))).toBe(500);
});

test('a reading that failed leaves what was there, and can be tried again', async () => {
  const { pages, state } = log(250);
  await pages.start();
  state.fails = true;
  await pages.extend();
  expect([pages.count, String(pages.error)]).toEqual([100, 'Error: no answer']);
  state.fails = false;
  await pages.extend();
  expect([pages.count, pages.error]).toEqual([200, undefined]);
});

test('rows in sight that are live are read again until they are not', async () => {
  const { pages, asked, state } = log(1_000);
  state.live = 880;
  await pages.start();
  await pages.extend();
  await pages.renew();
  expect(asked).toEqual([undefined, '901']);
  pages.want(100, 130);
  state.live = 0;
  await pages.renew();
  expect([asked.slice(2), pages.row(120)?.state]).toEqual([['901'], 'expired']);
  await pages.renew();
  expect(asked.length).toBe(3);
});

test('a first page that took long does not slow down the list for ever', async () => {
  let waitMs = 60;
  const pages = new HistoryPages(async () => {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return { notifications: [row(1)], nextCursor: null, searchedTo: null };
  });
  await pages.start();
  const [first, shown] = [pages.lastTookMs, pages.tookMs];
  waitMs = 0;
  await pages.refresh();
  expect(first).toBeGreaterThan(40);
  expect(pages.lastTookMs).toBeLessThan(first);
  expect(pages.tookMs).toBe(shown);
});

test('a list that cannot be read again says when it was read', async () => {
  const { pages, state } = log(50);
  await pages.start();
  expect(pages.staleSince).toBeUndefined();
  const readBefore = Date.now();
  state.fails = true;
  await pages.refresh();
  expect([pages.count, pages.staleSince]).toEqual([50, expect.toSatisfy((at: number) => at <= readBefore)]);
  state.fails = false;
  await pages.refresh();
  expect(pages.staleSince).toBeUndefined();
});
