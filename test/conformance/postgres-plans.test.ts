/** What is done for one notification reads as many rows in a long log as in a short one, also before PostgreSQL has statistics of it. */
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import type { Storage } from '#storage/database/storage.ts';
import { openPostgres } from '#storage/postgres/open.ts';
import { openPostgresTransfer } from '#storage/postgres/transfer.ts';
import { eventually } from '../support/eventually.ts';
import { createDatabase, withClient } from '../support/postgres.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { acknowledge, draft, lobby, now, store } from './history-lab.ts';
import { all, is, words } from './history-samples.ts';

const tenant = 1;
const rows = 1_500;
const inBatch = 50;
const partitionRows = 10_000;

/** Does `work`; answers the text of each of its statements, and which tables and indexes it locked. */
async function locksTaken(work: () => Promise<void>): Promise<{ text: string; locks: string[] }[]> {
  const taken: { text: string; locks: string[] }[] = [];
  const query = pg.Client.prototype.query as (...args: unknown[]) => Promise<{ rows: { name: string }[] }>;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(async function (
    this: pg.Client,
    config: pg.QueryConfig | string,
    values?: unknown[],
  ) {
    await query.call(this, 'BEGIN');
    const result = await query.call(this, config, values);
    const { rows: found } = await query.call(
      this,
      "SELECT DISTINCT relation::regclass::text AS name FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'",
    );
    await query.call(this, 'COMMIT');
    const text = typeof config === 'string' ? config : config.text;
    taken.push({ text, locks: found.map(({ name }) => name) });
    return result;
  } as never);
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return taken;
}

