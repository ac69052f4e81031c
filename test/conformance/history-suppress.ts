import { uuidv7 } from 'uuidv7';
import { expect, test } from 'vitest';
import { suppressedByCause, updateSuppression } from '#core/alarms/suppression.ts';
import type { Entry, History } from '#core/log/log.ts';
import type { SuppressKeys, TenantId } from '#core/log/route.ts';
import type { TenantSnapshot } from '#core/tenants/tenancy.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { alarmsAt, everyone, type HistoryLab, now, readAll, shownOn, store } from './history-lab.ts';

const rule = 'rule of core switches';
const key = 'core switch of plant 2';
const suppress = (given: Partial<SuppressKeys>) => ({
  route: routeTo(everyone, { suppress: { causes: [], follows: [], ...given } }),
});
const cause = suppress({ causes: [{ key, rule }] });
const follower = suppress({ follows: ['another', key] });

/** Of the call that changes the first ones: each call takes the tenants in another order, and has little time. */
async function changeSome(history: History, tenant: TenantId, limit: number): Promise<readonly Entry[]> {
  for (;;) {
    const changed = await history.updateSuppression(now, limit);
    const entries = changed.get(tenant) ?? [];
    if (changed.size === 0 || entries.length > 0) return entries;
  }
}

/** Suppresses and brings back until nothing is left; returns the entries of the tenant. */
async function sweep(history: History, tenant: TenantId, at = now + 10): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const changed = await history.updateSuppression(at, 100);
    if (changed.size === 0) return entries;
    entries.push(...(changed.get(tenant) ?? []));
  }
}

const stateOf = async (history: History, tenant: TenantId, id: string) => {
  const position = (await history.find(tenant, id))?.position;
  return (await alarmsAt(history, tenant, now + 20)).find((place) => place.position === position)?.state;
};

