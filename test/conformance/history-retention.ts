import { expect, test } from 'vitest';
import type { TenantId } from '#core/log/route.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import {
  draft,
  everyone,
  type HistoryLab,
  liveOn,
  lobby,
  now,
  readAll,
  shownOn,
  store,
} from './history-lab.ts';
import { prune, titles } from './history-pruning.ts';

/** Dropping what is beyond the bounds, a chunk at a time, and what history takes. */
export function retentionConformance(lab: () => HistoryLab): void {
  /** One that no panel shows any more. */
  const over = { ttl: 1, expiresAt: now - 1 };

  test('within both bounds nothing is dropped, and without bounds nothing ever is', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (let i = 0; i < 5; i++) await store(database.history, tenant, over);
    expect(await prune(database.history, tenant, {})).toEqual([]);
    expect(await prune(database.history, tenant, { keep: 5, olderThan: now })).toEqual([]);
    expect(await database.history.bounds(tenant)).toEqual({ head: 5, first: 1 });
  });

  test('by count, the newest are kept', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (let i = 1; i <= 10; i++) await store(database.history, tenant, { ...over, title: `n${i}` });
    await prune(database.history, tenant, { keep: 3 });
    expect(await database.history.bounds(tenant)).toEqual({ head: 10, first: 8 });
    expect(await titles(database.history, tenant)).toEqual(['n8', 'n9', 'n10']);
    expect((await database.history.size(tenant)).notifications).toBe(3);
  });

  test('by age, what was received before is dropped and what was received then is kept', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (let i = 1; i <= 6; i++)
      await store(database.history, tenant, { ...over, title: `n${i}`, receivedAt: now + i });
    await prune(database.history, tenant, { olderThan: now + 4 });
    expect(await titles(database.history, tenant)).toEqual(['n4', 'n5', 'n6']);
    expect(await prune(database.history, tenant, { olderThan: now + 4 })).toEqual([]);
  });

  test('with both bounds, the tighter one holds', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (let i = 1; i <= 10; i++)
      await store(database.history, tenant, { ...over, title: `n${i}`, receivedAt: now + i });
    await prune(database.history, tenant, { olderThan: now + 3, keep: 5 });
    expect(await titles(database.history, tenant)).toEqual(['n6', 'n7', 'n8', 'n9', 'n10']);
    await prune(database.history, tenant, { olderThan: now + 9, keep: 5 });
    expect(await titles(database.history, tenant)).toEqual(['n9', 'n10']);
  });

  test('one that is still on panels is cleared by an entry of its own before it is dropped', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const live = await store(database.history, tenant, { receivedAt: now - 10 });
    await store(database.history, tenant, { ...over, receivedAt: now - 10 });
    const kept = await store(database.history, tenant, { receivedAt: now });
    await prune(database.history, tenant, { olderThan: now }, now + 7);
    expect(await readAll(database.history, tenant)).toEqual([
      kept,
      {
        kind: 'clear',
        position: 4,
        id: live.id,
        reason: 'cleared',
        by: 'retention',
        at: now + 7,
        route: live.route,
      },
    ]);
    expect(await shownOn(database.history, tenant)).toEqual([kept.id]);
  });

  test('a count is one of notifications: clearing what is dropped drops nothing more', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (let i = 1; i <= 20; i++) await store(database.history, tenant, { title: `n${i}` });
    await prune(database.history, tenant, { keep: 10 });
    const kept = Array.from({ length: 10 }, (_, i) => `n${i + 11}`);
    expect(await titles(database.history, tenant)).toEqual([
      ...kept,
      ...Array(10).fill('clear by retention'),
    ]);
    expect((await liveOn(database.history, tenant)).map(({ title }) => title)).toEqual(kept);
    await store(database.history, tenant, { title: 'n21' });
    await prune(database.history, tenant, { keep: 10 });
    expect((await database.history.size(tenant)).notifications).toBe(10);
    expect((await liveOn(database.history, tenant)).map(({ title }) => title)).toEqual([
      ...kept.slice(1),
      'n21',
    ]);
  });

  test('old entries of clearing do not keep notifications, and go with what is around them', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (let i = 1; i <= 5; i++) {
      const { id } = await store(database.history, tenant, { title: `n${i}`, receivedAt: now + i });
      await database.history.clear(tenant, id, 'x', now + i);
    }
    await prune(database.history, tenant, { keep: 2 });
    const left = await titles(database.history, tenant);
    expect(left.filter((title) => title.startsWith('n'))).toEqual(['n4', 'n5']);
    await prune(database.history, tenant, { olderThan: now + 100 });
    expect(await database.history.bounds(tenant)).toEqual({ head: 10, first: 11 });
  });

  test('much is dropped, and intake goes on meanwhile', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const tenant = await newTenant();
    await Promise.all(Array.from({ length: 1_600 }, () => history.append(tenant, draft(over), null)));
    const [dropped] = await Promise.all([
      prune(history, tenant, { olderThan: now + 1 }),
      store(history, tenant, { title: 'meanwhile', receivedAt: now + 1 }),
    ]);
    expect(dropped.reduce((sum, count) => sum + count)).toBe(1_600);
    expect(await titles(history, tenant)).toEqual(['meanwhile']);
    expect((await store(history, tenant)).position).toBe(1_602);
  });

  test('what was dropped is not found, not searched, not replayed and has no receipts', async () => {
    const { database, newTenant } = lab();
    const { history, receipts } = database;
    const tenant = await newTenant();
    const gone = await store(history, tenant, { ...over, host: 'db-01' });
    await receipts.record(tenant, lobby, [{ id: gone.id, state: 'shown', at: 1 }]);
    const kept = await store(history, tenant, { ...over, host: 'db-01' });
    await prune(history, tenant, { keep: 1 });
    expect(await history.find(tenant, gone.id)).toBeUndefined();
    expect(await receipts.of(tenant, [gone.id])).toEqual(new Map());
    expect(await history.clear(tenant, gone.id, 'x', now)).toEqual({ kind: 'not-found' });
    for (const query of [{ kind: 'all' }, { kind: 'host', patterns: ['db-01'] }] as const) {
      const { records } = await history.search(tenant, query, { limit: 10, now });
      expect(records.map(({ id }) => id)).toEqual([kept.id]);
    }
    expect(await history.readAfter(tenant, 0, 10)).toEqual({ head: 2, first: 2, entries: [kept] });
  });

  test('what is left stays after it is opened again, and another tenant keeps all it has', async () => {
    let database = await lab().open();
    try {
      const [a, b] = await Promise.all(
        ['a', 'b'].map(async (name) => (await database.directory.tenants.create(name, name, 'test', 1)).id),
      );
      for (const tenant of [a, b] as TenantId[])
        for (let i = 0; i < 10; i++) await store(database.history, tenant, over);
      await prune(database.history, a as TenantId, { keep: 2 });
      database = await database.reopen();
      expect(await database.history.bounds(a as TenantId)).toEqual({ head: 10, first: 9 });
      expect(await database.history.bounds(b as TenantId)).toEqual({ head: 10, first: 1 });
      expect(await readAll(database.history, b as TenantId)).toHaveLength(10);
    } finally {
      await database.close();
    }
  });

  test('size counts notifications, and its bytes grow with them and shrink with pruning', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const size = () => database.history.size(tenant);
    expect(await size()).toEqual({ notifications: 0, bytes: 0 });
    const { id } = await store(database.history, tenant, { ...over, message: 'm'.repeat(10_000) });
    await database.history.clear(tenant, id, 'x', now);
    const one = await size();
    expect(one.notifications).toBe(1);
    expect(one.bytes).toBeGreaterThan(10_000);
    await store(database.history, tenant, { ...over, message: 'm' });
    const two = await size();
    expect(two).toMatchObject({ notifications: 2 });
    expect(two.bytes).toBeGreaterThan(one.bytes);
    await prune(database.history, tenant, { keep: 1 });
    const left = await size();
    expect(left.notifications).toBe(1);
    expect(left.bytes).toBeLessThan(10_000);
    expect(left.bytes).toBeGreaterThan(0);
  });

  test('the oldest revision of rules that is returned is never newer than that of a kept notification or clear', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const [tenant, other] = [await newTenant(), await newTenant()];
    const by = (revision: number) => ({ ...over, route: routeTo(everyone, { revision }) });
    expect(await history.oldestRevision(tenant)).toBeUndefined();
    for (const revision of [2, 3, 3, 4]) await store(history, tenant, by(revision));
    await store(history, other, by(1));
    expect(await history.oldestRevision(tenant)).toBe(2);
    await prune(history, tenant, { keep: 1 });
    expect(await history.oldestRevision(tenant)).toBeLessThanOrEqual(4);
    expect(await history.oldestRevision(other)).toBe(1);
  });

  test('the route of a clear stays while the clear is kept, though its notification has gone', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { id } = await store(database.history, tenant, { route: routeTo(everyone, { revision: 1 }) });
    await store(database.history, tenant, { ...over, route: routeTo(everyone, { revision: 2 }) });
    await database.history.clear(tenant, id, 'someone', now);
    expect(await database.history.prune(tenant, { olderThan: null, keep: 1 }, now)).toBe(1);
    expect(await readAll(database.history, tenant)).toMatchObject([
      { kind: 'notification' },
      { kind: 'clear', id, route: { revision: 1 } },
    ]);
  });
}