describeWithPostgres('locks of PostgreSQL', (server) => {
  test('are as few in a log of 40 partitions as in a short one', async () => {
    const url = await createDatabase(server());
    const storage = await openPostgres({
      url,
      queueCapacity: 10,
      partitionRows: 10,
      onProblem: () => undefined,
    });
    await withClient(url, (client) => client.query('SELECT make_partitions(10, 400)'));
    const { history } = storage;
    const retry = { key: 'retry', hash: 'hash' };
    const claims = [{ name: 'alike', perMs: 1_000, insteadOf: [] }];
    const [shown, next, other] = [draft({ key: 'disk' }), draft({ key: 'disk' }), draft()];
    const taken = await locksTaken(async () => {
      await history.append(tenant, shown, retry, { claims });
      await history.append(tenant, next, null);
      await history.append(tenant, draft({ throttledOn: next.id }), null);
      const { entries } = await history.append(tenant, other, null).then((stored) => {
        if (stored.kind !== 'stored') throw new Error(stored.kind);
        return stored;
      });
      await history.record(tenant, lobby, [{ id: other.id, state: 'shown', at: now }]);
      const read = await history.readLive(
        tenant,
        entries.map(({ position }) => position),
        now,
        10_000,
      );
      expect(read.notifications.map(({ id }) => id)).toEqual([other.id]);
      await acknowledge(history, tenant, other.id, { by: 'ann', at: now, note: null });
      expect((await history.clear(tenant, other.id, 'ann', now)).kind).toBe('cleared');
      await history.find(tenant, other.id);
      await history.readAfter(tenant, 0, 100);
      const { head } = await history.bounds(tenant);
      for (const query of [
        all,
        words('disk'),
        is('live'),
        is('live', 'unseen'),
        { kind: 'before', at: now } as const,
      ]) {
        await history.search(tenant, query, { limit: 2, now, timeoutMs: 0 });
        await history.search(tenant, query, { limit: 2, now, before: head });
      }
      const times = { after: now - 90_001, before: now + 1, origin: 0, bucketMs: 60_000 };
      for (const query of [all, is('live'), words('disk')])
        await storage.statistics.count(tenant, query, times, { now });
      await history.prune(tenant, { olderThan: null, keep: 2 }, now);
      await storage.retain?.(async () => undefined);
    });
    await storage.close();
    expect(new Set(taken.map(({ text }) => text)).size).toBeGreaterThan(20);
    expect(taken.filter(({ locks }) => locks.length > 80)).toEqual([]);
  });

  test('a search by time asks the partitions that have something of it, also where a clock went back', async () => {
    const url = await createDatabase(server());
    const storage = await openPostgres({
      url,
      queueCapacity: 10,
      partitionRows: 5,
      blockRows: 2,
      onProblem: () => undefined,
    });
    const { history } = storage;
    const times = new Map<string, number>();
    const add = async (at: number) => {
      const entry = await store(history, tenant, { receivedAt: at, expiresAt: null });
      times.set(entry.id, at);
      return entry.id;
    };
    for (let i = 0; i < 40; i++) await add(i % 7 === 6 ? i - 6 : i);
    await history.clear(tenant, await add(40), 'ann', 0);
    await eventually(async () => {
      while (await storage.indexNext?.());
      const { rows: blocks } = await withClient(url, (client) =>
        client.query('SELECT max(high) AS high FROM term_blocks'),
      );
      expect(Number(blocks[0]?.high)).toBeGreaterThan(40);
    });
    // Known only of what is indexed.
    for (const at of [3, 50, 17, 51, 52, 53, 54]) await add(at);
    const asked = new Map<number, Set<string>>();
    const spans = [0, 99, 0, 1, 3, 4, 17, 18, 12, 19, 33, 41, 40, 41, 41, 50, 50, 98];
    for (let i = 0; i < spans.length; i += 2) {
      const [from, to] = spans.slice(i, i + 2) as [number, number];
      const terms = [
        { kind: 'after', at: from },
        { kind: 'before', at: to },
      ] as const;
      const taken = await locksTaken(async () => {
        const { records } = await history.search(tenant, { kind: 'and', terms }, { limit: 99, now });
        const expected = [...times].filter(([, at]) => at >= from && at < to).map(([id]) => id);
        expect(records.map(({ id }) => id)).toEqual(expected.reverse());
      });
      const locks = taken.flatMap((statement) => statement.locks);
      asked.set(to, new Set(locks.filter((name) => /^log_\d+$/.test(name))));
    }
    await storage.close();
    expect(asked.get(99)?.size).toBeGreaterThan(9);
    // The two first ones, and what was not indexed.
    expect(asked.get(4)?.size).toBeLessThan(6);
  });

  test('a search by time leaves out full partitions of other times, also before they are indexed', async () => {
    const url = await createDatabase(server());
    const options = { queueCapacity: 10, partitionRows: 5, blockRows: 5, onProblem: () => undefined };
    const storage = await openPostgres({ url, ...options });
    await withClient(url, (client) => client.query('SELECT make_partitions(5, 50)'));
    const { history } = storage;
    for (let at = 0; at < 43; at++) await store(history, tenant, { receivedAt: at, expiresAt: null });
    await eventually(async () => {
      await storage.indexNext?.();
      const { rows: listed } = await withClient(url, (client) =>
        client.query('SELECT low FROM partitions WHERE listed IS NOT NULL'),
      );
      expect(listed).toEqual([{ low: '36' }]);
    });
    await storage.retain?.(async () => undefined);
    const terms = [
      { kind: 'after', at: 3 },
      { kind: 'before', at: 8 },
    ] as const;
    const taken = await locksTaken(async () => {
      const { records } = await history.search(tenant, { kind: 'and', terms }, { limit: 99, now });
      expect(records.map(({ receivedAt }) => receivedAt)).toEqual([7, 6, 5, 4, 3]);
    });
    await storage.close();
    const locks = new Set(
      taken.flatMap((statement) => statement.locks).filter((name) => /^log_\d+$/.test(name)),
    );
    // The newest one is not full.
    expect([...locks].sort()).toEqual(['log_1', 'log_41', 'log_6']);
  });

  test('an unknown id is looked for in the partitions of its time alone, and each known one is found', async () => {
    const url = await createDatabase(server());
    const options = { queueCapacity: 10, partitionRows: 5, blockRows: 5, onProblem: () => undefined };
    const storage = await openPostgres({ url, ...options });
    await withClient(url, (client) => client.query('SELECT make_partitions(5, 50)'));
    const { history } = storage;
    const minute = 60_000;
    // The clock of the last ones went back.
    const known = new Map<string, number>();
    for (let i = 0; i < 43; i++) {
      const receivedAt = now + (i < 33 ? i : i - 31) * 5 * minute;
      known.set((await store(history, tenant, { receivedAt, expiresAt: null })).id, receivedAt);
    }
    await eventually(async () => {
      while (await storage.indexNext?.());
      await storage.retain?.(async () => undefined);
      const { rows: untimed } = await withClient(url, (client) =>
        client.query('SELECT low FROM partitions WHERE first_at IS NULL ORDER BY low'),
      );
      expect(untimed[0]).toEqual({ low: '41' });
    });
    const at = (minutes: number) => draft({ receivedAt: now + minutes * minute }).id;
    const unknown = [at(-100), at(12), at(78), at(133), at(1_000), '550e8400-e29b-41d4-a716-446655440000'];
    for (const id of unknown) {
      const taken = await locksTaken(async () => {
        expect((await history.clear(tenant, id, 'ann', now)).kind).toBe('not-found');
        expect((await acknowledge(history, tenant, id, { by: 'ann', at: now, note: null })).kind).toBe(
          'not-found',
        );
        expect(await history.record(tenant, lobby, [{ id, state: 'shown', at: now }])).toEqual([]);
        expect(await history.find(tenant, id)).toBeUndefined();
      });
      const locks = new Set(taken.flatMap(({ locks }) => locks).filter((name) => /^log_\d+$/.test(name)));
      // The newest one, and those of its time.
      expect([...locks]).toContain('log_41');
      expect(locks.size).toBeLessThanOrEqual(3);
    }
    const none = await locksTaken(async () => {
      expect((await history.clear(tenant, 'none', 'ann', now)).kind).toBe('not-found');
      expect(await history.record(tenant, lobby, [{ id: 'none', state: 'shown', at: now }])).toEqual([]);
    });
    expect(none).toEqual([]);
    for (const id of known.keys()) expect((await history.find(tenant, id))?.id).toBe(id);
    const fresh = await history.record(
      tenant,
      lobby,
      [...known.keys(), ...unknown].map((id) => ({ id, state: 'shown', at: now })),
    );
    expect(new Map(fresh.map(({ id, receivedAt }) => [id, receivedAt]))).toEqual(known);
    await storage.close();
  });
});

