/** Two servers on one PostgreSQL. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Cli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { createDatabase, withClient } from '../support/postgres.ts';
import { TestServer } from '../support/server.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { describeWithOwnPostgres } from '../support/with-postgres.ts';
import { readExposition, samplesOf } from './metrics-format.ts';

describeWithOwnPostgres('two servers on one PostgreSQL', { durable: true }, (postgres) => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-nodes-'));
  let env: Record<string, string>;
  let one: TestServer;
  let two: TestServer;

  beforeAll(async () => {
    env = {
      BELFRY_DATABASE_URL: await createDatabase(postgres().url),
      BELFRY_KEY_FILE: join(folder, 'belfry.key'),
      BELFRY_METRICS_TOKEN: 'operators-only',
    };
    one = await TestServer.start(env);
    two = await TestServer.start(env);
  });
  afterAll(async () => {
    await Promise.all([one?.stop(), two?.stop()]);
    rmSync(folder, { recursive: true });
  });

  describe('a notification sent to one node', () => {
    test('is shown on panels of both, once and in order, and found on both', async () => {
      const token = await one.token({ tenant: 'shown', scopes: ['notify', 'panel'] });
      const key = await one.key('admin', 'shown');
      const [near, far] = [await one.panel(token, 'near'), await two.panel(token, 'far')];
      for (let i = 1; i <= 20; i++) {
        const { status } = await (i % 2 ? one : two).notify(token, {
          title: `T${i}`,
          message: 'M',
          host: 'db-1',
        });
        expect(status).toBe(200);
      }
      for (const { stream } of [near, far]) {
        await stream.next(({ data }) => data.title === 'T20');
        const shown = stream.messages.filter(({ event }) => event === 'notification');
        expect(shown.map(({ data }) => data.title)).toEqual(
          Array.from({ length: 20 }, (_, i) => `T${i + 1}`),
        );
        stream.close();
      }
      for (const node of [one, two]) {
        const { json } = await node.call('GET', '/api/history?q=host:db-*&limit=50', { token: key });
        expect(json.notifications).toHaveLength(20);
      }
    });

    test('is cleared on the other by a later one with its key', async () => {
      const token = await one.token({ tenant: 'cleared', scopes: ['notify', 'panel'] });
      const { stream } = await two.panel(token, 'wall');
      await one.notify(token, { title: 'down', message: 'M', key: 'db' });
      await stream.next(({ event }) => event === 'notification');
      await one.notify(token, { title: 'up', message: 'M', key: 'db' });
      await stream.next(({ event }) => event === 'clear');
      stream.close();
    });

    test('is shelved and acknowledged on one, and comes back on panels of the other, once', async () => {
      const token = await one.token({ tenant: 'shelved', scopes: ['notify', 'panel'] });
      const key = await one.key('member', 'shelved');
      const { stream } = await two.panel(token, 'wall');
      const send = async (title: string) =>
        (await one.notify(token, { title, message: 'M', level: 'error', key: title })).json.id as string;
      const [aside, seen] = [await send('aside'), await send('seen')];
      const act = (id: string, what: string) =>
        one.call('POST', `/api/alarms/${id}/${what}`, { token: key, json: { forMs: 1_000 } });
      await act(aside, 'shelve');
      await act(seen, 'acknowledge');
      const repeat = await send('seen');
      for (const [event, id] of [
        ['shelve', aside],
        ['unshelve', aside],
        ['unacknowledge', repeat],
      ])
        await stream.next((each) => each.event === event && each.data.id === id);
      await one.notify(token, { title: 'last', message: 'M' });
      await stream.next(({ data }) => data.title === 'last');
      const returned = stream.messages.filter(({ event }) => event.startsWith('un'));
      expect(returned).toHaveLength(2);
      const { json } = await two.call('GET', '/api/alarms', { token: key });
      expect(json.counts).toEqual({ open: 3, acknowledged: 0, shelved: 0, suppressed: 0 });
      stream.close();
    });

    test('is changed with hundreds of others in one call', async () => {
      const token = await one.token({ tenant: 'many', scopes: ['notify'] });
      const key = await one.key('member', 'many');
      await Promise.all(
        Array.from({ length: 434 }, (_, i) =>
          one.notify(token, { title: `T${i}`, message: 'M', level: 'error' }),
        ),
      );
      const json = { action: 'acknowledge', q: 'level:error', note: 'known' };
      const { json: done } = await two.call('POST', '/api/alarms/actions', { token: key, json });
      expect(done).toEqual({ done: 434, failed: [] });
      const { json: list } = await one.call('GET', '/api/alarms', { token: key });
      expect(list.counts).toEqual({ open: 0, acknowledged: 434, shelved: 0, suppressed: 0 });
    });

    test('is stored once when it is tried again on the other with the same idempotency key', async () => {
      const token = await one.token({ tenant: 'retried' });
      const headers = { 'idempotency-key': 'k' };
      const [first, second] = [
        await one.notify(token, { title: 'T', message: 'M' }, headers),
        await two.notify(token, { title: 'T', message: 'M' }, headers),
      ];
      expect(second.json).toEqual(first.json);
    });
  });

  test('metrics of each node say how many notifications are not indexed', async () => {
    const token = await one.token({ tenant: 'counted' });
    await one.notify(token, { title: 'T', message: 'M' });
    for (const node of [one, two])
      await eventually(async () => {
        const { text } = await node.call('GET', '/metrics', { token: 'operators-only' });
        expect(samplesOf(readExposition(text)).belfry_index_backlog).toBeGreaterThan(0);
      });
  });

  test('a token that is revoked on one node is refused by the other within a second or so, and its streams end', async () => {
    const token = await one.token({ tenant: 'revoked', scopes: ['notify', 'panel'] });
    const { stream } = await two.panel(token, 'wall');
    const key = await one.key('admin', 'revoked');
    const { json } = await one.call('GET', '/api/tokens', { token: key });
    await one.call('DELETE', `/api/tokens/${json.tokens[0].id}`, { token: key });
    await eventually(async () => {
      expect((await two.notify(token, { title: 'T', message: 'M' })).status).toBe(401);
    });
    await stream.ended;
  });

  test('a node with another key does not start, and says what to do', async () => {
    const other = { ...env, BELFRY_KEY_FILE: join(folder, 'other.key') };
    await expect(TestServer.start(other)).rejects.toThrow(/BELFRY_KEY_FILE/);
  });

  test('commands leave an empty database empty unless they create something, and make no key', async () => {
    const url = await createDatabase(postgres().url);
    const cli = new Cli();
    onTestFinished(() => cli.remove());
    const file = join(folder, 'empty.yaml');
    writeFileSync(file, 'version: 1\n');
    const key = join(folder, 'of-commands.key');
    const own = { BELFRY_DATABASE_URL: url, BELFRY_KEY_FILE: key };
    const { host, pathname } = new URL(url);
    for (const args of [
      ['token', 'list'],
      ['key', 'revoke', 'x'],
      ['user', 'password', 'anna@example.org'],
      ['export'],
      ['apply', file, '--dry-run'],
      ['token', 'create', '--name', 'x', '--tenant', 'nobody'],
      ['migrate', url, `sqlite:${join(folder, 'target.db')}`],
    ])
      expect(await cli.run(args, { env: own }), args.join(' ')).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `belfry: ${host}${pathname} is no database of Belfry yet: start the server on it first, or set BELFRY_DATABASE_URL to where it is\n`,
      });
    const tables = await withClient(url, (client) =>
      client.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'"),
    );
    expect(tables.rows).toEqual([]);
    expect(existsSync(join(folder, 'target.db'))).toBe(false);
    await cli.ok(['token', 'create', '--name', 'first'], { env: own });
    expect(existsSync(key)).toBe(false);
  });

  test('export, diff and apply in a folder without the key of the nodes make none', async () => {
    const cli = new Cli();
    onTestFinished(() => cli.remove());
    const [config, stray] = [join(cli.folder, 'same.yaml'), join(cli.folder, 'stray.key')];
    writeFileSync(config, await cli.ok(['export'], { env }));
    for (const args of [['export'], ['apply', config]]) {
      const unnamed = spawnSync(process.execPath, [resolve('dist/server/main.js'), ...args], {
        cwd: cli.folder,
        env: { PATH: process.env.PATH, BELFRY_DATABASE_URL: env.BELFRY_DATABASE_URL },
        encoding: 'utf8',
      });
      expect({ code: unnamed.status, stderr: unnamed.stderr }).toEqual({
        code: 1,
        stderr: `belfry: there is no key file at ${join(cli.folder, 'data/belfry.key')}: name the key file of the nodes in BELFRY_KEY_FILE; it is made if the database is new\n`,
      });
      expect(await cli.run(args, { env: { ...env, BELFRY_KEY_FILE: stray } })).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^belfry: this node has another key than the nodes before it.*\n$/),
      });
    }
    expect(readdirSync(cli.folder)).toEqual(['same.yaml']);
  });

  test('a database with tables of another program is refused, and nothing is made in it', async () => {
    for (const table of ['meta (a int)', 'schema_version (version text)', 'orders (id int)']) {
      const url = await createDatabase(postgres().url);
      await withClient(url, (client) => client.query(`CREATE TABLE ${table}`));
      const name = table.split(' ')[0] as string;
      const refusal = new RegExp(`has tables of another program \\(${name}\\): make an empty database`);
      await expect(TestServer.start({ ...env, BELFRY_DATABASE_URL: url })).rejects.toThrow(refusal);
      const { rows } = await withClient(url, (client) =>
        client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
      );
      expect(rows).toEqual([{ tablename: name }]);
    }
  });

  test('a new database with another encoding is refused, and the error says how to make it', async () => {
    const url = new URL(await createDatabase(postgres().url));
    const name = `${url.pathname.slice(1)}_latin`;
    await withClient(postgres().url, (client) =>
      client.query(
        `CREATE DATABASE ${name} OWNER ${url.username} ENCODING LATIN1 LOCALE 'C' TEMPLATE template0`,
      ),
    );
    url.pathname = `/${name}`;
    await expect(TestServer.start({ ...env, BELFRY_DATABASE_URL: url.href })).rejects.toThrow(
      /stores texts as LATIN1: make a new one with createdb --encoding UTF8/,
    );
  });

  test('after a fail-over that lost the newest notifications, panels of all nodes start afresh', async () => {
    const token = await one.token({ tenant: 'failed-over', scopes: ['notify', 'panel'] });
    const panels = [await one.panel(token, 'near'), await two.panel(token, 'far')];
    for (const title of ['kept', 'lost']) await one.notify(token, { title, message: 'M' });
    for (const { stream } of panels) await stream.next(({ data }) => data.title === 'lost');
    const tenant = await one.tenant('failed-over');
    const own = new URL(postgres().url);
    own.pathname = new URL(env.BELFRY_DATABASE_URL as string).pathname;
    await withClient(own.href, async (client) => {
      await client.query(`DELETE FROM log WHERE tenant = ${tenant} AND position > 1`);
      await client.query(`DELETE FROM live WHERE tenant = ${tenant} AND position > 1`);
      await client.query(`UPDATE logs SET head = 1 WHERE tenant = ${tenant}`);
      await client.query("UPDATE meta SET value = 'that of the primary' WHERE name = 'cluster'");
      await client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'belfry'",
      );
    });
    for (const [i, { id, stream }] of panels.entries()) {
      await stream.ended;
      const cursor = stream.messages.findLast((message) => message.id)?.id;
      const node = i === 0 ? one : two;
      await eventually(async () => {
        const again = await node.stream(`/api/panels/${id}/events`, token, cursor);
        expect(again.response.status).toBe(200);
        const ready = await again.next(({ event }) => event === 'ready');
        again.close();
        expect(ready.data).toMatchObject({ resume: 'reset', head: 1 });
        expect(cursor).not.toContain(ready.data.epoch);
      });
    }
  });

  test('while PostgreSQL is silent, readiness is answered with 503, and senders with 503 and Retry-After', async () => {
    const url = env.BELFRY_DATABASE_URL as string;
    const proxy = await TcpProxy.start({ port: Number(new URL(url).port) });
    const three = await TestServer.start({ ...env, BELFRY_DATABASE_URL: proxy.through(url) });
    const token = await three.token();
    expect((await three.notify(token, { title: 'before', message: 'M' })).status).toBe(200);
    proxy.freeze();
    const waiting = three.notify(token, { title: 'meanwhile', message: 'M' });
    await eventually(async () => expect((await three.call('GET', '/readyz')).status).toBe(503));
    const refused = [await waiting, await three.notify(token, { title: 'later', message: 'M' })];
    for (const { status, headers } of refused)
      expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    proxy.mend();
    await eventually(async () => expect((await three.call('GET', '/readyz')).status).toBe(200));
    await three.stop();
    await proxy.close();
  });

  test('a node that starts while PostgreSQL is away waits, says so once, and is ready when it is back; a signal ends the wait', async () => {
    const cli = new Cli();
    onTestFinished(() => cli.remove());
    const settings = { ...env, BELFRY_HOST: '127.0.0.1', BELFRY_PORT: '0' };
    let waiting: ReturnType<Cli['start']> | undefined;
    await postgres().restart(async () => {
      const stopped = cli.start(['serve'], settings);
      waiting = cli.start(['serve'], settings);
      for (const each of [stopped, waiting]) await each.says(/"msg":"waiting for PostgreSQL at /, 'stderr');
      stopped.child.kill('SIGTERM');
      const { code, stderr } = await stopped.ended;
      expect({ code, lines: stderr.match(/"msg":"[^"]*/g) }).toEqual({
        code: 0,
        lines: [
          '"msg":"starting',
          expect.stringMatching(/waiting for PostgreSQL at [\w.:]+\/\w+$/),
          '"msg":"stopped before it was ready',
        ],
      });
    });
    await waiting?.says(/"msg":"ready"/, 'stderr');
    waiting?.child.kill('SIGTERM');
    expect((await waiting?.ended)?.code).toBe(0);
  });

  test('while PostgreSQL is away senders get 503 with Retry-After; afterwards all that was acknowledged is there', async () => {
    const token = await one.token({ tenant: 'away' });
    const key = await one.key('admin', 'away');
    const sent = await one.notify(token, { title: 'before', message: 'M' });
    await postgres().restart(async () => {
      await eventually(async () => {
        const refused = await one.notify(token, { title: 'meanwhile', message: 'M' });
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      });
      expect((await one.call('GET', '/readyz')).status).toBe(503);
    });
    await eventually(async () => {
      expect((await one.notify(token, { title: 'after', message: 'M' })).status).toBe(200);
      expect((await one.call('GET', '/readyz')).status).toBe(200);
    });
    const { json } = await eventually(async () => {
      const answer = await two.call('GET', '/api/history?limit=50', { token: key });
      expect(answer.status).toBe(200);
      return answer;
    });
    const titles = json.notifications.map(({ title }: { title: string }) => title);
    expect(titles.at(-1)).toBe('before');
    expect(json.notifications.at(-1).id).toBe(sent.json.id);
    expect(titles).not.toContain('meanwhile');
  });
});
