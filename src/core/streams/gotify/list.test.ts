import { expect, test } from 'vitest';
import { ModelLog, notification } from '#test/support/model-log.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import type { HistoryRecord, Notification, Return } from '../../log/log.ts';
import type { ReceiptRow } from '../../log/receipts.ts';
import { readMessages } from './list.ts';

const elsewhere = routeTo({ ids: ['wall'] });
const panel = { id: 'phone', tags: [] };

function world() {
  const log = new ModelLog();
  const clearedAt = new Map<string, number>();
  const recordsAt = async (_: number, positions: readonly number[]) =>
    positions.map((position): HistoryRecord => {
      const n = log.entries[position - 1] as Notification;
      const receipts = { shown: 0, expired: 0, cleared: clearedAt.has(n.id) ? 1 : 0 };
      return { ...n, tokenName: 't', cleared: null, acknowledged: null, receipts, alarm: null };
    });
  const history = {
    ...{ bounds: () => log.bounds(), find: async () => undefined, recordsAt },
    readAfter: log.readAfter.bind(log),
    live: log.live.bind(log),
  };
  const of = async (_: number, ids: readonly string[]) =>
    new Map(
      ids.flatMap((id): [string, ReceiptRow[]][] => {
        const at = clearedAt.get(id);
        if (at === undefined) return [];
        const never = { shownAt: null, inGroup: false, expiredAt: null };
        return [[id, [{ panelId: panel.id, ...never, clearedAt: at }]]];
      }),
    );
  const context = {
    ...{ tenant: 1, epoch: 'e1', history, receipts: { of } },
    ...{ snapshot: () => undefined, router: () => undefined },
  };
  const read = async (since = 0, limit = 10) => {
    const wanted = { panel, limit, since };
    const page = await readMessages({ ...context, now: () => 5_000 }, wanted);
    return { ids: page.messages.map(({ id }) => id), since: page.since };
  };
  const add = (count: number, over: Partial<Notification> = {}) => {
    for (let i = 0; i < count; i++) log.append((position) => notification(position, over));
  };
  return { log, clearedAt, read, add };
}

test('a page that finds nothing in 10,000 entries has the alarms that stand from before, and the next one is below them', async () => {
  const { add, read } = world();
  add(3);
  add(1, { expiresAt: 2_000 });
  add(3);
  add(10_500, { route: elsewhere });
  expect(await read()).toEqual({ ids: [7, 6, 5, 3, 2, 1], since: 0 });
  const first = await read(0, 2);
  expect(first).toEqual({ ids: [7, 6], since: 6 });
  expect(await read(first.since)).toEqual({ ids: [5, 4, 3, 2, 1], since: 0 });
});

test('a page without anything that stands from before says where the next one continues', async () => {
  const { add, read } = world();
  add(2, { expiresAt: 2_000 });
  add(10_500, { route: elsewhere });
  const { ids, since } = await read();
  expect([ids, since]).toEqual([[], 503]);
  expect(await read(since)).toEqual({ ids: [2, 1], since: 0 });
});

test('an alarm that comes back after its message was deleted on the phone is in the list again', async () => {
  const { log, clearedAt, add, read } = world();
  add(2);
  const shown = log.entries[0] as Notification;
  clearedAt.set(shown.id, 2_000);
  expect((await read()).ids).toEqual([2]);
  const back =
    (at: number) =>
    (position: number): Return => ({
      ...{
        kind: 'return',
        position,
        id: shown.id,
        at,
        by: 'belfry',
        route: shown.route,
        from: 'acknowledged',
      },
      shown: { ...shown, count: 0 },
    });
  log.append(back(1_900));
  expect((await read()).ids).toEqual([2]);
  log.append(back(3_000));
  expect((await read()).ids).toEqual([4, 2]);
});
