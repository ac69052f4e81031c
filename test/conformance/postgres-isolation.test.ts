/** Row-level security: what holds between tenants where the application's own check is missing. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { addCredential } from '../support/storage.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { acknowledge, draft, type HistoryDatabase, lobby, newTenant, now, store } from './history-lab.ts';
import { all, is, words } from './history-samples.ts';
import { openHistoryOn } from './postgres-database.ts';

describeWithPostgres('between tenants on PostgreSQL', (server) => {
  let url: string;
  let database: HistoryDatabase;
  const tenants: number[] = [];
  beforeAll(async () => {
    ({ url, database } = await openHistoryOn(server()));
    for (const name of ['own', 'foreign']) tenants.push(await fill(database, name));
    await as('all', async (client) => {
      await client.query("INSERT INTO nodes VALUES (gen_random_uuid(), now(), '{}')");
      for (const tenant of tenants)
        for (const [table, values] of Object.entries(otherRows))
          await client.query(
            `INSERT INTO ${table} VALUES (${tenant}, ${values.replaceAll('ID', `t${tenant}`)})`,
          );
    });
  });
  afterAll(() => database.close());

  /** One connection as a node has it, with `belfry.tenant` set. */
  async function as<T>(tenant: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client(url);
    await client.connect();
    try {
      await client.query("SELECT set_config('belfry.tenant', $1, false)", [tenant]);
      return await work(client);
    } finally {
      await client.end();
    }
  }

  const protectedTables = () =>
    as('', async (client) => {
      const { rows } = await client.query<{ name: string; forced: boolean }>(
        `SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced FROM pg_class c
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant'
         WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace ORDER BY 1`,
      );
      return rows;
    });

  test('every table that names a tenant has a policy, for its owner too; only pairings belong to nobody at first', async () => {
    const open = (await protectedTables()).filter(({ forced }) => !forced);
    expect(open.map(({ name }) => name)).toEqual(['pairings']);
  });

  test('a statement without a condition sees and changes rows of its tenant alone, and without a tenant none', async () => {
    const [own] = tenants.map(String);
    for (const { name } of (await protectedTables()).filter(({ forced }) => forced)) {
      const seenBy = (tenant: string) =>
        as(tenant, async (client) => {
          const { rows } = await client.query<{ tenant: string }>(
            `SELECT DISTINCT tenant FROM ${name} ORDER BY 1`,
          );
          return rows.map((row) => row.tenant);
        });
      expect([name, await seenBy(own as string)]).toEqual([name, [own]]);
      expect([name, await seenBy('')]).toEqual([name, []]);
      expect([name, (await seenBy('all')).length]).toEqual([name, 2]);
    }
    await as(own as string, async (client) => {
      await client.query('BEGIN');
      await client.query('DELETE FROM live');
      const insert = client.query("INSERT INTO idempotency VALUES ($1, 'k2', 'h', gen_random_uuid(), 1)", [
        tenants[1],
      ]);
      await expect(insert).rejects.toThrow('row-level security');
      await client.query('ROLLBACK');
    });
  });

  test("history and statistics answer the same with the application's tenant conditions taken out", async () => {
    const [own, foreign] = tenants as [number, number];
    const { id } = (await database.history.search(foreign, all, { limit: 1, now })).records[0] ?? { id: '' };
    const answers = async () => {
      const { history, statistics, receipts } = database;
      const times = { after: 0, before: now + 1, origin: 0, bucketMs: now };
      const search = (query: typeof all) => history.search(own, query, { limit: 50, now });
      return {
        bounds: await history.bounds(own),
        entries: await history.readAfter(own, 0, 50),
        live: await history.live(own, lobby, now, 50),
        shown: await history.readLive(own, [1, 2, 3, 4, 5, 6], now, 10_000),
        foreign: [
          await history.find(own, id),
          await receipts.of(own, [id]),
          await history.clear(own, id, 'x', now),
        ],
        size: await history.size(own),
        pages: [
          await search(all),
          await search(words('foreign')),
          await search(is('live')),
          await search(is('cleared')),
        ],
        counts: [
          await statistics.count(own, all, times, { now }),
          await statistics.count(own, words('title'), times, { now }),
          await statistics.count(own, is('live'), times, { now }),
        ],
        hosts: await statistics.busiestHosts(own, 0, 9),
        values: await statistics.values(own, { field: 'host', prefix: '', limit: 9 }),
        minutes: await statistics.count(own, all, { ...times, bucketMs: 60_000 }, { now }),
      };
    };
    const expected = await answers();
    expect(expected.pages[0]?.records.length).toBeGreaterThan(2);
    const takenOut = await withoutConditions(async () => expect(await answers()).toEqual(expected));
    expect(takenOut).toBeGreaterThan(15);
  });

  test("so do the directory's lists", async () => {
    const [own] = tenants as [number, number];
    const { levels, panels, rules, credentials, members, savedSearches, auditLog } = database.directory;
    const lists = async () => [
      await levels.list(own),
      await panels.list(own),
      await rules.list(own),
      await credentials.list(own, 'token'),
      await members.list(own),
      await savedSearches.list(own),
      await auditLog.page({ tenant: own, limit: 50 }),
    ];
    const expected = await lists();
    expect(expected.flat().length).toBeGreaterThan(6);
    expect(await withoutConditions(async () => expect(await lists()).toEqual(expected))).toBe(7);
  });

  test('what is done in the background for one tenant changes nothing of another', async () => {
    const [own, foreign] = tenants as [number, number];
    await as('all', (client) =>
      client.query(`INSERT INTO rules SELECT t, 'old', 1, 2, 1, '{}', 0, 0 FROM unnest($1::bigint[]) t`, [
        tenants,
      ]),
    );
    expect(await withoutConditions(() => database.directory.rules.prune(own, 2))).toBe(1);
    const left = await as('all', (client) => client.query("SELECT tenant FROM rules WHERE id = 'old'"));
    expect(left.rows).toEqual([{ tenant: String(foreign) }]);
  });
});

