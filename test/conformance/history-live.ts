import { describe, expect, test } from 'vitest';
import type { NotificationEvent } from '#contract/history/notification.ts';
import type { History } from '#core/log/log.ts';
import { enforceLiveLimit } from '#core/log/retention.ts';
import type { TenantId } from '#core/log/route.ts';
import { FrameBuffer } from '#core/streams/frame-buffer.ts';
import { screenStreams } from '#core/streams/frames.ts';
import { PanelStream } from '#core/streams/panel-stream.ts';
import type { TenantRecord } from '#core/tenants/tenants.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { everyone, type HistoryLab, liveOn, lobby, now, shownOn, store, toTarget } from './history-lab.ts';

/** The notifications that a panel's stream begins with. */
async function sentTo(history: History, tenant: TenantId, at: number): Promise<NotificationEvent[]> {
  const { head } = await history.bounds(tenant);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let text = '';
  const context = {
    ...{ tenant, epoch: 'e1', history, router: () => undefined, snapshot: () => undefined, now: () => at },
  };
  const encoding = screenStreams.encoding(context);
  const stream = new PanelStream(
    {
      ...{
        tenant,
        epoch: 'e1',
        encoding,
        history,
        buffer: new FrameBuffer(head, { maxFrames: 3 }),
        onError: reject,
      },
      ...{ now: () => at, monotonicNow: () => 0, onSent: () => undefined },
    },
    {
      write(chunk, onFlushed) {
        text += chunk;
        if (text.includes('event: heartbeat')) resolve();
        else setImmediate(onFlushed);
      },
      ...{ end: () => undefined, destroy: () => undefined },
    },
    screenStreams.encoder(context, encoding, [lobby]),
  );
  const settings = { name: 't', title: 'T', timeZone: 'UTC' };
  const panel = { ...lobby, tags: [...lobby.tags], name: 'P', location: null, display: {} };
  await stream.start(undefined, { panel, tenant: settings, levels: [], heartbeatMs: 15_000 }, 2_000);
  await promise;
  stream.destroy();
  return [...text.matchAll(/^event: notification\n(?:id: .*\n)?data: (.*)$/gm)].map(([, data]) =>
    JSON.parse(data as string),
  );
}

