/** What happens when PostgreSQL is slow, away, or went back. */
import { sql } from 'kysely';
import type pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { openPostgres, type PostgresOptions } from '#storage/postgres/open.ts';
import type { Storage } from '#storage/storage.ts';
import { eventually } from '../support/eventually.ts';
import { createDatabase, withClient } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { draft, now, store } from './history-lab.ts';
import { all } from './history-samples.ts';

const tenant = 1;
const unavailable = { code: 'unavailable', retryAfterSeconds: 1 };

describeWithPostgres('PostgreSQL in trouble', (server) => {
  const opened = new Set<Storage>();
  const close = async (storage: Storage) => {
    opened.delete(storage);
    await storage.close(2_000);
  };
  afterEach(async () => {
    await Promise.all([...opened].map(close));
  });

  async function open(url: string, options: Partial<PostgresOptions> = {}): Promise<Storage> {
    const storage = await openPostgres({ queueCapacity: 1_000, onProblem: () => undefined, ...options, url });
    opened.add(storage);
    return storage;
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
    const timeouts = { lockMs: 300, connectMs: 200 };
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

  test('a statement that takes too long ends in 503', async () => {
    const url = await createDatabase(server());
    const { executor, builder } = await open(url, { timeouts: { statementMs: 200 } });
    await expect(executor.read(sql`SELECT pg_sleep(10)`.compile(builder))).rejects.toMatchObject(unavailable);
  });

  test('a server that answers nothing any more ends in 503, and counts as away until it does', async () => {
    const url = await createDatabase(server());
    const proxy = await TcpProxy.start({ port: Number(new URL(url).port) });
    const storage = await open(proxy.through(url), { timeouts: { answerMs: 300, connectMs: 300 } });
    await store(storage.history, tenant);
    proxy.freeze();
    await expect(storage.history.bounds(tenant)).rejects.toMatchObject(unavailable);
    expect(storage.problem()).toBe('PostgreSQL cannot be used');
    await expect(storage.history.append(tenant, draft(), null)).rejects.toMatchObject(unavailable);
    proxy.mend();
    await eventually(() => expect(storage.problem()).toBeUndefined());
    await store(storage.history, tenant);
    await close(storage);
    await proxy.close();
  });

  test('a commit whose answer is lost is a 503, and a retry with its key tells that it was stored, once', async () => {
    const url = await createDatabase(server());
    const proxy = await TcpProxy.start({ port: Number(new URL(url).port) });
    const storage = await open(proxy.through(url));
    const { history, problem } = storage;
    await store(history, tenant);
    const key = { key: 'retry', hash: 'same' };
    const first = draft();
    proxy.loseAnswers();
    await expect(history.append(tenant, first, key)).rejects.toMatchObject(unavailable);
    await eventually(() => expect(problem()).toBeUndefined());
    expect(await history.append(tenant, draft(), key)).toEqual({ kind: 'repeated', id: first.id });
    expect(await history.bounds(tenant)).toEqual({ head: 2, first: 1 });
    await close(storage);
    await proxy.close();
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

  test('the role that serves is held to the policies; of one that is not, the operator is told', async () => {
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

  const epochOf = (url: string) =>
    asSuperuser(url, async (client) => {
      const { rows } = await client.query<{ value: string }>("SELECT value FROM meta WHERE name = 'epoch'");
      return rows[0]?.value;
    });
  const endConnections =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'belfry' AND datname = current_database()";

  test('a log that went back while the connection was lost gets a new epoch, one that did not keeps its own', async () => {
    const url = await createDatabase(server());
    const reader = await open(url);
    const { history, builder, executor } = await open(url);
    await executor.write([
      builder
        .insertInto('tenants')
        .values({ id: tenant, name: 't', title: 'T', changed: 0, created_at: 0 } as never)
        .compile(),
    ]);
    for (let i = 0; i < 3; i++) await store(history, tenant);
    await reader.history.readAfter(tenant, 0, 9);
    const before = await epochOf(url);
    const isBack = async (storage: Storage) => {
      await storage.history.bounds(tenant).catch(() => undefined);
      await eventually(() => expect(storage.problem()).toBeUndefined());
    };
    await asSuperuser(url, (client) => client.query(endConnections));
    await isBack(reader);
    expect(await epochOf(url)).toBe(before);
    // As on a standby that lacks the last two, and has taken another since.
    await asSuperuser(url, async (client) => {
      await client.query(
        'DELETE FROM log WHERE position > 1; UPDATE logs SET head = 1; DELETE FROM live WHERE position > 1',
      );
      await client.query(endConnections);
    });
    await isBack(reader);
    await eventually(async () => expect(await epochOf(url)).not.toBe(before));
    const after = await epochOf(url);
    await store(history, tenant).catch(() => undefined);
    expect(await epochOf(url)).toBe(after);
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
