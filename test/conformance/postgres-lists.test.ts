/** The lists of rows by term that PostgreSQL searches: in whatever state they are, they say what the rows say. */
import pg from 'pg';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Query } from '#core/search/search-query.ts';
import { openPostgres, type PostgresOptions } from '#storage/postgres/open.ts';
import { TermLists } from '#storage/postgres/term-lists.ts';
import type { Storage } from '#storage/storage.ts';
import { eventually } from '../support/eventually.ts';
import { createDatabase, withClient } from '../support/postgres.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { draft, now } from './history-lab.ts';

describeWithPostgres('lists of terms on PostgreSQL', (server) => {
  const opened: Storage[] = [];
  async function open(options: Partial<PostgresOptions>, url?: string) {
    const own = url ?? (await createDatabase(server()));
    const storage = await openPostgres({
      url: own,
      queueCapacity: 1_000,
      onProblem: () => undefined,
      ...options,
    });
    opened.push(storage);
    return { url: own, storage };
  }
  const closeAll = () => Promise.all(opened.splice(0).map((storage) => storage.close()));
  afterEach(async () => void (await closeAll()));

  const select = async <Row>(url: string, text: string, values: readonly unknown[] = []) =>
    withClient(url, async (client) => {
      await client.query("SET belfry.tenant = 'all'");
      return (await client.query({ text, values: [...values] })).rows as Row[];
    });

  /** Each list that is there, against the rows themselves; answers how many rows are listed. */
  async function expectTrueLists(url: string): Promise<number> {
    const partitions = await select<{ low: string; listed: string; merged: boolean }>(
      url,
      'SELECT low, listed, merged FROM partitions WHERE listed IS NOT NULL',
    );
    let rows = 0;
    for (const { low, listed, merged } of partitions) {
      const [firstRow, indexed] = [Number(low), Number(listed) - 1];
      rows += indexed + 1 - firstRow;
      const lists = await select<{ tenant: string; term: string; rows: Buffer }>(
        url,
        `SELECT tenant, term, string_agg(rows, '') AS rows FROM ${merged ? 'term' : 'block'}_lists WHERE low = $1 GROUP BY 1, 2`,
        [low],
      );
      const expected = await select<{ tenant: string; term: string; rows: string[] }>(
        url,
        `SELECT tenant, term, array_agg(row ORDER BY row) AS rows FROM (
           SELECT tenant, row, unnest(tsvector_to_array(terms)) AS term FROM log_${low} WHERE row < $1) t GROUP BY 1, 2`,
        [listed],
      );
      const found = new Map(lists.map((list) => [`${list.tenant} ${list.term}`, list.rows]));
      expect(found.size).toBe(expected.length);
      for (const { tenant, term, rows: wanted } of expected) {
        const list = found.get(`${tenant} ${term}`) ?? null;
        const all = { firstRow, indexed };
        const index = new TermLists(all, new Map(), new Map([[term, list]]));
        const read = index.find({ kind: 'term', term, prefix: false });
        expect(read?.last(Number.POSITIVE_INFINITY, { low: firstRow, high: indexed })).toEqual(
          wanted.map(Number),
        );
      }
    }
    return rows;
  }

  async function add(
    { history }: Storage,
    count: number,
    message = (n: number) => `n${n} ${n % 3 ? 'often' : 'rare'}`,
  ) {
    const batch = Array.from({ length: count }, (_, n) =>
      history.append(
        (n % 2) + 1,
        draft({ message: message(n), key: n % 10 ? null : 'k', expiresAt: null }),
        null,
      ),
    );
    await Promise.all(batch);
  }
  const listAll = ({ indexNext }: Storage, url: string, least: number) =>
    eventually(async () => {
      while (await indexNext?.());
      const [done] = await select<{ rows: string }>(url, 'SELECT sum(high - low) AS rows FROM term_blocks');
      expect(Number(done?.rows)).toBeGreaterThanOrEqual(least);
    });

  test('block by block, merged, and with several tenants and clears among the rows', async () => {
    const { url, storage } = await open({ partitionRows: 500, blockRows: 150 });
    await add(storage, 900);
    await storage.indexNext?.();
    await expectTrueLists(url);
    await listAll(storage, url, 900);
    expect(await expectTrueLists(url)).toBeGreaterThanOrEqual(900);
    const lows = (table: string) =>
      select<{ low: string }>(url, `SELECT DISTINCT low FROM ${table} ORDER BY 1`);
    // What is merged needs its blocks no more.
    expect(await lows('term_lists')).toEqual([{ low: '1' }]);
    expect(await lows('block_lists')).toEqual([{ low: '501' }]);
    // The index of words that older versions had.
    await storage.retain?.(async () => undefined);
    expect(await select(url, "SELECT to_regclass('log_terms') AS index")).toEqual([{ index: null }]);
  });

  test('whatever ends like the name of a flag is looked up, and what is excluded is not found at the border of partitions', async () => {
    const { url, storage } = await open({ partitionRows: 50, blockRows: 20 });
    const { history } = storage;
    for (let n = 0; n < 120; n++) {
      const host = n % 5 === 0 ? 'web.all' : `h${n}`;
      await history.append(1, draft({ host, level: n % 2 ? 'info' : 'error', expiresAt: null }), null);
    }
    await listAll(storage, url, 120);
    const found = async (query: Query) =>
      (await history.search(1, query, { limit: 200, now })).records.map(({ position }) => position - 1);
    const expected = (matches: (n: number) => boolean) =>
      Array.from({ length: 120 }, (_, n) => 119 - n).filter(matches);
    expect(await found({ kind: 'host', patterns: ['web.all'] })).toEqual(expected((n) => n % 5 === 0));
    const error: Query = { kind: 'level', names: ['error'] };
    expect(await found({ kind: 'not', term: error })).toEqual(expected((n) => n % 2 === 1));
  });

  test('fewer rows at once where texts are long', async () => {
    const { url, storage } = await open({ partitionRows: 5_000, blockRows: 300 });
    const long = Array.from({ length: 9_000 }, (_, n) => `w${n.toString(36)}`).join(' ');
    await add(storage, 300, (n) => (n % 3 ? 'short' : long));
    await listAll(storage, url, 150);
    const blocks = await select<{ rows: string }>(
      url,
      'SELECT high - low AS rows FROM term_blocks ORDER BY low',
    );
    expect(Number(blocks[0]?.rows)).toBeLessThan(300);
    await expectTrueLists(url);
  });

  test('two nodes at once list each row once', async () => {
    const { url, storage } = await open({ partitionRows: 200, blockRows: 20 });
    await add(storage, 600);
    const { storage: other } = await open({ partitionRows: 200, blockRows: 20 }, url);
    await eventually(async () => {
      await Promise.all(
        [storage, other].map(async ({ indexNext }) => {
          for (let i = 0; i < 40; i++) await indexNext?.();
        }),
      );
      expect(await expectTrueLists(url)).toBeGreaterThanOrEqual(600);
    });
  });

  test('a row is listed after its transaction has ended, and no sooner; a search finds it from then on', async () => {
    const { url, storage } = await open({ partitionRows: 500, blockRows: 10 });
    await add(storage, 3);
    await withClient(url, async (client) => {
      await client.query(
        "SET belfry.tenant = 'all'; BEGIN; UPDATE logs SET head = head + 1 WHERE tenant = 1",
      );
      await client.query(
        `INSERT INTO log SELECT (jsonb_populate_record(g, jsonb_build_object('row', nextval('log_row'), 'position', g.position + 2,
           'id', gen_random_uuid(), 'terms', '''1.all'' ''late'''))).* FROM log g WHERE tenant = 1 AND cleared IS NULL ORDER BY row DESC LIMIT 1`,
      );
      for (let i = 0; i < 20; i++) await storage.history.append(2, draft(), null);
      for (let i = 0; i < 5; i++) await storage.indexNext?.();
      expect(await expectTrueLists(url)).toBe(0);
      await client.query('COMMIT');
    });
    await listAll(storage, url, 20);
    await expectTrueLists(url);
    const late = { kind: 'text', field: null, phrases: [{ text: 'late', prefix: false }] } as const;
    const lists = await select(url, "SELECT 1 FROM block_lists WHERE tenant = 1 AND term = 'late'");
    expect(lists).toHaveLength(1);
    expect((await storage.history.search(2, late, { limit: 9, now })).records).toEqual([]);
  });

  /** Drops what is old, and waits until its lists are gone. */
  async function dropPartitions({ history, retain, indexNext }: Storage, url: string): Promise<void> {
    for (const tenant of [1, 2]) while ((await history.prune(tenant, { olderThan: null, keep: 1 }, now)) > 0);
    await retain?.(async () => undefined);
    const [kept] = await select<{ low: string }>(url, 'SELECT min(low) AS low FROM partitions');
    expect(Number(kept?.low)).toBeGreaterThan(1);
    await eventually(async () => {
      while (await indexNext?.());
      for (const table of ['term_lists', 'block_lists', 'term_blocks'])
        expect(await select(url, `SELECT 1 FROM ${table} WHERE low < $1`, [kept?.low])).toEqual([]);
    });
  }

  test('go with their partition', async () => {
    const { url, storage } = await open({ partitionRows: 50, blockRows: 10 });
    await add(storage, 150);
    await listAll(storage, url, 150);
    await dropPartitions(storage, url);
  });

  /** As if so much time had passed. */
  function timeMachine() {
    let aheadMs = 0;
    const real = performance.now.bind(performance);
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => real() + aheadMs);
    onTestFinished(() => void spy.mockRestore());
    return (ms: number) => {
      aheadMs += ms;
    };
  }

  /** From now on, making the list of a term takes `ms`; returns what makes it fast again. */
  async function slowLists(url: string, ms: number) {
    await select(
      url,
      `CREATE FUNCTION wait_a_moment() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(${ms / 1000}); RETURN new; END'`,
    );
    await select(
      url,
      'CREATE TRIGGER wait BEFORE INSERT ON block_lists FOR EACH ROW EXECUTE FUNCTION wait_a_moment()',
    );
    return () => select(url, 'DROP TRIGGER wait ON block_lists');
  }

  test('that do not keep up are counted, and the operator learns which transaction holds them up', async () => {
    const warnings: string[] = [];
    const { url, storage } = await open({ blockRows: 10, onWarning: (message) => warnings.push(message) });
    const pass = timeMachine();
    const own = new URL(server());
    own.searchParams.set('application_name', 'dump');
    await withClient(own.href, async (client) => {
      const { rows } = await client
        .query('BEGIN; SELECT pg_current_xact_id()')
        .then(() => client.query('SELECT pg_backend_pid() AS pid'));
      const oldest = 'SELECT pg_snapshot_xmin(pg_current_snapshot()) = pg_current_xact_id() AS it';
      await eventually(async () => expect((await client.query(oldest)).rows).toEqual([{ it: true }]));
      await add(storage, 150);
      for (const _ of [1, 2, 3]) {
        pass(200_000);
        await storage.indexNext?.();
      }
      const [{ last } = { last: '' }] = await select<{ last: string }>(
        url,
        'SELECT last_value AS last FROM log_row',
      );
      expect(storage.indexBacklog?.()).toBe(Number(last));
      expect(warnings).toEqual([]);
      for (const _ of [1, 2]) {
        pass(200_000);
        await storage.indexNext?.();
      }
      expect(warnings).toEqual([
        expect.stringMatching(
          `^searches get slower: ${last} .* transaction .* end it \\(process ${rows[0].pid}, application "dump", database postgres\\)$`,
        ),
      ]);
      await client.query('COMMIT');
    });
    await listAll(storage, url, 150);
    await storage.indexNext?.();
    expect(storage.indexBacklog?.()).toBeLessThan(10);
    pass(400_000);
    await storage.indexNext?.();
    expect(warnings).toHaveLength(1);
  });

  test('of fewer rows at once after a time-out, and of more again when that is fast', async () => {
    const { url, storage } = await open({
      partitionRows: 500,
      blockRows: 64,
      timeouts: { statementMs: 1_000 },
    });
    await add(storage, 64);
    const quicken = await slowLists(url, 20);
    const sizes = async () =>
      (await select<{ rows: string }>(url, 'SELECT high - low AS rows FROM term_blocks ORDER BY low')).map(
        ({ rows }) => Number(rows),
      );
    await eventually(async () => {
      await storage.indexNext?.();
      expect(await sizes()).not.toEqual([]);
    });
    expect((await sizes())[0]).toBeLessThan(64);
    await quicken();
    await add(storage, 300);
    await listAll(storage, url, 300);
    expect(Math.max(...(await sizes()))).toBe(64);
    await expectTrueLists(url);
  });

  test('that are being made hold up a server that stops for one short statement', async () => {
    const timeouts = { statementMs: 60_000, answerMs: 60_000 };
    const { url, storage } = await open({ partitionRows: 500, blockRows: 64, timeouts });
    await add(storage, 64);
    await slowLists(url, 60_000);
    const texts = textsSent();
    let calls = 0;
    const next = async () => {
      calls += 1;
      expect(await storage.indexNext?.()).toBe(true);
    };
    // The first sets a mark.
    await eventually(next);
    await eventually(next);
    expect(texts().filter((text) => text.includes('list_terms'))).toHaveLength(calls);
  });

  /** Returns the texts of the statements since this call. */
  function textsSent(): () => string[] {
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    onTestFinished(() => void spy.mockRestore());
    const calls = spy.mock.calls as unknown as [string | pg.QueryConfig][];
    return () => calls.map(([config]) => (typeof config === 'string' ? config : config.text));
  }

  /** How many rows of a table or index were read, by all who have disconnected. */
  const readOf = async (url: string, table: string) => {
    const [found] = await select<{ read: string }>(
      url,
      `SELECT seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid) AS read
       FROM pg_stat_user_tables t WHERE relname = $1`,
      [table],
    );
    return Number(found?.read);
  };

  test('are merged in time that grows with them, also while what was deleted is kept for others', async () => {
    const { url, storage } = await open({ partitionRows: 500, blockRows: 10 });
    await add(storage, 600);
    await withClient(url, async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
      await listAll(storage, url, 600);
      const [partition] = await select<{ merged: boolean }>(
        url,
        'SELECT merged FROM partitions ORDER BY low LIMIT 1',
      );
      expect(partition?.merged).toBe(true);
      await closeAll();
      expect(await readOf(url, 'block_lists')).toBeLessThan(2_500);
    });
    await expectTrueLists(url);
  });

  test('are deleted in time that grows with them, also while what was deleted is kept for others', async () => {
    const { url, storage } = await open({ partitionRows: 500, blockRows: 10 });
    await add(storage, 600);
    await listAll(storage, url, 600);
    await closeAll();
    const before = await readOf(url, 'term_lists');
    const { storage: again } = await open({ partitionRows: 500, blockRows: 10 }, url);
    await withClient(url, async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
      await dropPartitions(again, url);
      await closeAll();
      expect((await readOf(url, 'term_lists')) - before).toBeLessThan(1_300);
    });
  });

  test('of blocks are left alone by a search of other times, or of all times', async () => {
    const { url, storage } = await open({ partitionRows: 50, blockRows: 10 });
    for (let n = 0; n < 220; n++)
      await storage.history.append(1, draft({ receivedAt: n, expiresAt: null }), null);
    await listAll(storage, url, 220);
    const blocksRead = async (query: Query, expected: number) => {
      await closeAll();
      const before = await readOf(url, 'term_blocks');
      const { storage: again } = await open({ partitionRows: 50, blockRows: 10 }, url);
      const { records } = await again.history.search(1, query, { limit: 300, now });
      expect(records).toHaveLength(expected);
      await closeAll();
      return (await readOf(url, 'term_blocks')) - before;
    };
    // Of the newest partition, which is not full.
    const newest = await blocksRead({ kind: 'all' }, 220);
    expect(newest).toBeLessThan(5);
    // And of the one in which the times begin.
    expect(await blocksRead({ kind: 'after', at: 175 }, 45)).toBe(newest + 5);
  });

  test('are not needed to pass over many rows of others', async () => {
    const { storage } = await open({ partitionRows: 20 });
    const { history } = storage;
    const [first, last] = [draft({ expiresAt: null }), draft({ expiresAt: null })];
    await history.append(1, first, null);
    for (let n = 0; n < 200; n++) await history.append(2, draft(), null);
    await history.append(1, last, null);
    const texts = textsSent();
    const { records } = await history.search(1, { kind: 'all' }, { limit: 9, now });
    expect(records.map(({ id }) => id)).toEqual([last.id, first.id]);
    expect(texts().filter((text) => text.includes('test_rows'))).toHaveLength(2);
  });
});