/** Alarms that are off the panels while their cause stands. */
export function suppressConformance(lab: () => HistoryLab): void {
  test('an alarm that comes while its cause stands is on no panel, and says why', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const core = await store(history, tenant, { title: 'core switch', ...cause });
    const host = await store(history, tenant, { title: 'host', key: 'host', ...follower });
    expect(host.route.suppressed).toEqual({ by: core.id, key });
    expect(await shownOn(history, tenant)).toEqual([core.id]);
    expect(await stateOf(history, tenant, host.id)).toBe('suppressed');
    expect(await history.find(tenant, host.id)).toMatchObject({
      route: { suppressed: { by: core.id, key } },
      alarm: { suppressed: { at: host.receivedAt, by: core.id }, shelved: null },
    });
    const is = (state: 'suppressed' | 'shelved' | 'live') =>
      history
        .search(tenant, { kind: 'is', states: [state] }, { limit: 9, now })
        .then(({ records }) => records.map(({ id }) => id));
    expect([await is('suppressed'), await is('shelved'), await is('live')]).toEqual([
      [host.id],
      [],
      [core.id],
    ]);
    expect(await sweep(history, tenant)).toEqual([]);
  });

  test('others are not: without the key, of another tenant, or when the cause has ended', async () => {
    const { database, newTenant } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    const { history } = database;
    const core = await store(history, tenant, { key: 'core', ...cause });
    await store(history, tenant, { ...suppress({ follows: ['another'] }) });
    await store(history, other, follower);
    expect(await shownOn(history, tenant)).toHaveLength(2);
    expect(await shownOn(history, other)).toHaveLength(1);
    await history.act(tenant, [core.id], { kind: 'clear', at: now, by: 'Ada' });
    const { route } = await store(history, tenant, follower);
    expect(route.suppressed).toBeUndefined();
  });

  test('one that stands already leaves the panels when its cause comes, unless somebody has acknowledged it', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const host = await store(history, tenant, follower);
    const seen = await store(history, tenant, follower);
    await history.act(tenant, [seen.id], { kind: 'acknowledge', at: now, by: 'Ada', note: null });
    const core = await store(history, tenant, cause);
    expect(await shownOn(history, tenant)).toEqual([host.id, seen.id, core.id]);
    const entries = await sweep(history, tenant);
    expect(entries).toEqual([
      { kind: 'suppression', position: 5, id: host.id, at: now + 10, by: core.id, key, route: host.route },
    ]);
    expect(await shownOn(history, tenant)).toEqual([seen.id, core.id]);
    expect((await readAll(history, tenant)).at(-1)).toEqual(entries[0]);
    expect(await history.entriesOf(tenant, [host.id], 9)).toEqual(entries);
    expect(await sweep(history, tenant)).toEqual([]);
  });

  test('it is on the panels again when its cause has ended and no other one stands', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const first = await store(history, tenant, { key: 'first', ...cause });
    const second = await store(history, tenant, {
      key: 'second',
      ...suppress({ causes: [{ key: 'another', rule }] }),
    });
    const host = await store(history, tenant, follower);
    await history.act(tenant, [first.id], { kind: 'clear', at: now, by: 'Ada' });
    await sweep(history, tenant);
    expect(await stateOf(history, tenant, host.id)).toBe('suppressed');
    expect((await history.find(tenant, host.id))?.alarm?.suppressed?.by).toBe(
      (await stateOf(history, tenant, second.id)) === 'open' ? second.id : '',
    );
    await store(history, tenant, { throttledOn: host.id, throttleCount: 1 });
    await store(history, tenant, { key: 'second', rank: 10, level: 'success' });
    const [back] = await sweep(history, tenant);
    const returned = { kind: 'return', from: 'suppressed', by: 'belfry', at: now + 10, id: host.id };
    const { route } = host;
    expect(back).toEqual({ ...returned, position: expect.any(Number), route, shown: { ...host, count: 1 } });
    expect((await readAll(history, tenant)).at(-1)).toEqual(back);
    expect(await shownOn(history, tenant)).toContain(host.id);
    expect(await stateOf(history, tenant, host.id)).toBe('open');
  });

  test('the cause may expire', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    await store(history, tenant, { ...cause, ttl: 1_000, expiresAt: now + 1_000 });
    const host = await store(history, tenant, follower);
    expect(await sweep(history, tenant, now + 999)).toEqual([]);
    expect(await sweep(history, tenant, now + 1_000)).toMatchObject([{ kind: 'return', id: host.id }]);
  });

  test('a repeat of the cause, acknowledged or shelved, is still the cause', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    await store(history, tenant, { key: 'core', ...cause });
    const host = await store(history, tenant, { key: 'host', ...follower });
    const core = await store(history, tenant, { key: 'core', ...cause });
    await history.act(tenant, [core.id], { kind: 'acknowledge', at: now, by: 'Ada', note: null });
    expect(await sweep(history, tenant)).toEqual([]);
    const until = now + 1_000;
    await history.act(tenant, [core.id], { kind: 'shelve', at: now, by: 'Ada', note: null, until });
    expect(await sweep(history, tenant)).toEqual([]);
    const again = await store(history, tenant, { key: 'host', ...follower });
    expect(again.route.suppressed).toEqual({ by: core.id, key });
    expect(await stateOf(history, tenant, host.id)).toBeUndefined();
    expect(await stateOf(history, tenant, again.id)).toBe('suppressed');
  });

  test('a repeat that follows no cause is on the panels', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    await store(history, tenant, { key: 'core', ...cause });
    await store(history, tenant, { key: 'host', ...follower });
    const worse = await store(history, tenant, { key: 'host', rank: 50, level: 'critical' });
    expect(await shownOn(history, tenant)).toContain(worse.id);
  });

  test('causes that follow each other: one of a circle is on the panels, and none suppresses itself', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const both = (keys: string[], follows: string[]) =>
      suppress({ causes: keys.map((each) => ({ key: each, rule })), follows });
    const itself = await store(history, tenant, { key: 'self', ...both(['s'], ['s']) });
    const a = await store(history, tenant, { key: 'a', ...both(['a'], ['b']) });
    const b = await store(history, tenant, { key: 'b', ...both(['b'], ['a']) });
    const c = await store(history, tenant, { key: 'c', ...both(['c'], ['b']) });
    await sweep(history, tenant);
    expect(await shownOn(history, tenant)).toEqual([itself.id, a.id]);
    const a2 = await store(history, tenant, { key: 'a', ...both(['a'], ['b']) });
    await store(history, tenant, { key: 'self', ...both(['s'], ['s']) });
    await sweep(history, tenant);
    expect(await shownOn(history, tenant)).toHaveLength(2);
    const suppressedBy = suppressedByCause(await history.suppression(tenant, now));
    expect(suppressedBy(a2.position).map(({ position }) => position)).toEqual([c.position, b.position]);
    expect(suppressedBy(itself.position)).toEqual([]);
  });

  test('alarms that would suppress each other are not hidden when the one on the panels ends', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const both = (keys: string[], follows: string[]) =>
      suppress({ causes: keys.map((each) => ({ key: each, rule })), follows });
    const [a, b, c] = [
      await store(history, tenant, both(['k'], ['k'])),
      await store(history, tenant, both(['k'], ['k'])),
      await store(history, tenant, both(['k'], ['k'])),
    ];
    expect(await shownOn(history, tenant)).toEqual([a.id]);
    await history.act(tenant, [a.id], { kind: 'clear', at: now, by: 'Ada' });
    await sweep(history, tenant);
    expect(await shownOn(history, tenant)).toEqual([b.id]);
    expect((await history.find(tenant, c.id))?.alarm?.suppressed?.by).toBe(b.id);
    await history.act(tenant, [b.id, c.id], { kind: 'clear', at: now, by: 'Ada' });
    // Two keys: a root, and two that hold each other.
    const root = await store(history, tenant, suppress({ causes: [{ key: 'y', rule }] }));
    const x = await store(history, tenant, both(['x'], ['y']));
    const y = await store(history, tenant, both(['y'], ['x']));
    expect(await shownOn(history, tenant)).toEqual([root.id]);
    await history.act(tenant, [root.id], { kind: 'clear', at: now, by: 'Ada' });
    await sweep(history, tenant);
    const [shown, ...others] = await shownOn(history, tenant);
    expect(others).toEqual([]);
    const hidden = shown === x.id ? y : x;
    expect((await history.find(tenant, hidden.id))?.alarm?.suppressed?.by).toBe(shown);
  });

  test('the end of a suppressed alarm is on no panel either, and nothing of it stands', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const core = await store(history, tenant, cause);
    await store(history, tenant, { key: 'host', ...follower });
    const end = await store(history, tenant, { key: 'host', rank: 10, level: 'success', ttl: 0 });
    expect(end.route.suppressed?.by).toBe(core.id);
    expect(await shownOn(history, tenant)).toEqual([core.id]);
    expect(await history.suppression(tenant, now)).toMatchObject({ suppressed: [] });
    await history.act(tenant, [core.id], { kind: 'clear', at: now, by: 'Ada' });
    expect(await sweep(history, tenant)).toEqual([]);
    expect(await shownOn(history, tenant)).toEqual([]);
  });

  test('an alarm that is open again while its cause stands is suppressed', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const seen = await store(history, tenant, follower);
    const aside = await store(history, tenant, follower);
    await history.act(tenant, [seen.id], { kind: 'acknowledge', at: now, by: 'Ada', note: null });
    await history.act(tenant, [aside.id], { kind: 'shelve', at: now, by: 'Ada', note: null, until: now + 9 });
    await store(history, tenant, cause);
    expect(await sweep(history, tenant)).toEqual([]);
    await history.act(tenant, [seen.id], { kind: 'unacknowledge', at: now, by: 'Ada' });
    await history.act(tenant, [aside.id], { kind: 'unshelve', at: now, by: 'Ada' });
    expect(await sweep(history, tenant)).toMatchObject([
      { kind: 'suppression', id: seen.id },
      { kind: 'suppression', id: aside.id },
    ]);
  });

  test('a rule that suppresses no more lets them return', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    await store(history, tenant, cause);
    const host = await store(history, tenant, follower);
    const { revision } = host.route;
    expect(await history.suppressingRules()).toContainEqual({ tenant, rule, revision });
    await history.endSuppressing(tenant, 'another', revision);
    await history.endSuppressing(tenant, rule, revision - 1);
    expect(await sweep(history, tenant)).toEqual([]);
    await history.endSuppressing(tenant, rule, revision);
    expect(await sweep(history, tenant)).toMatchObject([{ kind: 'return', id: host.id }]);
    expect(await history.suppressingRules()).not.toContainEqual({ tenant, rule, revision });
  });

  test('a suppressed alarm can be shelved and cleared, not acknowledged; a shelf goes before a cause', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const core = await store(history, tenant, cause);
    const host = await store(history, tenant, { key: 'host', ...follower });
    const [acknowledged] = await history.act(tenant, [host.id], {
      kind: 'acknowledge',
      at: now,
      by: 'Ada',
      note: null,
    });
    expect(acknowledged?.kind).toBe('nothing');
    const [unshelved] = await history.act(tenant, [host.id], { kind: 'unshelve', at: now, by: 'Ada' });
    expect(unshelved?.kind).toBe('nothing');
    await history.act(tenant, [host.id], {
      kind: 'shelve',
      at: now,
      by: 'Ada',
      note: null,
      until: now + 1_000,
    });
    expect(await stateOf(history, tenant, host.id)).toBe('shelved');
    await history.act(tenant, [core.id], { kind: 'clear', at: now, by: 'Ada' });
    expect(await sweep(history, tenant)).toEqual([]);
    expect(await shownOn(history, tenant)).toEqual([]);
    const [cleared] = await history.act(tenant, [host.id], { kind: 'clear', at: now, by: 'Ada' });
    expect(cleared?.kind).toBe('done');
  });

  test('the cause of what comes now is found, other than its own alarm', async () => {
    const { database, newTenant } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    const { history } = database;
    const find = (keys: string[], except?: string, of = tenant) => history.findCause(of, keys, now, except);
    expect(await find([key])).toBeUndefined();
    const core = await store(history, tenant, { key: 'core', ...cause });
    expect(await find(['another', key])).toBe(core.id);
    expect([await find([]), await find(['another']), await find([key], undefined, other)]).toEqual(
      Array(3).fill(undefined),
    );
    expect(await find([key], core.id)).toBeUndefined();
    const repeat = await store(history, tenant, { key: 'core', ...cause });
    expect(await find([key], core.id)).toBe(repeat.id);
    await history.act(tenant, [core.id], { kind: 'clear', at: now, by: 'Ada' });
    expect(await find([key])).toBeUndefined();
  });

  test('what cannot be acknowledged says whether it is shelved or suppressed', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const aside = await store(history, tenant, { key: 'aside' });
    const until = now + 1_000;
    await history.act(tenant, [aside.id], { kind: 'shelve', at: now, by: 'Ada', note: null, until });
    await store(history, tenant, cause);
    const host = await store(history, tenant, follower);
    const outcomes = await history.act(tenant, [aside.id, host.id], {
      ...{ kind: 'acknowledge', at: now, by: 'Ada', note: null },
    });
    expect(outcomes).toEqual([
      { kind: 'nothing', id: aside.id, off: 'shelved' },
      { kind: 'nothing', id: host.id, off: 'suppressed' },
    ]);
  });

  test('of many, each call changes some', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    // The limit counts what other tests have left.
    await sweep(history, tenant);
    for (let i = 0; i < 5; i++) await store(history, tenant, follower);
    const core = await store(history, tenant, cause);
    expect(await changeSome(history, tenant, 3)).toHaveLength(3);
    expect(await sweep(history, tenant)).toHaveLength(2);
    await history.act(tenant, [core.id], { kind: 'clear', at: now, by: 'Ada' });
    expect(await changeSome(history, tenant, 3)).toHaveLength(3);
    expect(await sweep(history, tenant)).toHaveLength(2);
    expect(await shownOn(history, tenant)).toHaveLength(5);
  });

  test('alarms that only get another cause count among them', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const first = await store(history, tenant, suppress({ causes: [{ key: 'another', rule }] }));
    const second = await store(history, tenant, cause);
    const hosts: string[] = [];
    for (let i = 0; i < 5; i++) hosts.push((await store(history, tenant, follower)).id);
    await sweep(history, tenant);
    await history.act(tenant, [first.id], { kind: 'clear', at: now, by: 'Ada' });
    const causes = () =>
      Promise.all(hosts.map(async (id) => (await history.find(tenant, id))?.alarm?.suppressed?.by));
    expect(await causes()).toEqual(Array(5).fill(first.id));
    expect((await history.updateSuppression(now + 1, 3)).get(tenant)).toEqual([]);
    expect((await causes()).toSorted()).toEqual([...Array(2).fill(first.id), ...Array(3).fill(second.id)]);
    expect(await sweep(history, tenant)).toEqual([]);
    expect(await causes()).toEqual(Array(5).fill(second.id));
  });

  test('one sweep gives another cause to all alarms whose cause has ended, however many', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const first = await store(history, tenant, suppress({ causes: [{ key: 'another', rule }] }));
    await store(history, tenant, cause);
    await Promise.all(Array.from({ length: 401 }, () => store(history, tenant, follower)));
    await history.act(tenant, [first.id], { kind: 'clear', at: now, by: 'Ada' });
    const olderRules = async () => ({ router: { revision: -1 } }) as TenantSnapshot;
    await updateSuppression(
      {
        history,
        bus: { publish: () => {} },
        channels: { wake: () => {} },
        tenancy: { get: olderRules },
        now: () => now,
      },
      () => false,
    );
    const { suppressed } = await history.suppression(tenant, now);
    expect(suppressed.map((each) => each.key)).toEqual(Array(401).fill(key));
  });

  test('a tenant with more new causes than one call looks at delays no other', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const [busy, other] = [await newTenant(), await newTenant()];
    const host = await store(history, other, follower);
    await store(history, other, cause);
    await Promise.all(Array.from({ length: 150 }, () => store(history, busy, cause)));
    // A call ends after some milliseconds: on a slow machine after the first cause.
    let found: readonly Entry[] | undefined;
    for (let call = 0; call < 50 && !found; call++)
      found = (await history.updateSuppression(now + 1, 100)).get(other);
    expect(found).toMatchObject([{ id: host.id }]);
  });

  test('a tenant of which a call suppresses as many alarms as it may delays no other for long', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const [busy, other] = [await newTenant(), await newTenant()];
    await store(history, other, follower);
    await store(history, other, cause);
    let isDone = false;
    for (let call = 0; call < 50 && !isDone; call++) {
      const own = `key ${call}`;
      await store(history, busy, suppress({ follows: [own] }));
      await store(history, busy, suppress({ causes: [{ key: own, rule }] }));
      isDone = (await history.updateSuppression(now + 1, 1)).has(other);
    }
    expect(isDone).toBe(true);
  });

  test('an alarm keeps its owner, until somebody else or nobody takes care of it', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const { id, route } = await store(history, tenant, { key: 'disk' });
    const owner = { id: uuidv7(), name: 'Ada' };
    const [outcome] = await history.act(tenant, [id], { kind: 'assign', at: now + 1, by: 'Eve', owner });
    const entry = { kind: 'assignment', position: 2, id, at: now + 1, by: 'Eve', owner, route };
    expect(outcome).toEqual({ kind: 'done', id, entry });
    expect(await history.entriesOf(tenant, [id], 9)).toEqual([entry]);
    const again = await store(history, tenant, { key: 'disk' });
    expect((await history.find(tenant, again.id))?.alarm?.owner).toEqual(owner);
    await history.act(tenant, [id], { kind: 'assign', at: now + 2, by: 'Eve', owner: null });
    expect((await history.find(tenant, again.id))?.alarm?.owner).toBeNull();
    await history.act(tenant, [id], { kind: 'clear', at: now, by: 'Ada' });
    const [ended] = await history.act(tenant, [id], { kind: 'assign', at: now + 2, by: 'Eve', owner });
    expect(ended?.kind).toBe('nothing');
  });
}
