import { expect, test } from 'vitest';
import type { ReceiptWrite } from '#core/log/receipts.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { acknowledge, draft, type HistoryLab, lobby, now, store, toTarget } from './history-lab.ts';

/** Panels' word on what became of a notification there. */
export function receiptsConformance(lab: () => HistoryLab): void {
  test('a receipt that is new is answered with when the notification was received, and kept', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { id } = await store(database.history, tenant);
    const fresh = await database.receipts.record(tenant, lobby, [{ id, state: 'shown', at: now + 50 }]);
    expect(fresh).toEqual([{ id, state: 'shown', at: now + 50, receivedAt: now }]);
    expect(await database.receipts.of(tenant, [id])).toEqual(
      new Map([
        [id, [{ panelId: 'lobby', shownAt: now + 50, inGroup: false, expiredAt: null, clearedAt: null }]],
      ]),
    );
    expect((await database.history.find(tenant, id))?.receipts).toEqual({ shown: 1, expired: 0, cleared: 0 });
  });

  test('the first word on each state counts, and a repeated one is not new', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { id } = await store(database.history, tenant);
    const say = (state: 'shown' | 'expired' | 'cleared', at: number) =>
      database.receipts.record(tenant, lobby, [{ id, state, at }]);
    await say('shown', 1);
    expect(await say('shown', 2)).toEqual([]);
    expect(await say('expired', 3)).toMatchObject([{ state: 'expired', at: 3 }]);
    expect(await say('cleared', 4)).toMatchObject([{ state: 'cleared', at: 4 }]);
    expect(await say('expired', 5)).toEqual([]);
    expect((await database.receipts.of(tenant, [id])).get(id)).toEqual([
      { panelId: 'lobby', shownAt: 1, inGroup: false, expiredAt: 3, clearedAt: 4 },
    ]);
  });

  test('where the last word counts, a later time replaces the one before', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { id } = await store(database.history, tenant);
    const clear = (at: number) =>
      database.receipts.record(tenant, lobby, [{ id, state: 'cleared', at }], 'last counts');
    expect(await clear(4)).toMatchObject([{ at: 4 }]);
    expect(await clear(7)).toMatchObject([{ at: 7 }]);
    expect([await clear(7), await clear(5)]).toEqual([[], []]);
    expect((await database.receipts.of(tenant, [id])).get(id)).toMatchObject([{ clearedAt: 7 }]);
    expect((await database.history.find(tenant, id))?.receipts.cleared).toBe(1);
  });

  test('whether a panel showed it in a group is what its first word on showing it says', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const [grouped, alone] = [await store(database.history, tenant), await store(database.history, tenant)];
    const record = (receipts: readonly ReceiptWrite[]) => database.receipts.record(tenant, lobby, receipts);
    await record([{ id: alone.id, state: 'expired', at: 1 }]);
    const fresh = await record([
      { id: grouped.id, state: 'shown', at: 2, inGroup: true },
      { id: alone.id, state: 'shown', at: 3 },
    ]);
    expect(fresh.map(({ id, state }) => [id, state])).toEqual([
      [grouped.id, 'shown'],
      [alone.id, 'shown'],
    ]);
    await record([{ id: grouped.id, state: 'cleared', at: 4 }]);
    await record([
      { id: grouped.id, state: 'shown', at: 5 },
      { id: alone.id, state: 'shown', at: 6, inGroup: true },
    ]);
    expect(await database.receipts.of(tenant, [grouped.id, alone.id])).toEqual(
      new Map([
        [grouped.id, [{ panelId: 'lobby', shownAt: 2, inGroup: true, expiredAt: null, clearedAt: 4 }]],
        [alone.id, [{ panelId: 'lobby', shownAt: 3, inGroup: false, expiredAt: 1, clearedAt: null }]],
      ]),
    );
  });

  test('when a panel first showed each of many is one question, of the own tenant', async () => {
    const { database, newTenant } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    const { history, receipts } = database;
    const [a, b, c] = [
      await store(history, tenant),
      await store(history, tenant),
      await store(history, tenant),
    ];
    for (const [panel, at] of [
      ['x', 9],
      ['y', 7],
    ] as const)
      await receipts.record(tenant, { id: panel, tags: [] }, [{ id: a.id, state: 'shown', at }]);
    await receipts.record(tenant, lobby, [{ id: b.id, state: 'cleared', at: 3 }]);
    const ids = [a.id, b.id, c.id];
    expect(await receipts.firstShown(tenant, ids)).toEqual(new Map([[a.id, 7]]));
    expect(await receipts.firstShown(tenant, [])).toEqual(new Map());
    expect(await receipts.firstShown(other, ids)).toEqual(new Map());
  });

  test('the same word twice in one call, and in calls at once, is new once', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { id } = await store(database.history, tenant);
    const receipt = { id, state: 'shown', at: 1 } as const;
    const answers = await Promise.all([
      database.receipts.record(tenant, lobby, [receipt, receipt]),
      database.receipts.record(tenant, lobby, [receipt]),
    ]);
    expect(answers.flat()).toHaveLength(1);
  });

  test('panels are counted and listed one by one', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { id } = await store(database.history, tenant);
    const [other, without] = [await store(database.history, tenant), await store(database.history, tenant)];
    await database.receipts.record(tenant, lobby, [{ id: other.id, state: 'expired', at: 3 }]);
    for (const panel of ['c', 'a', 'b'])
      await database.receipts.record(tenant, { id: panel, tags: [] }, [{ id, state: 'shown', at: 1 }]);
    await database.receipts.record(tenant, { id: 'b', tags: [] }, [{ id, state: 'cleared', at: 2 }]);
    expect((await database.history.find(tenant, id))?.receipts).toEqual({ shown: 3, expired: 0, cleared: 1 });
    const receipts = await database.receipts.of(tenant, [id, without.id, other.id]);
    expect([...receipts.keys()].toSorted()).toEqual([id, other.id].toSorted());
    expect(receipts.get(id)?.map(({ panelId }) => panelId)).toEqual(['a', 'b', 'c']);
    expect(receipts.get(other.id)).toMatchObject([
      { panelId: 'lobby', shownAt: null, inGroup: false, expiredAt: 3 },
    ]);
  });

  test('what was not routed to the panel, and what there is not, is ignored', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const elsewhere = await store(database.history, tenant, {
      route: routeTo(toTarget({ ids: ['other'], tags: ['back'] })),
    });
    const here = await store(database.history, tenant, { route: routeTo(toTarget({ tags: ['front'] })) });
    const ids = [elsewhere.id, draft().id, 'no uuid', here.id];
    const fresh = await database.receipts.record(
      tenant,
      lobby,
      ids.map((id) => ({ id, state: 'shown', at: 1 })),
    );
    expect(fresh.map(({ id }) => id)).toEqual([here.id]);
    expect(await database.receipts.of(tenant, [elsewhere.id, 'no uuid'])).toEqual(new Map());
  });

  test('the receipts of a page of the log are those of its own notifications, also where a partition ends', async () => {
    const { database, newTenant } = lab();
    const { history, receipts } = database;
    const [tenant, other] = [await newTenant(), await newTenant()];
    // In small partitions, the rows of both tenants fill three or four.
    for (let at = 1; at <= 8; at++)
      for (const own of [tenant, other]) {
        const { id } = await store(history, own);
        await receipts.record(own, { id: `panel-${own}-${at}`, tags: [] }, [{ id, state: 'shown', at }]);
      }
    for (let after = 0; after < 6; after++) {
      const { entries } = await history.readAfter(tenant, after, 3);
      const ids = entries.map(({ id }) => id);
      const found = await receipts.of(tenant, ids);
      const own = (position: number) => [
        {
          panelId: `panel-${tenant}-${position}`,
          shownAt: position,
          inGroup: false,
          expiredAt: null,
          clearedAt: null,
        },
      ];
      expect(found).toEqual(new Map(ids.map((id, i) => [id, own(after + i + 1)])));
    }
  });

  test("another tenant's notification takes no receipt, and its receipts are not returned", async () => {
    const { database, newTenant } = lab();
    const [a, b] = [await newTenant(), await newTenant()];
    const { id } = await store(database.history, a);
    expect(await database.receipts.record(b, lobby, [{ id, state: 'shown', at: 1 }])).toEqual([]);
    await database.receipts.record(a, lobby, [{ id, state: 'shown', at: 1 }]);
    expect(await database.receipts.of(b, [id])).toEqual(new Map());
    expect((await database.receipts.of(a, [id])).get(id)).toHaveLength(1);
  });

  test('each notification is found by its id, whichever way the clock stepped, and text that is no id finds none', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history, receipts } = database;
    const year = 365 * 86_400_000;
    const steps = [0, 1, 9_999, -10_000, -10_001, 60_000, -59_999, year, 1, -2 * year, 5, year, -1];
    let at = now;
    const ids: string[] = [];
    for (const step of steps) {
      at += step;
      ids.push((await store(history, tenant, { receivedAt: at })).id);
      // Between them are others, so that they lie in several partitions.
      await store(history, tenant, { receivedAt: at });
    }
    const reports = [...ids, 'none', ''].map((id) => ({ id, state: 'shown' as const, at: 1 }));
    expect((await receipts.record(tenant, lobby, reports)).map(({ id }) => id).toSorted()).toEqual(
      ids.toSorted(),
    );
    for (const id of ids) {
      expect(await history.find(tenant, id)).toMatchObject({ id, receipts: { shown: 1 } });
      expect((await acknowledge(history, tenant, id, { by: 'ann', at, note: null })).kind).toBe('done');
      expect((await history.clear(tenant, id, 'ann', at)).kind).toBe('cleared');
    }
    for (const id of ['none', '', `${ids[0]}0`]) {
      expect((await history.clear(tenant, id, 'ann', at)).kind).toBe('not-found');
      expect((await acknowledge(history, tenant, id, { by: 'ann', at, note: null })).kind).toBe('not-found');
      expect(await receipts.record(tenant, lobby, [{ id, state: 'shown', at }])).toEqual([]);
    }
  });
}
