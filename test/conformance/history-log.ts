import { expect, test } from 'vitest';
import { patternFieldNames, searchForm } from '#contract/history/fields.ts';
import { AppError } from '#core/errors.ts';
import type { Entry } from '#core/log/log.ts';
import { routeTo, wholeDraft } from '#test/support/notification-draft.ts';
import {
  draft,
  type HistoryLab,
  liveOn,
  newTenant,
  now,
  readAll,
  store,
  stored,
  toTarget,
} from './history-lab.ts';

/** The log itself: positions, durability, pages. */
export function logConformance(lab: () => HistoryLab): void {
  test('an empty log has no head, and its first entry is still to come', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    expect(await database.history.bounds(tenant)).toEqual({ head: 0, first: 1 });
    expect(await database.history.readAfter(tenant, 0, 10)).toEqual({ head: 0, first: 1, entries: [] });
  });

  test('the heads of several logs are read at once', async () => {
    const { database, newTenant } = lab();
    const [empty, one, two] = [await newTenant(), await newTenant(), await newTenant()];
    await store(database.history, one);
    for (let i = 0; i < 2; i++) await store(database.history, two);
    const heads = await database.history.heads([empty, one, two]);
    expect([heads.get(empty) ?? 0, heads.get(one), heads.get(two), heads.size <= 3]).toEqual([0, 1, 2, true]);
    expect(await database.history.heads([])).toEqual(new Map());
  });

  test('a notification comes back from the log as it was given, with its position', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const whole = wholeDraft({ receivedAt: now });
    const outcome = await database.history.append(tenant, whole, null);
    const entry = { kind: 'notification', position: 1, ...whole };
    expect(outcome).toEqual({ kind: 'stored', id: whole.id, entries: [entry] });
    expect((await database.history.readAfter(tenant, 0, 10)).entries).toEqual([entry]);
    expect(await database.history.find(tenant, whole.id)).toMatchObject(entry);
    // What a throttle has counted is not shown itself.
    const shown = { ...wholeDraft({ receivedAt: now }), throttledOn: null };
    await database.history.append(tenant, shown, null);
    expect(await liveOn(database.history, tenant)).toMatchObject([{ ...shown, position: 2 }]);
  });

  test('every field that has patterns finds a notification and offers its value', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const whole = await store(database.history, tenant, wholeDraft({ receivedAt: now }));
    for (const field of patternFieldNames) {
      const value = searchForm(field, whole[field] ?? '');
      for (const pattern of [value, `${value.slice(0, -1)}?`, `*${value.slice(1)}`]) {
        const query = { kind: field, patterns: [pattern] };
        const { records } = await database.history.search(tenant, query, { limit: 10, now });
        expect([pattern, records.map(({ id }) => id)]).toEqual([pattern, [whole.id]]);
      }
      const wanted = { field, prefix: value.slice(0, 2), limit: 10 };
      expect(await database.statistics.values(tenant, wanted)).toEqual([value]);
    }
  });

  test('positions are dense and in the order a reader sees, with eight writers racing and a reader following', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const tenant = await newTenant();
    const perWriter = 60;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      const positions: number[] = [];
      for (let n = 0; n < perWriter; n++) {
        const { position } = await store(history, tenant, { title: `${writer}-${n}` });
        // Its own word is there as soon as it is acknowledged.
        expect((await history.readAfter(tenant, position - 1, 1)).entries[0]).toMatchObject({
          position,
          title: `${writer}-${n}`,
        });
        positions.push(position);
      }
      return positions;
    });
    const seen = readUntil(lab(), tenant, 8 * perWriter);
    const positions = await Promise.all(writers);
    const entries = await seen;
    expect(entries.map(({ position }) => position)).toEqual(
      Array.from({ length: 8 * perWriter }, (_, i) => i + 1),
    );
    expect(positions.flat().toSorted((a, b) => a - b)).toEqual(entries.map(({ position }) => position));
    for (const own of positions) expect(own).toEqual(own.toSorted((a, b) => a - b));
    expect(await history.bounds(tenant)).toEqual({ head: 8 * perWriter, first: 1 });
  });

  test('what arrives at once is stored in the order in which it arrived', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const drafts = Array.from({ length: 300 }, (_, i) => draft({ title: `n${i}` }));
    const outcomes = await Promise.all(drafts.map((each) => database.history.append(tenant, each, null)));
    expect(outcomes.map((outcome) => stored(outcome)[0]?.position)).toEqual(drafts.map((_, i) => i + 1));
    const titles = (await readAll(database.history, tenant)).map(
      (entry) => entry.kind === 'notification' && entry.title,
    );
    expect(titles).toEqual(drafts.map(({ title }) => title));
  });

  test('each tenant has positions of its own, and no page holds an entry of another', async () => {
    const { database, newTenant } = lab();
    const [a, b] = [await newTenant(), await newTenant()];
    for (let i = 0; i < 5; i++) await store(database.history, a, { title: 'of a' });
    expect((await store(database.history, b, { title: 'of b' })).position).toBe(1);
    expect(await readAll(database.history, a)).toHaveLength(5);
    expect(await readAll(database.history, b)).toMatchObject([{ title: 'of b' }]);
  });

  test('a page begins after the position asked for, holds no more than asked for, and tells head and first', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push((await store(database.history, tenant)).id);
    await database.history.clear(tenant, ids[1] as string, 'someone', draft().receivedAt);
    await database.history.clear(tenant, ids[0] as string, 'someone', draft().receivedAt);
    await store(database.history, tenant);
    const kinds = ({ kind, position }: Entry) => `${kind[0]}${position}`;
    for (const limit of [1, 2, 3, 100]) {
      expect((await readAll(database.history, tenant, limit)).map(kinds)).toEqual([
        'n1',
        'n2',
        'n3',
        'n4',
        'n5',
        'n6',
        'c7',
        'c8',
        'n9',
      ]);
    }
    const page = await database.history.readAfter(tenant, 5, 3);
    expect([page.head, page.first, page.entries.map(kinds)]).toEqual([9, 1, ['n6', 'c7', 'c8']]);
    expect((await database.history.readAfter(tenant, 9, 3)).entries).toEqual([]);
    expect((await database.history.readAfter(tenant, 99, 3)).entries).toEqual([]);
  });

  test('one that cannot be stored fails alone, leaves nothing behind, and takes no other of its batch with it', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const tenant = await newTenant();
    const alive = await store(history, tenant, { key: 'door' });
    const onlyHere = routeTo(toTarget({ tags: ['made-in-a-batch-that-fails'] }));
    const retry = { key: 'retry', hash: 'h' };
    const settled = await Promise.allSettled([
      ...Array.from({ length: 10 }, () => history.append(tenant, draft({ route: onlyHere }), null)),
      history.append(tenant, draft({ id: 'no uuid', key: 'door', route: onlyHere }), retry),
      ...Array.from({ length: 10 }, () => history.append(tenant, draft({ route: onlyHere }), null)),
    ]);
    expect(settled.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1);
    expect(settled[10]?.status).toBe('rejected');
    const entries = await readAll(history, tenant);
    expect(entries.map(({ position, kind }) => [position, kind])).toEqual(
      Array.from({ length: 21 }, (_, i) => [i + 1, 'notification']),
    );
    for (const { route } of entries.slice(1)) expect(route).toEqual(onlyHere);
    expect((await history.find(tenant, alive.id))?.cleared).toBeNull();
    // Its retry key was not used up: the sender may come again with it.
    expect((await history.append(tenant, draft(), retry)).kind).toBe('stored');
  });

  test('what is beyond the queue is refused as unavailable and not stored, and what was accepted is', async () => {
    const database = await lab().open({ queueCapacity: 4 });
    try {
      const tenant = await newTenant(database);
      const settled = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) =>
          database.history.append(tenant, draft({ title: `n${i}` }), null),
        ),
      );
      const refused = settled.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
      expect(refused).toHaveLength(16);
      for (const { reason } of refused) {
        expect(reason).toBeInstanceOf(AppError);
        expect(reason).toMatchObject({ code: 'unavailable', retryAfterSeconds: expect.any(Number) });
      }
      expect(await readAll(database.history, tenant)).toMatchObject(
        ['n0', 'n1', 'n2', 'n3'].map((title) => ({ title })),
      );
      await expect(store(database.history, tenant)).resolves.toMatchObject({ position: 5 });
    } finally {
      await database.close();
    }
  });

  test('everything acknowledged is there after it is opened again, and positions go on', async () => {
    let database = await lab().open();
    try {
      const tenant = await newTenant(database);
      const { id } = await store(database.history, tenant, { key: 'k' });
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          database.history.append(tenant, draft({ title: `n${i}` }), null),
        ),
      );
      await database.history.clear(tenant, id, 'someone', draft().receivedAt);
      const before = await readAll(database.history, tenant);
      expect(before).toHaveLength(outcomes.length + 2);
      const head = await database.history.bounds(tenant);
      database = await database.reopen();
      expect(await readAll(database.history, tenant)).toEqual(before);
      expect(await database.history.bounds(tenant)).toEqual(head);
      expect((await store(database.history, tenant)).position).toBe(head.head + 1);
    } finally {
      await database.close();
    }
  });

  test('what was under way when it is closed is stored before it has closed', async () => {
    let database = await lab().open();
    try {
      const tenant = await newTenant(database);
      const pending = Array.from({ length: 100 }, () => database.history.append(tenant, draft(), null));
      const [reopened] = await Promise.all([database.reopen(), Promise.all(pending)]);
      database = reopened;
      expect((await database.history.bounds(tenant)).head).toBe(100);
    } finally {
      await database.close();
    }
  });
}

/** Follows the log as a panel's feed does, by nothing but "after my position", until it has `count` entries. */
async function readUntil(
  { database: { history } }: HistoryLab,
  tenant: number,
  count: number,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  while (entries.length < count) {
    const position = entries.at(-1)?.position ?? 0;
    const page = await history.readAfter(tenant, position, 7);
    if (page.head < position) throw new Error(`the head fell back to ${page.head} behind ${position}`);
    entries.push(...page.entries);
  }
  return entries;
}
