/** Rounds of retention where several nodes share a database. */
import { afterEach, expect, test } from 'vitest';
import type { Storage } from '#storage/database/storage.ts';
import { openPostgres } from '#storage/postgres/open.ts';
import { eventually } from '../support/eventually.ts';
import { createDatabase, withClient } from '../support/postgres.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { now, store } from './history-lab.ts';

const [tenant, other] = [1, 2];

describeWithPostgres('retention with several nodes', (server) => {
  const opened: Storage[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((storage) => storage.close(2_000)));
  });
  const open = async (url: string) => {
    const onProblem = () => undefined;
    const storage = await openPostgres({ url, queueCapacity: 1_000, partitionRows: 5, onProblem });
    opened.push(storage);
    return storage;
  };
  const run = (storage: Storage, round: () => Promise<void>) => storage.retain?.(round);
  /** As a minute later. */
  const letMinutePass = (url: string) =>
    withClient(url, (client) => client.query("UPDATE meta SET value = '0' WHERE name = 'retention'"));
  const partitions = (url: string) =>
    withClient(url, async (client) => {
      const { rows } = await client.query<{ low: string }>('SELECT low FROM partitions ORDER BY low');
      return rows.map(({ low }) => Number(low));
    });
  const partitionOf = (url: string, of: number, position: number) =>
    withClient(url, async (client) => {
      await client.query("SET belfry.tenant = 'all'");
      const { rows } = await client.query<{ low: string }>(
        `SELECT p.low FROM log g JOIN partitions p ON g.row >= p.low AND g.row < p.high
         WHERE g.tenant = $1 AND g.position = $2`,
        [of, position],
      );
      return Number(rows[0]?.low);
    });

  test('a lease is one node’s until it gives it up, or does not renew it', async () => {
    const url = await createDatabase(server());
    const [a, b] = (await Promise.all([open(url), open(url)])).map(({ nodes }) => nodes?.lease('mqtt'));
    expect([await a?.hold(), await b?.hold(), await a?.hold()]).toEqual([true, false, true]);
    await b?.release();
    expect(await b?.hold()).toBe(false);
    await a?.release();
    expect([await b?.hold(), await a?.hold()]).toEqual([true, false]);
    const past = "UPDATE meta SET value = split_part(value, ' ', 1) || ' 1' WHERE name = 'lease mqtt'";
    await withClient(url, (client) => client.query(past));
    expect([await a?.hold(), await b?.hold()]).toEqual([true, false]);
  });

  test('a round runs on one node at a time, and once a minute for all nodes', async () => {
    const url = await createDatabase(server());
    const [a, b] = await Promise.all([open(url), open(url)]);
    const rounds: string[] = [];
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const first = run(a, async () => {
      rounds.push('first');
      await promise;
    });
    await eventually(() => expect(rounds).toEqual(['first']));
    await letMinutePass(url);
    await run(b, async () => void rounds.push('beside the first'));
    end();
    await first;
    await run(b, async () => void rounds.push('second'));
    await run(a, async () => void rounds.push('right after the second'));
    expect(rounds).toEqual(['first', 'second']);
  });

  test('after a round, also one that fails or prunes nothing, what no tenant keeps is dropped', async () => {
    const url = await createDatabase(server());
    const storage = await open(url);
    const { history } = storage;
    for (let i = 0; i < 12; i++) await store(history, tenant, { expiresAt: now - 1 });
    await store(history, other);
    for (let i = 0; i < 12; i++) await store(history, tenant, { expiresAt: now - 1 });
    const before = await partitions(url);
    const [ofOther, newest] = [await partitionOf(url, other, 1), await partitionOf(url, tenant, 24)];
    expect([1, ofOther, newest]).toEqual([...new Set([1, ofOther, newest])].sort((a, b) => a - b));
    while ((await history.prune(tenant, { olderThan: null, keep: 1 }, now)) > 0);
    expect(await partitions(url)).toEqual(before);
    const failing = async () => {
      throw new Error('of one tenant');
    };
    await withClient(url, async (reader) => {
      await reader.query('BEGIN; LOCK TABLE ONLY log IN ACCESS SHARE MODE');
      await expect(run(storage, failing)).rejects.toThrow('of one tenant');
      expect(await partitions(url)).toEqual(before);
      await reader.query('COMMIT');
    });
    await letMinutePass(url);
    await expect(run(storage, failing)).rejects.toThrow('of one tenant');
    expect(await partitions(url)).toEqual(before.filter((low) => low === ofOther || low >= newest));
    expect(await history.bounds(other)).toEqual({ head: 1, first: 1 });
    expect((await history.readAfter(tenant, 0, 9)).entries).toHaveLength(1);
    while ((await history.prune(other, { olderThan: null, keep: 0 }, now)) > 0);
    await letMinutePass(url);
    await run(storage, async () => undefined);
    expect(await partitions(url)).toEqual(before.filter((low) => low >= newest));
  });

  test('what reads the end of a long log, or one of its newest notifications, locks the newest partitions alone', async () => {
    const url = await createDatabase(server());
    const { history } = await open(url);
    for (let i = 0; i < 60; i++) await store(history, tenant);
    const newest = await store(history, tenant);
    const { length: all } = await partitions(url);
    expect(all).toBeGreaterThan(12);
    await withClient(url, async (client) => {
      await client.query(`SET belfry.tenant = '${tenant}'`);
      for (const statement of [
        `SELECT * FROM read_after(${tenant}, ${newest.position - 3}, 9)`,
        `SELECT * FROM find_entry(${tenant}, '${newest.id}')`,
      ]) {
        await client.query('BEGIN');
        await client.query(statement);
        const { rows } = await client.query<{ tables: string }>(
          `SELECT count(DISTINCT c.oid) AS tables FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
           WHERE l.pid = pg_backend_pid() AND c.relkind = 'r' AND c.relname LIKE 'log\\_%' AND c.relispartition`,
        );
        await client.query('COMMIT');
        expect(Number(rows[0]?.tables)).toBeLessThanOrEqual(4);
      }
    });
    // All of it, and what is old, is still found, page by page.
    const read: number[] = [];
    for (let page = await history.readAfter(tenant, 0, 7); page.entries.length > 0; ) {
      read.push(...page.entries.map(({ position }) => position));
      page = await history.readAfter(tenant, read.length, 7);
    }
    expect(read).toEqual(Array.from({ length: 61 }, (_, i) => i + 1));
    const [oldest] = (await history.readAfter(tenant, 0, 1)).entries;
    expect(await history.find(tenant, oldest?.id ?? '')).toMatchObject({ position: 1 });
    expect(await history.find(other, oldest?.id ?? '')).toBeUndefined();
  });
});
