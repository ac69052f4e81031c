import { expect, test } from 'vitest';
import { routeTo } from '#test/support/notification-draft.ts';
import {
  draft,
  everyone,
  type HistoryLab,
  now,
  readAll,
  shownOn,
  store,
  stored,
  toTarget,
} from './history-lab.ts';

/** A later notification with the same key takes the earlier one off the panels. */
export function replacingConformance(lab: () => HistoryLab): void {
  const down = { key: 'db-01', title: 'down' };
  const up = { key: 'db-01', title: 'up' };

  test('the clearing of what is replaced stands right before what replaces it, and both are one outcome', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const first = await store(database.history, tenant, {
      ...down,
      route: routeTo(toTarget({ tags: ['noc'] })),
    });
    const second = draft(up);
    const entries = stored(await database.history.append(tenant, second, null));
    expect(entries).toEqual([
      {
        kind: 'clear',
        position: 2,
        id: first.id,
        reason: 'replaced',
        by: second.id,
        at: second.receivedAt,
        route: first.route,
      },
      { kind: 'notification', position: 3, ...second },
    ]);
    expect(await readAll(database.history, tenant)).toEqual([first, ...entries]);
    expect(await shownOn(database.history, tenant)).toEqual([second.id]);
  });

  test('history keeps both, and tells what became of the first', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const first = await store(database.history, tenant, down);
    const second = await store(database.history, tenant, up);
    expect((await database.history.find(tenant, first.id))?.cleared).toEqual({
      at: now,
      by: second.id,
      reason: 'replaced',
    });
    expect((await database.history.find(tenant, second.id))?.cleared).toBeNull();
  });

  test('a key is compared as it stands: other letters are another key', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    await store(database.history, tenant, { key: 'db-01' });
    await store(database.history, tenant, { key: 'DB-01' });
    await store(database.history, tenant, { key: 'db-01 ' });
    expect(await shownOn(database.history, tenant)).toHaveLength(3);
  });

  test('one that is cleared already is not cleared again', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const first = await store(database.history, tenant, down);
    await database.history.clear(tenant, first.id, 'someone', now);
    expect(stored(await database.history.append(tenant, draft(up), null))).toMatchObject([
      { kind: 'notification', position: 3 },
    ]);
    expect((await database.history.find(tenant, first.id))?.cleared).toMatchObject({
      reason: 'cleared',
      by: 'someone',
    });
  });

  test('one that has expired is not cleared: no panel shows it any more', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const first = await store(database.history, tenant, { ...down, ttl: 1_000, expiresAt: now + 1_000 });
    const later = draft({ ...up, receivedAt: now + 1_000 });
    expect(stored(await database.history.append(tenant, later, null))).toMatchObject([
      { kind: 'notification', position: 2 },
    ]);
    expect((await database.history.find(tenant, first.id))?.cleared).toBeNull();
    // A moment before its end it still is on panels.
    const third = draft({ ...up, receivedAt: now + 2_000, expiresAt: now + 5_000 });
    await database.history.append(tenant, third, null);
    const fourth = stored(
      await database.history.append(tenant, draft({ ...up, receivedAt: now + 4_999 }), null),
    );
    expect(fourth).toMatchObject([{ kind: 'clear', id: third.id }, { kind: 'notification' }]);
  });

  test('one that a rule muted takes the live one off all the same, and is itself on no panel to be taken off', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const first = await store(database.history, tenant, down);
    const muted = draft({ ...up, route: routeTo(toTarget({}), { muted: true }) });
    expect(stored(await database.history.append(tenant, muted, null))).toMatchObject([
      { kind: 'clear', id: first.id, by: muted.id },
      { kind: 'notification', id: muted.id },
    ]);
    expect(await shownOn(database.history, tenant)).toEqual([]);
    expect(stored(await database.history.append(tenant, draft(down), null))).toMatchObject([
      { kind: 'notification', position: 4 },
    ]);
  });

  test('one that a throttle counted leaves the one it was counted on where it is', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const [first, other] = [
      await store(database.history, tenant, { title: 'down' }),
      await store(database.history, tenant, down),
    ];
    const counted = draft({ ...down, throttledOn: first.id, throttleCount: 1 });
    const again = draft({ ...down, throttledOn: other.id, throttleCount: 1 });
    expect(stored(await database.history.append(tenant, again, null))).toMatchObject([
      { kind: 'notification', id: again.id },
    ]);
    expect(await shownOn(database.history, tenant)).toEqual([first.id, other.id]);
    expect(stored(await database.history.append(tenant, counted, null))).toMatchObject([
      { kind: 'clear', id: other.id, by: counted.id },
      { kind: 'notification', id: counted.id },
    ]);
    expect(await shownOn(database.history, tenant)).toEqual([first.id]);
  });

  test('the clearing goes to the panels that showed the first, wherever the second goes', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const first = await store(database.history, tenant, {
      ...down,
      route: routeTo(toTarget({ ids: ['a'] })),
    });
    const [clear] = stored(
      await database.history.append(tenant, draft({ ...up, route: routeTo(everyone) }), null),
    );
    expect(clear).toMatchObject({
      kind: 'clear',
      id: first.id,
      route: { target: { all: false, ids: ['a'], tags: [] } },
    });
  });

  test('many with one key at once: in the end one is shown, and each of the others was taken off once', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, () => database.history.append(tenant, draft(up), null)),
    );
    const entries = await readAll(database.history, tenant);
    expect(entries).toEqual(outcomes.flatMap(stored));
    const cleared = entries.filter(({ kind }) => kind === 'clear').map(({ id }) => id);
    expect(new Set(cleared).size).toBe(29);
    expect(entries.map(({ position }) => position)).toEqual(entries.map((_, i) => i + 1));
    const shown = await shownOn(database.history, tenant);
    expect(shown).toEqual([entries.at(-1)?.id]);
  });

  test("one tenant's key takes nothing off another's panels", async () => {
    const { database, newTenant } = lab();
    const [a, b] = [await newTenant(), await newTenant()];
    await store(database.history, a, down);
    await store(database.history, b, up);
    expect(await shownOn(database.history, a)).toHaveLength(1);
    expect(await readAll(database.history, a)).toHaveLength(1);
  });
}
