import { expect, test } from 'vitest';
import type { Alarm } from '#contract/history/alarm.ts';
import { testAlarm } from '#test/support/alarm.ts';
import { AlarmList, mostAlarms } from './alarm-list.ts';

/** A list of what `server` has, which a test changes. */
function listOf(server: { alarms: readonly Alarm[]; known?: readonly Alarm[] }, isOpenFirst = false) {
  const limits: number[] = [];
  const list = new AlarmList(
    async ({ cursor, limit }) => {
      limits.push(limit);
      const from = Number(cursor ?? 0);
      const next = from + limit;
      const { length: open } = server.alarms;
      return {
        alarms: server.alarms.slice(from, next),
        counts: { open, acknowledged: 0, shelved: 0, suppressed: 0 },
        nextCursor: next < open ? String(next) : null,
      };
    },
    async (id) => server.known?.find((each) => each.id === id),
    isOpenFirst,
  );
  const titles = () => list.rows.map(({ alarm }) => alarm.title);
  return { list, titles, limits };
}

const alarms = (...titles: string[]) => titles.map((title) => testAlarm({ title }));

test('a list that nobody reads shows what is new and drops what has ended', async () => {
  const server = { alarms: alarms('a', 'b') };
  const { list, titles } = listOf(server);
  await list.refresh();
  server.alarms = [...alarms('c'), ...server.alarms.slice(1)];
  await list.refresh();
  expect(titles()).toEqual(['c', 'b']);
  expect(list.waiting).toBe(0);
});

test('what is open may come before what is acknowledged, and nothing moves while the mouse does', async () => {
  const acknowledged = { at: '2026-11-20T00:00:00.000Z', by: 'Ada', note: null, until: null };
  const rows = [
    testAlarm({ title: 'a', rank: 50, acknowledged }),
    testAlarm({ title: 'b', rank: 50 }),
    testAlarm({ title: 'c', rank: 40 }),
    testAlarm({ title: 'd', rank: 40, acknowledged }),
  ];
  const server = { alarms: rows as readonly Alarm[] };
  const { list, titles } = listOf(server, true);
  await list.refresh();
  expect(titles()).toEqual(['b', 'c', 'a', 'd']);
  list.isHeld = true;
  server.alarms = rows.map((each) => (each.title === 'b' ? { ...each, acknowledged } : each));
  await list.refresh();
  expect(titles()).toEqual(['b', 'c', 'a', 'd']);
  expect(list.rows.some(({ hasLeft }) => hasLeft)).toBe(false);
  list.isHeld = false;
  list.insertWaitingWhenFree();
  expect(titles()).toEqual(['c', 'a', 'b', 'd']);
});

test.each([
  ['the mouse moves over it', (list: AlarmList) => Object.assign(list, { isHeld: true })],
  ['it is scrolled down', (list: AlarmList) => Object.assign(list, { scrollTop: 100 })],
  ['something is selected', (list: AlarmList) => list.select(new Set(['another']))],
])('while %s, rows change in place, new ones wait, and what has left is marked', async (_, hold) => {
  const [a, b] = [testAlarm({ title: 'a' }), testAlarm({ title: 'b' })];
  const server = { alarms: [a, b] as Alarm[] };
  const { list, titles } = listOf(server);
  await list.refresh();
  hold(list);
  server.alarms = [testAlarm({ title: 'new' }), { ...b, count: 7 }];
  await list.refresh();
  expect(titles()).toEqual(['a', 'b']);
  expect(list.waiting).toBe(1);
  expect(list.rows).toMatchObject([
    { hasLeft: true, alarm: { state: 'ended' } },
    { hasLeft: false, alarm: { count: 7 } },
  ]);
  list.insertWaiting();
  expect(titles()).toEqual(['new', 'b']);
});

test('what has left shows its state', async () => {
  const [a, b] = [testAlarm({ title: 'a' }), testAlarm({ title: 'b' })];
  const acknowledged = { at: a.since, by: 'Ada', note: null, until: null };
  const server = { alarms: [a, b], known: [{ ...a, state: 'acknowledged' as const, acknowledged }] };
  const { list } = listOf(server);
  await list.refresh();
  list.isHeld = true;
  server.alarms = [b];
  await list.refresh();
  expect(list.rows[0]).toMatchObject({ hasLeft: true, alarm: { acknowledged: { by: 'Ada' } } });
});

test('what the server still finds in the same state, but lists no more, has ended', async () => {
  const fan = testAlarm({ title: 'Fan failed', key: 'fan' });
  const server = { alarms: [fan], known: [{ ...fan, title: 'Fan works', level: 'success' }] };
  const { list } = listOf(server);
  await list.refresh();
  list.isHeld = true;
  server.alarms = [];
  await list.refresh();
  expect(list.rows).toMatchObject([{ alarm: { title: 'Fan failed', state: 'ended' } }]);
});

test('a selected alarm that ended stays until the selection ends', async () => {
  const [a, b] = [testAlarm({ title: 'a' }), testAlarm({ title: 'b' })];
  const server = { alarms: [a, b] };
  const { list, titles } = listOf(server);
  await list.refresh();
  list.select(new Set([a.id]));
  server.alarms = [b];
  await list.refresh();
  list.insertWaiting();
  expect(titles()).toEqual(['a', 'b']);
  list.select(new Set());
  expect(titles()).toEqual(['b']);
});

test('a repeat with the same key is the same row', async () => {
  const first = testAlarm({ key: 'disk' });
  const server = { alarms: [first] };
  const { list } = listOf(server);
  await list.refresh();
  const { key } = list.rows[0] ?? {};
  server.alarms = [{ ...first, id: 'repeat' }];
  await list.refresh();
  expect(list.rows).toMatchObject([{ key, alarm: { id: 'repeat' } }]);
});

test('no more than the most are loaded, page by page, and the list says that there are more', async () => {
  const { list, limits } = listOf({ alarms: Array.from({ length: mostAlarms + 34 }, () => testAlarm()) });
  await list.refresh();
  expect(list.rows).toHaveLength(mostAlarms);
  expect(Math.max(...limits)).toBe(500);
  expect(list).toMatchObject({ isWhole: false, counts: { open: mostAlarms + 34 } });
});

test('a failure keeps the rows and says how old they are', async () => {
  const server = { alarms: alarms('a') };
  const { list, titles } = listOf(server);
  await list.refresh();
  Object.defineProperty(server, 'alarms', {
    get() {
      throw new Error('offline');
    },
  });
  await list.refresh();
  expect(titles()).toEqual(['a']);
  expect(list.staleSince).toBeTypeOf('number');
});