/** Takes the tenant conditions out of all statements; answers out of how many. */
async function withoutConditions(work: () => Promise<void>): Promise<number> {
  let takenOut = 0;
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    config: unknown,
    ...rest: unknown[]
  ) {
    const wanted = (typeof config === 'string' ? { text: config } : config) as {
      text?: string;
      name?: string;
    };
    const text = wanted.text
      ?.replace(/(?<![\w.])(\w+\.)?tenant = \$1/g, () => '$1::bigint IS NOT NULL')
      .replace(/("\w+"\.)?"tenant" = (\$\d+)/g, '$2::bigint is not null');
    if (text === undefined || text === wanted.text) return query.call(this, config, ...rest);
    takenOut += 1;
    return query.call(
      this,
      typeof config === 'string' ? text : { ...wanted, text, name: undefined },
      ...rest,
    );
  } as never);
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return takenOut;
}

/** Rows of the tables that the history does not fill. */
const otherRows = {
  term_lists: "1, 'ID', ''",
  block_lists: "1, 'ID', 1, ''",
  levels: "'own', 1, '', '', '', 0",
  rules: "'ID', 1, NULL, 1, '{}', 0, 0",
  rule_hits: "'ID', 1, 0",
  panels: "'ID', 'wall', '[]', NULL, '{}', 0",
  saved_searches: "'ID', 'mine', '', 0, ''",
  mappings: "'mine', '{}', 0, ''",
  on_call: "'ID', 'mine', '{}', 0, 0",
  channels: "'ID', 'mine', 'webhook', 1, '{}', '[]', NULL, 0, 0",
  deliveries: "'ID', 1, 'ID', 'pending', 0, 0",
  push_devices: "'ID', 'ID', '', NULL, 0, '', 0",
  members: "'ID', 'owner', 0",
  invitations: "'ID', 'ID', 'owner', NULL, 0, '', 0",
  acknowledgements: "1, 0, '', NULL",
  alarm_causes: "'ID', 1, 1, 1, '', 0, false",
  due_times: "'panel', 'ID', 0, '', '{}'",
  throttles: "'ID', gen_random_uuid(), 0, 0",
  'node_panels (tenant, node, panel_id, lag)': '(SELECT id FROM nodes), 0, 0',
  'panel_commands (tenant, node, panel_id, event, data)': "(SELECT id FROM nodes), '', '', '{}'",
};

/** A tenant with some history. */
async function fill(database: HistoryDatabase, name: string): Promise<number> {
  const { history, receipts, directory } = database;
  const tenant = await newTenant(database);
  await addCredential(directory, 'token', tenant);
  await store(history, tenant, {
    title: `title ${name}`,
    host: name,
    key: 'replaced',
    receivedAt: now - 60_000,
  });
  await store(history, tenant, { title: `title ${name}`, host: name, key: 'replaced' });
  const { id } = await store(history, tenant, { title: name, host: name });
  await receipts.record(tenant, lobby, [{ id, state: 'shown', at: now }]);
  await acknowledge(history, tenant, id, { at: now, by: 'anna', note: null });
  await history.append(tenant, draft({ title: name }), { key: 'k', hash: 'h' });
  return tenant;
}
