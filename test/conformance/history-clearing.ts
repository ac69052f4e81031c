import { expect, test } from 'vitest';
import { routeTo } from '#test/support/notification-draft.ts';
import { draft, type HistoryLab, now, readAll, shownOn, store, toTarget } from './history-lab.ts';

/** Taking a notification off the panels. */
export function clearingConformance(lab: () => HistoryLab): void {
  test('clearing is an entry of the log with the route of what it clears', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const notification = await store(database.history, tenant, {
      route: routeTo(toTarget({ tags: ['noc'] })),
    });
    const outcome = await database.history.clear(
      tenant,
      notification.id.toUpperCase(),
      'token desk',
      now + 5,
    );
    const entry = {
      kind: 'clear',
      position: 2,
      id: notification.id,
      reason: 'cleared',
      by: 'token desk',
      at: now + 5,
      route: notification.route,
    };
    expect(outcome).toEqual({ kind: 'cleared', entry });
    expect(await readAll(database.history, tenant)).toEqual([notification, entry]);
    expect(await shownOn(database.history, tenant, { id: 'x', tags: ['noc'] })).toEqual([]);
    expect((await database.history.find(tenant, notification.id))?.cleared).toEqual({
      at: now + 5,
      by: 'token desk',
      reason: 'cleared',
    });
  });

  test('the second time it is live no more, and the log says so once', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { id } = await store(database.history, tenant);
    await database.history.clear(tenant, id, 'first', now);
    expect(await database.history.clear(tenant, id, 'second', now)).toEqual({ kind: 'not-live' });
    expect(await readAll(database.history, tenant)).toHaveLength(2);
    expect((await database.history.find(tenant, id))?.cleared?.by).toBe('first');
  });

  test('of many at once, one clears it', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { id } = await store(database.history, tenant);
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, i) => database.history.clear(tenant, id, `k${i}`, now)),
    );
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['cleared', ...Array(9).fill('not-live')]);
    expect(await readAll(database.history, tenant)).toHaveLength(2);
  });

  test('one that has expired is live no more, swept or not', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { id } = await store(database.history, tenant, { ttl: 1_000, expiresAt: now + 1_000 });
    expect(await database.history.clear(tenant, id, 'late', now + 1_000)).toEqual({ kind: 'not-live' });
    await database.sweep(now + 1_000);
    expect(await database.history.clear(tenant, id, 'late', now + 1_000)).toEqual({ kind: 'not-live' });
    expect((await database.history.find(tenant, id))?.cleared).toBeNull();
  });

  test('one that was muted, throttled or routed nowhere is on no panel to be taken off', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const first = await store(database.history, tenant);
    const hidden = [
      await store(database.history, tenant, { route: routeTo(toTarget({}), { muted: true }) }),
      await store(database.history, tenant, { route: routeTo(toTarget({})) }),
      await store(database.history, tenant, { throttledOn: first.id, throttleCount: 1 }),
    ];
    for (const { id } of hidden)
      expect(await database.history.clear(tenant, id, 'x', now)).toEqual({ kind: 'not-live' });
    expect((await database.history.bounds(tenant)).head).toBe(4);
  });

  test('what there is not, and what is no id at all, is not found', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (const id of [draft().id, 'no uuid', '', '\0', "' OR 1=1"]) {
      expect(await database.history.clear(tenant, id, 'x', now)).toEqual({ kind: 'not-found' });
    }
    expect(await readAll(database.history, tenant)).toEqual([]);
  });

  test("another tenant's is not found, and stays where it is", async () => {
    const { database, newTenant } = lab();
    const [a, b] = [await newTenant(), await newTenant()];
    const { id } = await store(database.history, a);
    expect(await database.history.clear(b, id, 'thief', now)).toEqual({ kind: 'not-found' });
    expect(await database.history.clear(b, id, 'thief', now)).toEqual({ kind: 'not-found' });
    expect(await shownOn(database.history, a)).toEqual([id]);
  });

  test('it is found for clearing whether the search indexes know it yet or not', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const [known, fresh] = [await store(database.history, tenant), draft()];
    expect((await database.history.clear(tenant, known.id, 'x', now)).kind).toBe('cleared');
    // Both in one turn, so in one batch: the second must see the first.
    const [, outcome] = await Promise.all([
      database.history.append(tenant, fresh, null),
      database.history.clear(tenant, fresh.id, 'x', now),
    ]);
    expect(outcome.kind).toBe('cleared');
  });
}