describeWithPostgres('rows of the log that PostgreSQL reads', (server) => {
  /** Does `work` on a new database; answers how many rows of the log it read, by whatever plan. */
  async function rowsRead(work: (storage: Storage, url: string) => Promise<void>): Promise<number> {
    const url = await createDatabase(server());
    const options = { queueCapacity: rows, partitionRows, onProblem: () => undefined };
    const storage = await openPostgres({ url, ...options });
    // A new partition has no statistics until PostgreSQL looks at it, which takes up to a minute.
    const off = (low: number) => `ALTER TABLE log_${low} SET (autovacuum_enabled = off)`;
    await withClient(url, (client) => client.query(`${off(1)}; ${off(1 + partitionRows)}`));
    await work(storage, url);
    await storage.close();
    return withClient(url, async (client) => {
      const { rows: found } = await client.query<{ read: string }>(
        "SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) AS read FROM pg_stat_user_tables WHERE relname ~ '^log_[0-9]+$'",
      );
      return Number(found[0]?.read);
    });
  }

  const ids: string[] = [];
  async function fill({ history }: Storage): Promise<void> {
    ids.length = 0;
    for (let done = 0; done < rows; done += inBatch) {
      const batch = Array.from({ length: inBatch }, (_, i) =>
        draft({ throttledOn: i % 10 === 1 ? (ids[done] ?? null) : null }),
      );
      ids.push(...batch.map(({ id }) => id));
      await Promise.all(batch.map((each) => history.append(tenant, each, null)));
    }
  }

  test('are about one for each notification that is stored, counted, cleared or acknowledged', async () => {
    const read = await rowsRead(async (storage) => {
      await fill(storage);
      for (const id of ids.slice(0, 40)) {
        await storage.history.clear(tenant, id, 'ann', now);
        await acknowledge(storage.history, tenant, ids[100] as string, { by: 'ann', at: now, note: null });
      }
    });
    expect(read).toBeLessThan(2 * rows);
  });

  test('are a few for each notification that a migration imports', async () => {
    const read = await rowsRead(async (storage, url) => {
      await fill(storage);
      // Of two partitions, one has statistics.
      await withClient(url, (client) =>
        client.query(`ANALYZE log_1; SELECT setval('log_row', ${partitionRows})`),
      );
      const { entries } = await storage.history.readAfter(tenant, 0, rows);
      const other = await openPostgresTransfer(storage, url);
      for (let from = 0; from < rows; from += 500) {
        const receipts = [
          { panelId: lobby.id, shownAt: now, inGroup: false, expiredAt: null, clearedAt: null },
        ];
        const page = entries
          .slice(from, from + 500)
          .map((entry) => ({ entry: { ...entry, id: `${entry.id.slice(0, -4)}ffff` }, receipts }));
        await other.importPage(tenant + 1, page);
      }
    });
    expect(read).toBeLessThan(5 * rows);
  });
});