/** What a panel should be showing. */
export function liveConformance(lab: () => HistoryLab): void {
  test('is nothing on an empty log', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    expect(await database.history.live(tenant, lobby, now, 500)).toEqual({ head: 0, positions: [] });
    expect(await database.history.readLive(tenant, [], now, 500)).toEqual({ notifications: [], scanned: 0 });
  });

  test('is returned as the log has it, the highest in rank first, with the head it was read at', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const stored = [
      await store(database.history, tenant, { rank: 50, level: 'critical' }),
      await store(database.history, tenant, { rank: 10, level: 'success' }),
      await store(database.history, tenant, { rank: 40 }),
    ];
    await database.history.clear(tenant, stored[1]?.id as string, 'x', now);
    await store(database.history, tenant, { rank: 40, title: 'newer' });
    expect(await database.history.live(tenant, lobby, now, 500)).toEqual({
      head: 5,
      positions: [
        { rank: 50, position: 1 },
        { rank: 40, position: 5 },
        { rank: 40, position: 3 },
      ],
    });
    expect(await database.history.readLive(tenant, [3, 1], now, 500)).toEqual({
      notifications: [
        { ...stored[2], count: 0, acknowledged: null },
        { ...stored[0], count: 0, acknowledged: null },
      ],
      scanned: 2,
    });
  });

  test('knows which of those that stay are beyond a limit: the oldest of the lowest rank', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const tenant = await newTenant();
    const add = async (title: string, given: Parameters<typeof store>[2]) =>
      [title, (await store(history, tenant, { title, ...given })).id] as const;
    const ids = new Map([
      await add('old info', { rank: 20, expiresAt: null }),
      await add('critical', { rank: 50, expiresAt: null }),
      await add('short', { rank: 10, expiresAt: now + 1_000 }),
      await add('long', { rank: 20, expiresAt: now + 1_001 }),
      await add('muted', { rank: 10, expiresAt: null, route: { ...routeTo(everyone), muted: true } }),
      await add('error', { rank: 40, expiresAt: null }),
    ]);
    const beyond = (limit: number) => history.stayingBeyond(tenant, limit, now + 1_000);
    const idsOf = (...titles: string[]) => titles.map((title) => ids.get(title));
    expect(await beyond(4)).toEqual([]);
    expect(await beyond(3)).toEqual(idsOf('old info'));
    expect(await beyond(2)).toEqual(idsOf('long', 'old info'));
    await history.clear(tenant, ids.get('long') ?? '', 'x', now);
    expect(await beyond(3)).toEqual([]);
    expect(await history.stayingBeyond(await newTenant(), 0, now)).toEqual([]);
    expect(await beyond(2)).toEqual(idsOf('old info'));
  });

  test('what stays beyond the limit is cleared, for each tenant alone, and the log says why', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const [crowded, other] = [await newTenant(), await newTenant()];
    const staying = [];
    for (let i = 0; i < 130; i += 1)
      staying.push(await store(history, crowded, { rank: i === 0 ? 50 : 20, expiresAt: null }));
    await store(history, crowded, { rank: 10, expiresAt: now + 1_000 });
    for (let i = 0; i < 3; i += 1) await store(history, other, { expiresAt: null });
    const published: unknown[] = [];
    const warnings: string[] = [];
    const list = async () => [crowded, other].map((id) => ({ id, name: `tenant ${id}` }) as TenantRecord);
    await enforceLiveLimit(
      {
        directory: { tenants: { list } },
        history,
        bus: {
          publish: (tenant, entries) => published.push(...entries.map((entry) => [tenant, entry.kind])),
        },
        now: () => now,
        warn: (message) => warnings.push(message),
        most: 3,
      },
      () => false,
    );
    const { entries } = await history.readAfter(crowded, 131, 500);
    const left = [staying[0], ...staying.slice(-2)];
    const cleared = staying.filter((each) => !left.includes(each)).map(({ id }) => id);
    expect(entries.map((entry) => (entry.kind === 'clear' ? entry.id : '')).sort()).toEqual(cleared.sort());
    expect(new Set(entries.map((entry) => entry.kind === 'clear' && entry.by))).toEqual(
      new Set(['live-limit']),
    );
    expect(published).toEqual(cleared.map(() => [crowded, 'clear']));
    expect((await history.live(crowded, lobby, now, 500)).positions.map(({ position }) => position)).toEqual([
      1, 130, 129, 131,
    ]);
    expect((await history.live(other, lobby, now, 500)).positions).toHaveLength(3);
    expect(warnings).toEqual([
      expect.stringContaining(`took 127 notifications of the tenant tenant ${crowded}`),
    ]);
  });

  test('a tenant whose log cannot be read keeps no other tenant from the limit', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const [unreadable, other] = [await newTenant(), await newTenant()];
    for (let i = 0; i < 3; i += 1) await store(history, other, { expiresAt: null });
    const list = async () => [unreadable, other].map((id) => ({ id, name: `tenant ${id}` }) as TenantRecord);
    const enforcing = enforceLiveLimit(
      {
        directory: { tenants: { list } },
        history: {
          clear: (...given) => history.clear(...given),
          stayingBeyond: async (tenant, ...rest) => {
            if (tenant === unreadable) throw new Error('database disk image is malformed');
            return history.stayingBeyond(tenant, ...rest);
          },
        },
        bus: { publish: () => undefined },
        now: () => now,
        warn: () => undefined,
        most: 1,
      },
      () => false,
    );
    await expect(enforcing).rejects.toThrow(
      `the limit of live notifications failed for the tenants tenant ${unreadable}`,
    );
    expect(await shownOn(history, other)).toHaveLength(1);
  });

  test('is the highest in rank, then the newest, when there are more than asked for', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const titles = async (limit: number) =>
      (await liveOn(database.history, tenant, { limit })).map(({ title }) => title);
    for (const [title, rank] of [
      ['old error', 40],
      ['critical', 50],
      ['old info', 20],
      ['error', 40],
      ['info', 20],
    ] as const) {
      await store(database.history, tenant, { title, rank });
    }
    expect(await titles(1)).toEqual(['critical']);
    expect(await titles(2)).toEqual(['critical', 'error']);
    expect(await titles(3)).toEqual(['old error', 'critical', 'error']);
    expect(await titles(4)).toEqual(['old error', 'critical', 'error', 'info']);
  });

  test('holds what names the panel, carries one of its tags, or goes to everyone, and nothing else', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const to = async (title: string, target: Parameters<typeof toTarget>[0]) => {
      await store(database.history, tenant, { title, route: routeTo(toTarget(target)) });
    };
    await to('everyone', { all: true });
    await to('by id', { ids: ['other', 'lobby'] });
    await to('by tag', { tags: ['other', 'front'] });
    await to('by either', { ids: ['other'], tags: ['front'] });
    await to('another id', { ids: ['lobb', 'lobby2'] });
    await to('another tag', { tags: ['fron', 'front2', 'FRONT'] });
    await to('nobody', {});
    const titles = async (panel: typeof lobby) =>
      (await liveOn(database.history, tenant, { panel })).map(({ title }) => title);
    expect(await titles(lobby)).toEqual(['everyone', 'by id', 'by tag', 'by either']);
    expect(await titles({ id: 'lobby', tags: [] })).toEqual(['everyone', 'by id']);
    expect(await titles({ id: 'new', tags: ['x', 'front2'] })).toEqual(['everyone', 'another tag']);
    expect(await titles({ id: 'new', tags: [] })).toEqual(['everyone']);
  });

  test('a limit counts what is for the panel alone', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const mine = await store(database.history, tenant, { rank: 10 });
    for (let i = 0; i < 20; i++)
      await store(database.history, tenant, { rank: 50, route: routeTo(toTarget({ ids: ['other'] })) });
    expect((await liveOn(database.history, tenant, { limit: 1 })).map(({ id }) => id)).toEqual([mine.id]);
  });

  test('ends with the time of each, swept or not', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const short = await store(database.history, tenant, { ttl: 1_000, expiresAt: now + 1_000 });
    const long = await store(database.history, tenant, { ttl: 9_000, expiresAt: now + 9_000 });
    const forever = await store(database.history, tenant);
    const at = (time: number) => shownOn(database.history, tenant, lobby, time);
    expect(await at(now + 999)).toEqual([short.id, long.id, forever.id]);
    expect(await at(now + 1_000)).toEqual([long.id, forever.id]);
    await database.sweep(now + 1_000);
    expect(await at(now + 1_000)).toEqual([long.id, forever.id]);
    expect(await at(now + 9_000)).toEqual([forever.id]);
  });

  describe('after the clock was set', () => {
    const hour = 3_600_000;
    const year = 8_760 * hour;

    test('what came while it was ahead leaves a ttl after it is right, and says so to panels', async () => {
      const { database, newTenant } = lab();
      const { history } = database;
      const tenant = await newTenant();
      const ahead = { receivedAt: now + year, ttl: hour };
      const timed = await store(history, tenant, { ...ahead, expiresAt: now + year + hour });
      const lasting = await store(history, tenant, { receivedAt: now + year });
      await database.sweep(now + year + 1);
      expect(await shownOn(history, tenant, lobby, now + year + 1)).toEqual([timed.id, lasting.id]);
      await database.sweep(now);
      const usual = await store(history, tenant, {
        ttl: hour,
        expiresAt: now + 1 + hour,
        receivedAt: now + 1,
      });
      const shown = await liveOn(history, tenant, { at: now + 2 });
      expect(shown.map(({ id, expiresAt }) => [id, expiresAt])).toEqual([
        [timed.id, now + hour],
        [lasting.id, null],
        [usual.id, now + 1 + hour],
      ]);
      expect(await sentTo(history, tenant, now + hour - 5)).toMatchObject([
        { id: timed.id, remainingMs: 5, ttl: hour },
        { id: lasting.id, remainingMs: null },
        { id: usual.id, remainingMs: 6, ttl: hour },
      ]);
      expect(await sentTo(history, tenant, now + hour)).toMatchObject([{ id: lasting.id }, { id: usual.id }]);
      // It is not live again after a restart or another sweep.
      for (const at of [now + hour + 5, now + hour + 6]) await database.sweep(at);
      expect(await shownOn(history, tenant, lobby, now + hour + 6)).toEqual([lasting.id]);
      expect(await history.clear(tenant, timed.id, 'x', now + hour + 6)).toEqual({ kind: 'not-live' });
    });

    test('what came before stays its ttl, also if the clock was behind for a moment', async () => {
      const { database, newTenant } = lab();
      const { history } = database;
      const tenant = await newTenant();
      const { id } = await store(history, tenant, { ttl: hour, expiresAt: now + hour });
      for (const at of [now, now - 2 * hour, now + 10_000]) await database.sweep(at);
      const [shown] = await liveOn(history, tenant, { at: now + hour - 1 });
      expect(shown).toMatchObject({ id, expiresAt: now + hour });
      expect(await shownOn(history, tenant, lobby, now + hour)).toEqual([]);
    });
  });

  test('sweeping takes out what has expired, once, and no more', async () => {
    const database = await lab().open();
    try {
      const { id: tenant } = await database.directory.tenants.create('swept', 'Swept', 'test', 1);
      for (let i = 1; i <= 6; i++) await store(database.history, tenant, { ttl: i, expiresAt: now + i });
      expect(await database.sweep(now + 4)).toBe(4);
      expect(await database.sweep(now + 4)).toBe(0);
      expect(await shownOn(database.history, tenant)).toHaveLength(2);
    } finally {
      await database.close();
    }
  });

  test('leaves out what is muted and what a throttle counted, and tells how many it counted on what is shown', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const [first, plain] = [await store(database.history, tenant), await store(database.history, tenant)];
    for (let count = 1; count <= 3; count++)
      await store(database.history, tenant, { throttledOn: first.id, throttleCount: count });
    await store(database.history, tenant, { route: routeTo(everyone, { muted: true }) });
    expect((await liveOn(database.history, tenant)).map(({ id, count }) => [id, count])).toEqual([
      [first.id, 3],
      [plain.id, 0],
    ]);
  });

  test('is read for chunks of what senders wrote, of so much or of one that has more', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const sixty = { title: 'a'.repeat(10), host: 'a'.repeat(10), key: 'a'.repeat(15), url: 'a'.repeat(25) };
    await store(database.history, tenant, { ...sixty, message: '' });
    for (const length of [60, 500, 1])
      await store(database.history, tenant, { title: '', message: 'b'.repeat(length) });
    const chunk = async (positions: number[], chars: number) => {
      const { notifications, scanned } = await database.history.readLive(tenant, positions, now, chars);
      return [notifications.map(({ position }) => position), scanned];
    };
    for (const enough of [1_000, Number.POSITIVE_INFINITY])
      expect(await chunk([1, 2, 3, 4], enough)).toEqual([[1, 2, 3, 4], 4]);
    expect(await chunk([1, 2, 3, 4], 120)).toEqual([[1, 2], 2]);
    expect(await chunk([1, 2, 3, 4], 119)).toEqual([[1], 1]);
    expect(await chunk([3, 4], 100)).toEqual([[3], 1]);
    expect(await chunk([99, 98, 4, 1, 97], 1)).toEqual([[4], 3]);
  });

  test('leaves out what was cleared, dropped or over since its place was read', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const dropped = await store(database.history, tenant);
    const cleared = await store(database.history, tenant);
    const over = await store(database.history, tenant, { ttl: 1_000, expiresAt: now + 1_000 });
    const kept = await store(database.history, tenant);
    const muted = await store(database.history, tenant, { route: routeTo(everyone, { muted: true }) });
    await database.history.clear(tenant, cleared.id, 'x', now);
    await database.history.prune(tenant, { olderThan: null, keep: 4 }, now);
    const positions = [dropped, cleared, over, kept, muted].map(({ position }) => position);
    const { notifications, scanned } = await database.history.readLive(
      tenant,
      [...positions, 99],
      now + 1_000,
      10_000,
    );
    expect(notifications.map(({ id }) => id)).toEqual([kept.id]);
    expect(scanned).toBe(6);
  });

  test("never holds another tenant's, though panels have the same id and tags", async () => {
    const { database, newTenant } = lab();
    const [a, b] = [await newTenant(), await newTenant()];
    await store(database.history, a, { route: routeTo(toTarget({ ids: ['lobby'], tags: ['front'] })) });
    expect((await database.history.live(b, lobby, now, 500)).positions).toEqual([]);
    expect((await database.history.readLive(b, [1], now, 500)).notifications).toEqual([]);
  });
}
