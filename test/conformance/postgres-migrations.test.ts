/** Schemas: nodes that start at once, and an older Belfry beside a newer one. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { indexTerms } from '#core/search/index-terms.ts';
import { fieldsOf } from '#storage/postgres/log/append-queue.ts';
import { migrate } from '#storage/postgres/migrate.ts';
import { openPostgres } from '#storage/postgres/open.ts';
import { createDatabase, withClient } from '../support/postgres.ts';
import { Output } from '../support/server-process.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { draft, newTenant, now, store } from './history-lab.ts';
import { all } from './history-samples.ts';
import { openHistoryOn } from './postgres-database.ts';

const source = join(import.meta.dirname, '../../src/storage/postgres');

describeWithPostgres('migrations on PostgreSQL', (server) => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-migrations-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('four processes that start on an empty database at once make one schema, and all of them work', async () => {
    const url = await createDatabase(server());
    const program = `
      import { openPostgres } from ${JSON.stringify(pathToFileURL(join(source, 'open.ts')).href)};
      const storage = await openPostgres({ url: ${JSON.stringify(url)}, queueCapacity: 10, onProblem(message) { throw new Error(message); } });
      const stored = await storage.history.append(1, JSON.parse(process.argv[1]), null);
      console.log(stored.entries[0].position);
      await storage.close();`;
    const positions = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const args = ['--input-type=module', '-e', program, JSON.stringify(draft())];
        const process_ = new Output(
          spawn(process.execPath, args, { cwd: source, stdio: ['ignore', 'pipe', 'pipe'] }),
        );
        const { code } = await process_.exited;
        expect([process_.text, code]).toEqual([expect.stringMatching(/^\d\n$/), 0]);
        return Number(process_.stdout);
      }),
    );
    expect(positions.toSorted()).toEqual([1, 2, 3, 4]);
    const { rows } = await withClient(url, (client) =>
      client.query('SELECT count(*)::int AS versions FROM schema_version'),
    );
    expect(rows).toEqual([{ versions: 1 }]);
  });

  test.each([1, 26])(
    'a database from before the first release is refused with its way, and stays as it is: version %i',
    async (version) => {
      const url = await createDatabase(server());
      const content = async () =>
        withClient(url, async (client) => {
          const tables = await client.query(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1",
          );
          const rows = await client.query(
            'SELECT v::text FROM schema_version v UNION ALL SELECT m::text FROM meta m ORDER BY 1',
          );
          return [tables.rows, rows.rows];
        });
      await withClient(url, (client) =>
        client.query(`CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);
        INSERT INTO meta VALUES ('epoch', 'abc'), ('changes', '0');
        CREATE TABLE schema_version (version bigint NOT NULL, oldest bigint NOT NULL);
        INSERT INTO schema_version VALUES (${version}, 1)`),
      );
      const before = await content();
      for (const makes of [true, false])
        await expect(
          openPostgres({ url, makes, queueCapacity: 10, onProblem: () => undefined }),
        ).rejects.toThrow(
          `the database is from before the first release (schema version ${version}), and this version of Belfry does not read it: ` +
            'run belfry export with the version that made it, and belfry apply on a new database',
        );
      expect(await content()).toEqual(before);
    },
  );

  /** The migrations of a Belfry that has some more. */
  function migrationsOfNewer(name: string, more: Record<string, string>): URL {
    const newer = join(folder, name);
    cpSync(join(source, 'migrations'), newer, { recursive: true });
    for (const [file, sql] of Object.entries(more)) writeFileSync(join(newer, file), sql);
    return pathToFileURL(`${newer}/`);
  }
  const expanding = `-- expands: older nodes may go on
    ALTER TABLE log ADD COLUMN origin text;
    ALTER TABLE live ADD COLUMN origin text;
    ALTER TABLE logs ADD COLUMN origins bigint NOT NULL DEFAULT 0;
    ALTER TABLE panels ADD COLUMN origin text NOT NULL DEFAULT '';
    CREATE TABLE origins (tenant bigint NOT NULL, name text NOT NULL, PRIMARY KEY (tenant, name));`;

  test('a database of version 0.9.0 gets labels, and a node of that version goes on beside it', async () => {
    const url = await createDatabase(server());
    const released = join(folder, 'released');
    cpSync(join(source, 'migrations'), released, {
      recursive: true,
      filter: (file) => !/000[2-9]|00[1-9][0-9]-/.test(file),
    });
    await withClient(url, async (older) => {
      older.setTypeParser(20, Number);
      await migrate(older, pathToFileURL(`${released}/`));
      await older.query("SELECT set_config('belfry.tenant', 'all', false), make_partitions(100, 0)");
      const append = async () => {
        const { id, receivedAt: at, expiresAt, route, ...more } = draft();
        const { labels: _, ...fields } = fieldsOf({ id, receivedAt: at, expiresAt, route, ...more });
        const terms = indexTerms(1, { ...more, labels: null }, route);
        const job = {
          n: 0,
          tenant: 1,
          decision: 0,
          id,
          at,
          shown: true,
          ttl: more.ttl,
          throttle_count: 0,
          fields,
          terms,
          bytes: 1,
        };
        const decision = { nr: 0, route, to_all: true, to_ids: [], to_tags: [], revision: route.revision };
        // As a node does: prepared once, before the migration.
        await older.query({
          name: 'append',
          text: 'SELECT * FROM append_notifications($1, $2)',
          values: [JSON.stringify([job]), JSON.stringify([decision])],
        });
      };
      await append();
      const storage = await openPostgres({ url, queueCapacity: 10, onProblem: () => undefined });
      const labels = '{"env":"prod"}';
      await store(storage.history, 1, { labels });
      await append();
      const { entries } = await storage.history.readAfter(1, 0, 9);
      expect(entries).toMatchObject([{ labels: null }, { labels }, { labels: null }]);
      const query = { kind: 'label', patterns: ['env=*'] } as const;
      const { records } = await storage.history.search(1, query, { limit: 9, now });
      expect(records).toMatchObject([{ labels }]);
      await storage.close();
    });
  });

  test('escalations of an older version go on', async () => {
    const url = await createDatabase(server());
    const older = join(folder, 'due-times');
    cpSync(join(source, 'migrations'), older, {
      recursive: true,
      filter: (file) => !/000[6-9]|00[1-9][0-9]-/.test(file),
    });
    await withClient(url, async (client) => {
      client.setTypeParser(20, Number);
      await migrate(client, pathToFileURL(`${older}/`));
      await client.query("SET belfry.tenant = 'all'");
      const waiting = { steps: [{ afterMs: 2_000 }, { afterMs: 1 }], rule: { id: 'r', name: 'r' } };
      const id = '01a19c26-05e0-7480-9d58-00264271a285';
      for (const [i, [subject, over]] of [
        ['key open', { step: 0 }],
        ['key acknowledged', { step: 1, isHandled: true }],
        ['key over', { step: 2 }],
        [`id ${id}`, { step: 1, id }],
      ].entries() as Iterable<[number, [string, object]]>) {
        const key = subject.startsWith('key ') ? subject.slice(4) : null;
        await client.query(
          `INSERT INTO live (tenant, rank, position, row, id, key, to_all, to_ids, to_tags)
           VALUES (1, 40, $1, $1, coalesce($3, gen_random_uuid()), $2, true, '{}', '{}')`,
          [i, key, key === null ? id : null],
        );
        await client.query("INSERT INTO due_times VALUES (1, 'escalation', $1, 3000, 'v', $2)", [
          subject,
          JSON.stringify({ ...waiting, ...over }),
        ]);
      }
      await client.query("INSERT INTO acknowledgements VALUES (1, 1, 1000, 'Ada', NULL)");
      await migrate(client);
      const { rows } = await client.query(
        'SELECT escalation::jsonb, step, step_at, next_step_at FROM live ORDER BY position',
      );
      expect(rows).toEqual([
        { escalation: waiting, step: 0, step_at: 3_000, next_step_at: 3_000 },
        { escalation: waiting, step: 1, step_at: 0, next_step_at: null },
        { escalation: waiting, step: 2, step_at: null, next_step_at: null },
        { escalation: waiting, step: 1, step_at: 3_000, next_step_at: 3_000 },
      ]);
      expect((await client.query('SELECT * FROM due_times')).rows).toEqual([]);
    });
  });

  test('an older node goes on, and starts, beside a newer one whose step only adds; after another step it is refused', async () => {
    const { url, database } = await openHistoryOn(server(), { partitionRows: 5, blockRows: 2 });
    const tenant = await newTenant(database);
    const { history, directory, statistics } = database;
    const use = async () => {
      const { id, position } = await store(history, tenant, { key: 'k', host: 'h' });
      expect((await history.readAfter(tenant, position - 1, 9)).entries).toMatchObject([{ id }]);
      expect((await history.search(tenant, all, { limit: 1, now })).records).toMatchObject([{ id }]);
      expect((await history.clear(tenant, id, 'x', now)).kind).toBe('cleared');
      await directory.panels.register(
        tenant,
        { id: `p${position}`, name: `p${position}`, tags: [], location: null },
        'x',
        now,
      );
      expect(await directory.panels.find(tenant, `p${position}`)).toBeDefined();
      const minutes = { after: 0, before: now + 60_000, origin: 0, bucketMs: 60_000 };
      expect((await statistics.count(tenant, all, minutes, { now })).counts).not.toEqual([]);
      await history.prune(tenant, { olderThan: null, keep: 3 }, now);
    };
    for (let i = 0; i < 7; i++) await use();
    await withClient(url, async (client) => {
      await migrate(client, migrationsOfNewer('expanded', { '0900-expand.sql': expanding }));
      await client.query(
        "SET belfry.tenant = 'all'; UPDATE log SET origin = 'newer'; UPDATE panels SET origin = 'newer'",
      );
    });
    for (let i = 0; i < 7; i++) await use();
    const older = await openPostgres({ url, queueCapacity: 10, onProblem: () => undefined });
    await store(older.history, tenant);
    await older.close();
    const removing = {
      '0900-expand.sql': expanding,
      '0901-contract.sql': 'ALTER TABLE log DROP COLUMN origin',
    };
    await withClient(url, (client) => migrate(client, migrationsOfNewer('contracted', removing)));
    await expect(openPostgres({ url, queueCapacity: 10, onProblem: () => undefined })).rejects.toThrow(
      /the database has schema version 901, this Belfry knows \d+: start the newer Belfry/,
    );
    await database.close();
  });
});
