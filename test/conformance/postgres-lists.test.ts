/** The lists of rows by term that PostgreSQL searches: in whatever state they are, they say what the rows say. */
import pg from 'pg';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Query } from '#core/search/search-query.ts';
import type { Storage } from '#storage/database/storage.ts';
import { TermLists } from '#storage/postgres/log/term-lists.ts';
import { openPostgres, type PostgresOptions } from '#storage/postgres/open.ts';
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

  async function add({ history }: Storage, count: number) {
    const batch = Array.from({ length: count }, (_, n) =>
      history.append(
        (n % 2) + 1,
        draft({ message: `n${n} ${n % 3 ? 'often' : 'rare'}`, key: n % 10 ? null : 'k', expiresAt: null }),
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

  /** Begins a transaction that may write; returns its client, and its process. */
  async function beginWriting(url: string) {
    const client = new pg.Client({ connectionString: url, application_name: 'dump' });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('BEGIN; SELECT pg_current_xact_id()');
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return { client, pid: rows[0]?.pid };
  }

  test('are made up to where transactions have ended, also while later ones go on that overlap with them', async () => {
    const { url, storage } = await open({ partitionRows: 50, blockRows: 10 });
    const { client } = await beginWriting(url);
    await add(storage, 45);
    await storage.indexNext?.();
    await beginWriting(url);
    // The next partition is begun.
    await add(storage, 40);
    await storage.indexNext?.();
    await client.query('ROLLBACK');
    await eventually(async () => {
      while (await storage.indexNext?.());
      expect(await expectTrueLists(url)).toBeGreaterThanOrEqual(40);
    });
  });

  test('of older rows are made, merged and deleted while a transaction holds up those of the newest', async () => {
    const { url, storage } = await open({ partitionRows: 50, blockRows: 10 });
    await add(storage, 150);
    await eventually(async () => {
      await storage.indexNext?.();
      expect(await expectTrueLists(url)).toBeGreaterThan(0);
    });
    await beginWriting(url);
    await add(storage, 20);
    while (await storage.indexNext?.());
    expect(await expectTrueLists(url)).toBeGreaterThanOrEqual(150);
    const merged = await select(url, 'SELECT low FROM partitions WHERE merged ORDER BY low');
    expect(merged.length).toBeGreaterThan(1);
    await dropPartitions(storage, url);
  });

  test('are made of new rows also while those of an older partition cannot be', async () => {
    const { url, storage } = await open({ partitionRows: 50, blockRows: 10 });
    await withClient(url, (client) =>
      client.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'damaged'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON block_lists FOR EACH ROW WHEN (new.low = 1) EXECUTE FUNCTION refuse()`),
    );
    await add(storage, 55);
    for (const rows of [15, 20]) {
      await add(storage, rows);
      await eventually(async () => {
        await storage.indexNext?.().catch(() => undefined);
        const [found] = await select<{ left: string }>(
          url,
          'SELECT last_value - max(listed) AS left FROM log_row, partitions GROUP BY last_value',
        );
        expect(Number(found?.left ?? 99)).toBeLessThan(10);
      });
    }
  });

  test('do not wait for a transaction of the cluster from which the database was restored', async () => {
    const { url, storage } = await open({ partitionRows: 50, blockRows: 10 });
    await add(storage, 30);
    await select(url, "UPDATE list_mark SET marked = 20, id = '4000000000000'");
    await listAll(storage, url, 30);
    await expectTrueLists(url);
  });

  /** As if all transactions had ended. */
  const settle = (url: string) =>
    select(
      url,
      'UPDATE list_mark SET (settled, marked) = (SELECT last_value + 1, last_value + 1 FROM log_row)',
    );

  test('are made of the newest rows before those of older partitions are merged', async () => {
    const { url, storage } = await open({ partitionRows: 50, blockRows: 10 });
    const { history, indexNext } = storage;
    await select(url, 'SELECT make_partitions(50, 150)');
    const addAndList = async (rows: number, blocks: number) => {
      for (let n = 0; n < rows; n++) await history.append(1, draft({ expiresAt: null }), null);
      await settle(url);
      for (let n = 0; n < blocks; n++) expect(await indexNext?.()).toBe(true);
    };
    const listed = () => select(url, 'SELECT listed FROM partitions WHERE listed > 0 ORDER BY low');
    await addAndList(60, 6);
    expect(await listed()).toEqual([{ listed: '51' }, { listed: '61' }]);
    await addAndList(45, 4);
    expect(await listed()).toEqual([{ listed: '51' }, { listed: '101' }]);
    expect(await select(url, 'SELECT 1 FROM term_lists')).toEqual([]);
    while (await indexNext?.());
    const merged = await select(url, 'SELECT low FROM partitions WHERE merged ORDER BY low');
    expect(merged).toEqual([{ low: '1' }, { low: '51' }]);
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

  test('of a dropped partition are deleted with all of its blocks at once', async () => {
    const { url, storage } = await open({ partitionRows: 200, blockRows: 10 });
    await add(storage, 400);
    await listAll(storage, url, 400);
    for (const tenant of [1, 2])
      while ((await storage.history.prune(tenant, { olderThan: null, keep: 1 }, now)) > 0);
    await storage.retain?.(async () => undefined);
    while ((await select(url, 'SELECT 1 FROM term_lists WHERE low = 1')).length > 0)
      expect(await storage.indexNext?.()).toBe(true);
    await storage.indexNext?.();
    expect(await select(url, 'SELECT 1 FROM term_blocks WHERE low < 201')).toEqual([]);
  });

  test('are no error of a partition that is dropped while they are made', async () => {
    const { url, storage } = await open({ partitionRows: 50, blockRows: 10 });
    for (let n = 0; n < 60; n++) await storage.history.append(1, draft({ expiresAt: null }), null);
    await eventually(async () => {
      await storage.indexNext?.();
      expect(await expectTrueLists(url)).toBe(10);
    });
    await withClient(url, async (client) => {
      await client.query('BEGIN; DELETE FROM partitions WHERE low = 1; DROP TABLE log_1');
      const step = storage.indexNext?.();
      const waiting =
        'SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database WHERE NOT granted AND datname = current_database()';
      await eventually(async () => expect((await client.query(waiting)).rowCount).toBe(1), { interval: 10 });
      await client.query('COMMIT');
      expect(await step).toBe(false);
    });
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

  /** Lets time pass, with a look each 200 seconds. */
  async function watchFor(pass: (ms: number) => void, { indexNext }: Storage, looks: number) {
    for (let n = 0; n < looks; n++) {
      pass(200_000);
      await indexNext?.();
    }
  }

  test('that do not keep up are counted, and the operator learns which transaction may hold them up', async () => {
    const warnings: string[] = [];
    const { url, storage } = await open({ blockRows: 10, onWarning: (message) => warnings.push(message) });
    const pass = timeMachine();
    const { client, pid } = await beginWriting(server());
    const oldest = 'SELECT pg_snapshot_xmin(pg_current_snapshot()) = pg_current_xact_id() AS it';
    await eventually(async () => expect((await client.query(oldest)).rows).toEqual([{ it: true }]));
    await add(storage, 150);
    await watchFor(pass, storage, 3);
    const [{ last } = { last: '' }] = await select<{ last: string }>(
      url,
      'SELECT last_value AS last FROM log_row',
    );
    expect(storage.indexBacklog?.()).toBe(Number(last));
    expect(warnings).toEqual([]);
    await watchFor(pass, storage, 2);
    expect(warnings).toEqual([
      `searches get slower: ${last} entries of the log are not indexed, and no fewer were five minutes ago; a transaction may hold them up (process ${pid}, application "dump", database postgres)`,
    ]);
    await client.query('COMMIT');
    await listAll(storage, url, 150);
    await storage.indexNext?.();
    expect(storage.indexBacklog?.()).toBeLessThan(10);
    pass(400_000);
    await storage.indexNext?.();
    expect(warnings).toHaveLength(1);
  });

  test('that do not keep up for another reason name none', async () => {
    const warnings: string[] = [];
    const { url, storage } = await open({ blockRows: 10, onWarning: (message) => warnings.push(message) });
    const pass = timeMachine();
    await add(storage, 150);
    await withClient(url, async (client) => {
      // As if another node made them, and did not get on.
      await client.query('SELECT pg_advisory_lock(1952805748)');
      await watchFor(pass, storage, 5);
    });
    expect(warnings).toEqual([expect.stringMatching(/ no fewer were five minutes ago$/)]);
  });

  /** How many rows each block has. */
  const blockSizes = async (url: string) =>
    (await select<{ rows: string }>(url, 'SELECT high - low AS rows FROM term_blocks ORDER BY low')).map(
      ({ rows }) => Number(rows),
    );

  test('of fewer rows at once after a time-out, and of more again when that is fast', async () => {
    const { url, storage } = await open({
      partitionRows: 500,
      blockRows: 64,
      timeouts: { statementMs: 1_000 },
    });
    await add(storage, 64);
    const quicken = await slowLists(url, 20);
    await eventually(async () => {
      await storage.indexNext?.();
      expect(await blockSizes(url)).not.toEqual([]);
    });
    expect((await blockSizes(url))[0]).toBeLessThan(64);
    await quicken();
    await add(storage, 300);
    await listAll(storage, url, 300);
    expect(Math.max(...(await blockSizes(url)))).toBe(64);
    await expectTrueLists(url);
  });

  test('of more rows again after some steps, however long each takes', async () => {
    const { url, storage } = await open({ partitionRows: 5_000, blockRows: 64 });
    await add(storage, 64);
    const quicken = await slowLists(url, 20);
    const pass = timeMachine();
    await eventually(async () => {
      await storage.indexNext?.();
      expect(await blockSizes(url)).not.toEqual([]);
    });
    const [smallest = 64] = await blockSizes(url);
    expect(smallest).toBeLessThan(64);
    await quicken();
    await add(storage, 1_000);
    onStatement('list_terms', () => pass(500));
    await eventually(async () => {
      while (await storage.indexNext?.());
      expect(Math.max(...(await blockSizes(url)))).toBe(64);
    });
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

  /** Calls `then` after each statement with this in its text. */
  function onStatement(part: string, then: () => void): void {
    const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
    const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(async function (
      this: pg.Client,
      config: string | pg.QueryConfig,
      ...rest: unknown[]
    ) {
      const result = await query.call(this, config, ...rest);
      if ((typeof config === 'string' ? config : config.text).includes(part)) then();
      return result;
    } as never);
    onTestFinished(() => void spy.mockRestore());
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

  /** As if statistics made the planner prefer a bitmap of all lists to the order of the index. */
  const preferBitmaps = (url: string) =>
    withClient(url, (client) => client.query('ALTER FUNCTION list_terms SET enable_indexscan = off'));

  test.each(['as planned', 'when bitmaps look cheaper'])(
    'are merged in time that grows with them, also while what was deleted is kept for others, %s',
    async (plan) => {
      const { url, storage } = await open({ partitionRows: 500, blockRows: 10 });
      if (plan !== 'as planned') await preferBitmaps(url);
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
    },
  );

  test.each(['as planned', 'when bitmaps look cheaper'])(
    'are deleted in time that grows with them, also while what was deleted is kept for others, %s',
    async (plan) => {
      const { url, storage } = await open({ partitionRows: 500, blockRows: 10 });
      await add(storage, 600);
      await listAll(storage, url, 600);
      await closeAll();
      if (plan !== 'as planned') await preferBitmaps(url);
      const before = await readOf(url, 'term_lists');
      const { storage: again } = await open({ partitionRows: 500, blockRows: 10 }, url);
      await withClient(url, async (client) => {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
        await dropPartitions(again, url);
        await closeAll();
        expect((await readOf(url, 'term_lists')) - before).toBeLessThan(1_300);
      });
    },
  );

  test('of blocks are left alone by a search of other times, or of all times', async () => {
    const { url, storage } = await open({ partitionRows: 50, blockRows: 10 });
    for (let n = 0; n < 220; n++)
      await storage.history.append(1, draft({ receivedAt: n, expiresAt: null }), null);
    await listAll(storage, url, 220);
    await storage.retain?.(async () => undefined);
    // The server counts what a connection has read when that connection ends there, some time after it is closed here.
    const disconnect = async () => {
      await closeAll();
      await expect
        .poll(() =>
          select(
            url,
            `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
              AND backend_type = 'client backend'`,
          ),
        )
        .toEqual([]);
    };
    const blocksRead = async (query: Query, expected: number) => {
      await disconnect();
      const before = await readOf(url, 'term_blocks');
      const { storage: again } = await open({ partitionRows: 50, blockRows: 10 }, url);
      const { records } = await again.history.search(1, query, { limit: 300, now });
      expect(records).toHaveLength(expected);
      await disconnect();
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

  test('that are missing do not keep a search from its time limit', async () => {
    const { storage } = await open({ partitionRows: 5 });
    const { history } = storage;
    await history.append(1, draft({ expiresAt: null }), null);
    for (let n = 0; n < 100; n++) await history.append(2, draft(), null);
    await history.append(1, draft({ expiresAt: null }), null);
    const pass = timeMachine();
    let lookUps = 0;
    onStatement('entry_between', () => {
      lookUps += 1;
      pass(1_000);
    });
    const page = await history.search(1, { kind: 'all' }, { limit: 9, now, timeoutMs: 2_500 });
    expect(page.records).toHaveLength(1);
    expect(page.next).not.toBeNull();
    expect(lookUps).toBeLessThan(6);
  });
});
