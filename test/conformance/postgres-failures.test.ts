/** What happens when PostgreSQL is slow, away, or went back. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import type { Storage } from '#storage/database/storage.ts';
import { openPostgres, type PostgresOptions } from '#storage/postgres/open.ts';
import { valuesMs } from '#storage/search/log-search.ts';
import { eventually } from '../support/eventually.ts';
import { createDatabase, postgresProgram, withClient } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { draft, lobby, now, store } from './history-lab.ts';
import { all } from './history-samples.ts';

const tenant = 1;
/** As migrations take it. */
const migrationLock = 0x62656c66;
const unavailable = { code: 'unavailable', retryAfterSeconds: 1 };

describeWithPostgres('PostgreSQL in trouble', (server) => {
  const opened = new Set<Storage>();
  const close = async (storage: Storage) => {
    opened.delete(storage);
    await storage.close(2_000);
  };
  const proxies = new Set<TcpProxy>();
  afterEach(async () => {
    await Promise.all([...opened].map(close));
    await Promise.all([...proxies].map((proxy) => proxy.close()));
    proxies.clear();
  });

  async function open(url: string, options: Partial<PostgresOptions> = {}): Promise<Storage> {
    const storage = await openPostgres({ queueCapacity: 1_000, onProblem: () => undefined, ...options, url });
    opened.add(storage);
    return storage;
  }

  /** A new database behind a proxy that can fail. */
  async function openThroughProxy(timeouts: PostgresOptions['timeouts'] = {}) {
    const url = await createDatabase(server());
    const proxy = await TcpProxy.start({ port: Number(new URL(url).port) });
    proxies.add(proxy);
    const storage = await open(proxy.through(url), { timeouts });
    await store(storage.history, tenant);
    return { proxy, ...storage };
  }

  /** On the server's own account, which sees everything. */
  function asSuperuser<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const own = new URL(url);
    own.username = new URL(server()).username;
    return withClient(own.href, work);
  }

  test('a value that cannot be stored is a bad request, and takes no other with it', async () => {
    const { history } = await open(await createDatabase(server()));
    const [bad, good] = await Promise.allSettled([
      history.append(tenant, draft({ title: 'a\0b' }), null),
      history.append(tenant, draft({ title: 'good' }), null),
    ]);
    expect(bad).toMatchObject({
      reason: { code: 'bad-request', message: expect.stringContaining('U+0000') },
    });
    expect(good).toMatchObject({ value: { kind: 'stored' } });
  });

  test('what waits for a lock or for a free connection ends in 503, and goes on when the lock is gone', async () => {
    const url = await createDatabase(server());
    const timeouts = { lockMs: 1_000, connectMs: 1_000 };
    const { history } = await open(url, { timeouts });
    await store(history, tenant);
    await withClient(url, async (client) => {
      await client.query('BEGIN; LOCK TABLE logs IN ACCESS EXCLUSIVE MODE');
      const reads = Array.from({ length: 20 }, () => history.bounds(tenant));
      const waiting = [
        ...reads,
        history.append(tenant, draft(), null),
        history.search(tenant, all, { limit: 1, now }),
      ];
      for (const each of await Promise.allSettled(waiting))
        expect(each).toMatchObject({ reason: unavailable });
      await client.query('ROLLBACK');
    });
    await eventually(async () =>
      expect(await store(history, tenant)).toMatchObject({ kind: 'notification' }),
    );
  });

  test('values that complete a search are read from the newest rows however slow the database is', async () => {
    const url = await createDatabase(server());
    const { history, statistics } = await open(url);
    await store(history, tenant, { host: 'db-1' });
    await withClient(url, async (client) => {
      await client.query('BEGIN; LOCK TABLE logs IN ACCESS EXCLUSIVE MODE');
      const values = statistics.values(tenant, { field: 'host', prefix: '', limit: 9 });
      // Longer than further rows are read.
      await new Promise((resolve) => setTimeout(resolve, 2 * valuesMs));
      await client.query('ROLLBACK');
      expect(await values).toEqual(['db-1']);
    });
  });

  test('a statement that takes too long ends in 503', async () => {
    const url = await createDatabase(server());
    const { db } = await open(url, { timeouts: { statementMs: 2_000 } });
    await expect(db.read(sql`SELECT pg_sleep(10)`)).rejects.toMatchObject(unavailable);
  });

  test('a server that answers nothing any more ends in 503, and counts as away until it does', async () => {
    const { proxy, history, problem } = await openThroughProxy({ answerMs: 2_000, connectMs: 2_000 });
    proxy.freeze();
    await expect(history.bounds(tenant)).rejects.toMatchObject(unavailable);
    expect(problem()).toBe('PostgreSQL cannot be used');
    await expect(history.append(tenant, draft(), null)).rejects.toMatchObject(unavailable);
    proxy.mend();
    await eventually(() => expect(problem()).toBeUndefined());
    await store(history, tenant);
  });

  test('a server that falls silent counts as away without any traffic, until a write has succeeded', async () => {
    const { proxy, history, problem } = await openThroughProxy({ connectMs: 1_000 });
    proxy.freeze();
    await eventually(() => expect(problem()).toMatch(/^PostgreSQL (has not answered|cannot be used)/));
    await expect(history.append(tenant, draft(), null)).rejects.toMatchObject(unavailable);
    proxy.mend();
    await eventually(() => expect(problem()).toBeUndefined());
    await store(history, tenant);
  });

  test('while a table of the log is locked, it counts as away without a break, and senders are answered before the lock’s time is over', async () => {
    const url = await createDatabase(server());
    const reported: (string | undefined)[] = [];
    const { history, problem } = await open(url, {
      timeouts: { lockMs: 60_000, statementMs: 60_000, answerMs: 60_000 },
      onProblem: (message) => reported.push(message),
    });
    await store(history, tenant);
    await withClient(url, async (client) => {
      await client.query('BEGIN; LOCK TABLE log IN ACCESS EXCLUSIVE MODE');
      const sent = [draft(), draft()].map((each) => history.append(tenant, each, null));
      for (const each of await Promise.allSettled(sent)) expect(each).toMatchObject({ reason: unavailable });
      expect(problem()).toBe('a write has waited 2 s for the database');
      // A probe has failed, too.
      await eventually(() => expect(reported).toHaveLength(2));
      await expect(history.append(tenant, draft(), null)).rejects.toMatchObject(unavailable);
      expect([reported.includes(undefined), problem()]).toEqual([false, expect.any(String)]);
      await client.query('ROLLBACK');
    });
    await eventually(() => expect(problem()).toBeUndefined());
    await store(history, tenant);
  });

  test('a commit whose answer is lost is a 503, and a retry with its key tells that it was stored, once', async () => {
    const { proxy, history, problem } = await openThroughProxy();
    const key = { key: 'retry', hash: 'same' };
    const first = draft();
    proxy.loseAnswers();
    await expect(history.append(tenant, first, key)).rejects.toMatchObject(unavailable);
    await eventually(() => expect(problem()).toBeUndefined());
    expect(await history.append(tenant, draft(), key)).toEqual({ kind: 'repeated', id: first.id });
    expect(await history.bounds(tenant)).toEqual({ head: 2, first: 1 });
  });

  test('after the last is dropped from partitions of the usual size, the next is stored, read and found', async () => {
    const { history } = await open(await createDatabase(server()));
    for (let i = 0; i < 3; i++) await store(history, tenant, { expiresAt: now - 1 });
    while ((await history.prune(tenant, { olderThan: now + 1, keep: 0 }, now + 2)) > 0);
    expect(await history.bounds(tenant)).toEqual({ head: 3, first: 4 });
    const { id, position } = await store(history, tenant, { title: 'next' });
    expect(position).toBe(4);
    expect((await history.readAfter(tenant, 3, 9)).entries).toMatchObject([{ id }]);
    expect((await history.search(tenant, all, { limit: 9, now })).records).toMatchObject([{ id }]);
  });

  test('partitions are made ahead by the sweeps of several nodes, one after the other', async () => {
    const url = await createDatabase(server());
    const nodes = await Promise.all([1, 2, 3].map(() => open(url, { partitionRows: 5 })));
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 5; i++) await store((nodes[0] as Storage).history, tenant);
      await Promise.all(nodes.map((node) => node.sweep(now)));
      const { rows } = await withClient(url, (client) =>
        client.query<{ ahead: string; holes: string }>(
          `SELECT (max(high) - (SELECT last_value FROM log_row)) AS ahead,
             (SELECT count(*) FROM partitions p WHERE low > 1 AND NOT EXISTS (SELECT 1 FROM partitions q WHERE q.high = p.low)) AS holes
           FROM partitions`,
        ),
      );
      expect(Number(rows[0]?.ahead)).toBeGreaterThan(5);
      expect(Number(rows[0]?.holes)).toBe(0);
    }
  });

  test('the role that serves is held to the policies; if it is not, the operator gets a warning', async () => {
    const url = await createDatabase(server());
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    await open(url, { onWarning });
    expect(warnings).toEqual([]);
    const bypassing = new URL(url);
    bypassing.username = new URL(server()).username;
    await open(bypassing.href, { onWarning });
    expect(warnings).toEqual([expect.stringContaining('the role belfry ')]);
  });

  test('a migration waits for that of another node for as long as it takes', async () => {
    const url = await createDatabase(server());
    await withClient(url, async (client) => {
      await client.query('SELECT pg_advisory_lock($1)', [migrationLock]);
      const opening = open(url, { timeouts: { answerMs: 2_000, statementMs: 2_000, lockMs: 2_000 } });
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await client.query('SELECT pg_advisory_unlock($1)', [migrationLock]);
      expect((await opening).problem()).toBeUndefined();
    });
  });

  test('one connection too many is a 503 for the one that wanted it, and the others go on', async () => {
    const url = await createDatabase(server());
    const name = new URL(url).pathname.slice(1);
    const problems: unknown[] = [];
    const { history, problem, db } = await open(url, {
      onProblem: (message) => problems.push(message),
    });
    await store(history, tenant);
    await withClient(server(), (client) => client.query(`ALTER DATABASE ${name} CONNECTION LIMIT 1`));
    const sleep = () => db.read(sql`SELECT pg_sleep(0.3)`);
    const reads = await Promise.allSettled(Array.from({ length: 5 }, sleep));
    expect(reads.find(({ status }) => status === 'rejected')).toMatchObject({ reason: unavailable });
    expect([problem(), problems]).toEqual([undefined, []]);
    await store(history, tenant);
  });

  test('each new reason why the database cannot be used is reported once', async () => {
    const url = await createDatabase(server());
    const name = new URL(url).pathname.slice(1);
    const problems: unknown[] = [];
    const storage = await open(url, { onProblem: (message) => problems.push(message) });
    await withClient(server(), async (client) => {
      await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await client.query(endConnections.replace('current_database()', `'${name}'`));
      await storage.history.bounds(tenant).catch(() => undefined);
      await eventually(() => expect(problems.at(-1)).toMatch('not currently accepting connections'));
      const before = problems.length;
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(problems).toHaveLength(before);
      await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    });
    await eventually(() => expect(problems.at(-1)).toBeUndefined());
  });

  const epochOf = (url: string) =>
    asSuperuser(url, async (client) => {
      const { rows } = await client.query<{ value: string }>("SELECT value FROM meta WHERE name = 'epoch'");
      return rows[0]?.value;
    });
  const endConnections =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'belfry' AND datname = current_database()";

  test('a standby without the last commits that is promoted begins one new epoch; a lost connection alone begins none', async () => {
    const url = await createDatabase(server());
    const name = new URL(url).pathname.slice(1);
    const first = await open(url);
    await store(first.history, tenant, { title: 'kept' });
    await close(first);
    await withClient(server(), (client) => client.query(`CREATE DATABASE ${name}_standby TEMPLATE ${name}`));
    const nodes = [await open(url), await open(url)];
    const loseConnections = () => asSuperuser(url, (client) => client.query(endConnections));
    const areBack = async () => {
      // What an idle connection does not notice, a statement does.
      for (const { history } of nodes) await history.bounds(tenant).catch(() => undefined);
      await eventually(() => {
        for (const { problem } of nodes) expect(problem()).toBeUndefined();
      });
    };
    const before = await epochOf(url);
    await loseConnections();
    await areBack();
    expect(await epochOf(url)).toBe(before);
    // Nothing that this node knows tells that it is gone: as if it had been stored by a node that died.
    await store((nodes[0] as Storage).history, tenant, { title: 'lost' });
    const epochs = new Set<unknown>();
    await withClient(server(), async (client) => {
      await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await client.query(endConnections.replace('current_database()', `'${name}'`));
      await client.query(`ALTER DATABASE ${name} RENAME TO ${name}_gone`);
      await client.query(`ALTER DATABASE ${name}_standby RENAME TO ${name}`);
      await client.query(`ALTER DATABASE ${name} OWNER TO belfry_server`);
    });
    await eventually(async () => {
      await areBack();
      expect(await epochOf(url)).not.toBe(before);
    });
    for (let i = 0; i < 3; i++) {
      epochs.add(await epochOf(url));
      await loseConnections();
      await areBack();
    }
    expect(epochs.size).toBe(1);
  });

  test('a backup by pg_dump, as the guide has it, is restored whole, and begins a new epoch', async () => {
    const url = await createDatabase(server());
    const { history } = await open(url);
    const { id } = await store(history, tenant, { title: 'kept' });
    const folder = mkdtempSync(join(tmpdir(), 'belfry-dump-'));
    const file = join(folder, 'belfry.dump');
    const run = (program: string, ...args: string[]) =>
      execFileSync(postgresProgram(program), args, { encoding: 'utf8', stdio: 'pipe' });
    await withClient(server(), (client) =>
      client.query(
        'DROP ROLE IF EXISTS belfry_backup; CREATE ROLE belfry_backup LOGIN BYPASSRLS; GRANT pg_read_all_data TO belfry_backup',
      ),
    );
    const asBackup = new URL(url);
    asBackup.username = 'belfry_backup';
    run('pg_dump', '--format=custom', `--file=${file}`, asBackup.href);
    const restored = await createDatabase(server());
    const asOwner = new URL(restored);
    asOwner.username = new URL(server()).username;
    run('pg_restore', '--exit-on-error', `--dbname=${asOwner.href}`, file);
    rmSync(folder, { recursive: true });
    const again = await open(restored);
    expect((await again.history.readAfter(tenant, 0, 9)).entries).toMatchObject([{ id, title: 'kept' }]);
    expect((await store(again.history, tenant)).position).toBe(2);
    expect(await epochOf(restored)).not.toBe(await epochOf(url));
  });

  test('a node whose clock is ahead takes no live notification from the panels, and is warned once', async () => {
    const warnings: string[] = [];
    const url = await createDatabase(server());
    const { history, sweep, clockAheadMs } = await open(url, {
      onWarning: (message) => warnings.push(message),
    });
    expect(clockAheadMs?.()).toBe(0);
    const real = Date.now();
    await store(history, tenant, { receivedAt: real, expiresAt: real + 1_800_000 });
    for (let i = 0; i < 2; i++) expect(await sweep(real + 3_600_000)).toBe(0);
    expect((await history.live(tenant, lobby, real, 9)).positions).toHaveLength(1);
    expect(warnings).toEqual([expect.stringMatching(/ahead of the database's/)]);
    expect(Math.round((clockAheadMs?.() ?? 0) / 600_000)).toBe(6);
  });

  test('a node whose clock is behind leaves live notifications their time', async () => {
    const { history, sweep } = await open(await createDatabase(server()));
    const real = Date.now();
    await store(history, tenant, { receivedAt: real - 1, expiresAt: real + 1_800_000, ttl: 1_800_001 });
    expect(await sweep(real - 3_600_000)).toBe(0);
    expect((await history.live(tenant, lobby, real + 1_799_999, 9)).positions).toHaveLength(1);
  });

  test('the operator is warned when connections or locks are too few for the nodes that run', async () => {
    const url = await createDatabase(server());
    const warnings: string[] = [];
    await close(await open(url));
    await withClient(url, (client) =>
      client.query(
        "INSERT INTO nodes SELECT gen_random_uuid(), now() + interval '1 hour', '{}' FROM generate_series(1, 400)",
      ),
    );
    await open(url, { onWarning: (message) => warnings.push(message) });
    expect(warnings).toEqual([
      expect.stringMatching(/401 nodes may use 6817: raise max_connections$/),
      expect.stringMatching(/set max_locks_per_transaction to at least \d+$/),
    ]);
  });

  test('a database that is restored elsewhere gets a new epoch at the next start', async () => {
    const url = await createDatabase(server());
    await close(await open(url));
    const before = await epochOf(url);
    await close(await open(url));
    expect(await epochOf(url)).toBe(before);
    await asSuperuser(url, (client) =>
      client.query("UPDATE meta SET value = 'other 00000001' WHERE name = 'cluster'"),
    );
    await close(await open(url));
    expect(await epochOf(url)).not.toBe(before);
  });
});
