import { expect, test } from 'vitest';
import type { Acknowledged } from '#core/log/log.ts';
import { takeOffStanding } from '#core/log/take-off.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import {
  acknowledge,
  draft,
  type HistoryLab,
  now,
  readAll,
  shownOn,
  store,
  toTarget,
} from './history-lab.ts';

/** Saying that somebody has seen a notification. */
export function acknowledgingConformance(lab: () => HistoryLab): void {
  test('acknowledging is an entry of the log with the route of the notification, which stays on its panels', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const notification = await store(history, tenant, { route: routeTo(toTarget({ tags: ['noc'] })) });
    const given = { at: now + 5, by: 'ada@example.test', note: 'on my way' };
    const outcome = await acknowledge(history, tenant, notification.id.toUpperCase(), given);
    const { id, route } = notification;
    const entry = { kind: 'acknowledgement', position: 2, id, ...given, route };
    expect(outcome).toEqual({ kind: 'done', id, entry });
    expect(await readAll(history, tenant)).toEqual([notification, entry]);
    expect(await shownOn(history, tenant, { id: 'x', tags: ['noc'] })).toEqual([id]);
    const live = await history.readLive(tenant, [1], now + 6, 1_000);
    expect(live.notifications).toEqual([{ ...notification, count: 0, acknowledged: given }]);
    expect(await history.find(tenant, id)).toMatchObject({ acknowledged: given, cleared: null });
    // It is no notification: it counts as none, and no search finds its note.
    expect((await history.size(tenant)).notifications).toBe(1);
  });

  test('a repeat takes over who acknowledged what it replaces, unless it is of a higher level', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const key = 'disk';
    const first = await store(history, tenant, { key, rank: 40 });
    const given = { at: now + 5, by: 'Ada', note: 'on my way' };
    await acknowledge(history, tenant, first.id, given);
    const taken = { ...given, at: now + 60_000 };
    const repeat = draft({ key, rank: 40, receivedAt: now + 60_000 });
    const outcome = await history.append(tenant, repeat, null);
    const entry = { kind: 'acknowledgement', position: 5, id: repeat.id, ...taken };
    expect(outcome).toMatchObject({
      entries: [{ kind: 'clear', id: first.id }, { kind: 'notification', position: 4 }, entry],
    });
    expect((await readAll(history, tenant)).slice(2)).toEqual((outcome as { entries: unknown }).entries);
    expect(await history.find(tenant, repeat.id)).toMatchObject({ acknowledged: taken });
    expect((await history.size(tenant)).notifications).toBe(2);
    // What is worse is for somebody to acknowledge anew.
    const lower = draft({ key, rank: 30, receivedAt: now + 70_000 });
    await history.append(tenant, lower, null);
    expect((await history.find(tenant, lower.id))?.acknowledged).toEqual({ ...given, at: now + 70_000 });
    const worse = await store(history, tenant, { key, rank: 50 });
    expect((await history.find(tenant, worse.id))?.acknowledged).toBeNull();
    expect(await shownOn(history, tenant, { id: 'x', tags: [] })).toEqual([worse.id]);
  });

  test('what comes in the place of a silent sender takes over no acknowledgement', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const key = 'backup';
    const first = await store(history, tenant, { key, rank: 40 });
    await acknowledge(history, tenant, first.id, { at: now, by: 'Ada', note: null });
    const route = routeTo(toTarget({ all: true }), { origin: 'belfry:expectation' });
    const overdue = await store(history, tenant, { key, rank: 40, route });
    expect((await history.find(tenant, overdue.id))?.acknowledged).toBeNull();
    expect(await shownOn(history, tenant, { id: 'x', tags: [] })).toEqual([overdue.id]);
  });

  test('the first of more than a thousand repeats is acknowledged and cleared by what panels show now', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const first = await store(history, tenant, { key: 'disk' });
    await Promise.all(
      Array.from({ length: 1_100 }, () => history.append(tenant, draft({ key: 'disk' }), null)),
    );
    const [last] = await shownOn(history, tenant);
    const context = {
      ...{ history, bus: { publish: () => undefined }, channels: { wake: () => undefined } },
      now: () => now,
    };
    const action = { kind: 'acknowledge', at: now, by: 'ada', note: null } as const;
    expect(await history.act(tenant, [first.id], action)).toMatchObject([{ kind: 'done', id: last }]);
    expect(await takeOffStanding(context, tenant, first.id, 'ada')).toMatchObject({
      kind: 'cleared',
      id: last,
    });
    expect(await history.findLive(tenant, 'disk', now)).toBeUndefined();
  });

  test('of a key, that which panels show is found', async () => {
    const { database, newTenant } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    const { history } = database;
    await store(history, tenant, { key: 'k', ttl: 1_000, expiresAt: now + 1_000 });
    await store(history, tenant, { key: 'K' });
    const { id } = await store(history, tenant, { key: 'k', ttl: 1_000, expiresAt: now + 1_000 });
    expect(await history.findLive(tenant, 'k', now)).toBe(id);
    expect(await history.findLive(tenant, 'k', now + 1_000)).toBeUndefined();
    expect(await history.findLive(other, 'k', now)).toBeUndefined();
  });

  test('of many at once the first counts, and the others hear who it was', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { id } = await store(database.history, tenant);
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        acknowledge(database.history, tenant, id, { at: now + i, by: `k${i}`, note: null }),
      ),
    );
    const first = outcomes.find((outcome) => outcome.kind === 'done');
    const { at, by, note } = (first?.entry ?? {}) as Partial<Acknowledged>;
    const others = outcomes.filter((outcome) => outcome !== first);
    expect(others).toEqual(Array(9).fill({ kind: 'already', id, acknowledged: { at, by, note } }));
    expect(await readAll(database.history, tenant)).toHaveLength(2);
  });

  test('one that is not live can be acknowledged too, and a later clearing keeps who saw it', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const given = { at: now, by: 'x', note: null };
    const [expired, muted, cleared] = [
      await store(history, tenant, { ttl: 1_000, expiresAt: now - 1 }),
      await store(history, tenant, { route: routeTo(toTarget({}), { muted: true }) }),
      await store(history, tenant),
    ];
    for (const { id } of [expired, muted, cleared])
      expect((await acknowledge(history, tenant, id, given)).kind).toBe('done');
    expect((await history.clear(tenant, cleared.id, 'y', now)).kind).toBe('cleared');
    const record = await history.find(tenant, cleared.id);
    expect(record).toMatchObject({ acknowledged: given, cleared: { by: 'y', reason: 'cleared' } });
  });

  test('a search finds what was acknowledged, and what was not', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const [seen, other] = [await store(history, tenant), await store(history, tenant)];
    await acknowledge(history, tenant, seen.id, { at: now, by: 'x', note: null });
    const found = async (negated: boolean) => {
      const term = { kind: 'is' as const, states: ['acknowledged' as const] };
      const query = negated ? { kind: 'not' as const, term } : term;
      const { records } = await history.search(tenant, query, { limit: 10, now });
      return records.map(({ id }) => id);
    };
    expect([await found(false), await found(true)]).toEqual([[seen.id], [other.id]]);
  });

  test("another tenant's, what there is not, and what is no id is not found", async () => {
    const { database, newTenant } = lab();
    const [a, b] = [await newTenant(), await newTenant()];
    const { id } = await store(database.history, a);
    for (const wanted of [id, draft().id, 'no uuid', '', '\0', "' OR 1=1"])
      expect(await acknowledge(database.history, b, wanted, { at: now, by: 'thief', note: null })).toEqual({
        kind: 'not-found',
      });
    expect(await readAll(database.history, b)).toEqual([]);
    expect((await database.history.find(a, id))?.acknowledged).toBeNull();
  });

  test('what retention no longer keeps leaves nothing behind', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const [old, kept] = [await store(history, tenant), await store(history, tenant)];
    for (const { id } of [old, kept])
      await acknowledge(history, tenant, id, { at: now, by: 'x', note: null });
    while ((await history.prune(tenant, { olderThan: null, keep: 1 }, now)) > 0);
    expect(await history.find(tenant, old.id)).toBeUndefined();
    expect((await history.find(tenant, kept.id))?.acknowledged?.by).toBe('x');
  });
}
