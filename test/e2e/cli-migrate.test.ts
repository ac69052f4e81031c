/** `belfry migrate`: from SQLite to PostgreSQL, and back. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, expect, test } from 'vitest';
import { standingStates } from '#contract/history/alarm-states.ts';
import { Cli } from '../support/cli.ts';
import { draft, wholeDraft } from '../support/notification-draft.ts';
import { createDatabase } from '../support/postgres.ts';
import { TestServer } from '../support/server.ts';
import { onStorage } from '../support/storage.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { append } from './history-seed.ts';

describeWithPostgres('belfry migrate', (postgres) => {
  const clis: Cli[] = [];
  const newCli = () => {
    const cli = new Cli();
    clis.push(cli);
    return cli;
  };
  afterAll(async () => {
    for (const cli of clis) await cli.remove();
  });
  const newDatabase = () => createDatabase(postgres());
  const filesOf = (folder: string) => ({
    sqlite: `sqlite:${join(folder, 'belfry.db')}`,
    keyFile: join(folder, 'belfry.db.key'),
  });

  /** All that a client can see of a tenant. */
  async function seen(server: TestServer, key: string) {
    const paths = [
      '/api/tenant',
      '/api/panels',
      '/api/rules',
      '/api/levels',
      '/api/tokens',
      '/api/keys',
      '/api/audit',
    ];
    const answers = await Promise.all(paths.map((path) => server.call('GET', path, { token: key })));
    const history = await server.call('GET', '/api/history/export?format=ndjson', { token: key });
    const live = await server.call('GET', '/api/history?q=is:live&limit=100', { token: key });
    expect([...answers, history, live].map(({ status }) => status)).toEqual(
      Array(paths.length + 2).fill(200),
    );
    // The key's own use is noted now and then.
    const texts = answers.map(({ text }) => text.replaceAll(/"lastUsed(At|From)":("[^"]*"|null)/g, ''));
    return { texts, history: history.text, live: live.json.notifications };
  }

  /** Something of every kind, in two tenants; none expires while the test runs. */
  async function fill(server: TestServer) {
    const token = await server.token({ scopes: ['notify', 'panel'] });
    await server.token({ scopes: ['notify'], allowInUrl: true });
    const key = await server.key('owner');
    const other = { token: await server.token({ tenant: 'other' }), key: await server.key('owner', 'other') };
    const call = (method: string, path: string, json: unknown) =>
      server.call(method, path, { token: key, json });
    await call('POST', '/api/rules', {
      name: 'once',
      when: { host: ['db-*'] },
      then: { throttle: { by: ['host'], perMs: 600_000 } },
    });
    await call('POST', '/api/rules', { name: 'quiet', when: { host: ['test-*'] }, then: { mute: true } });
    await call('PUT', '/api/levels/alarm', { rank: 45 });
    const { id: panel, stream } = await server.panel(token, 'wall', { tags: ['noc'] });
    const ids: string[] = [];
    for (let i = 0; i < 40; i++) {
      const { json } = await server.notify(token, {
        title: `Größe ${i}`,
        message: 'disk "full"\n\u{1f4be}',
        level: ['info', 'error', 'alarm'][i % 3],
        ttl: i % 4 === 0 ? 50 : 0,
        ...(i % 5 === 0 && { key: 'disk' }),
        ...(i % 7 === 0 && { host: 'db-1' }),
        ...(i % 11 === 0 && { host: 'test-1' }),
      });
      ids.push(json.id);
    }
    await server.notify(other.token, { title: 'of another tenant', message: 'm', ttl: 0 });
    const retry = await server.notify(
      token,
      { title: 'retried', message: 'm', ttl: 0 },
      { 'idempotency-key': 'k' },
    );
    for (const id of ids.slice(1, 3))
      await server.call('POST', `/api/notifications/${id}/acknowledge`, { token: key, json: { note: 'n' } });
    await server.call('POST', `/api/notifications/${ids[1]}/clear`, { token: key });
    await server.call('POST', `/api/panels/${panel}/receipts`, {
      token,
      json: ids.slice(0, 10).map((id) => ({ id, state: 'shown', at: Date.now() })),
    });
    await stream.next(({ data }) => data.title === 'retried');
    const cursor = stream.messages.findLast(({ id }) => id !== undefined)?.id ?? '';
    stream.close();
    return { token, key, other, panel, cursor, retried: retry.json.id as string };
  }

  test('copies everything; panels go on by their cursors; and the way back gives the same', async () => {
    const cli = newCli();
    const { sqlite, keyFile } = filesOf(cli.folder);
    let server = await TestServer.start({}, cli.folder);
    const world = await fill(server);
    const refused = await cli.run(['migrate', sqlite, await newDatabase()]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('a Belfry server runs on')]);
    await server.stop({ keep: true });
    server = await TestServer.start({}, cli.folder);
    const before = { own: await seen(server, world.key), other: await seen(server, world.other.key) };
    await server.stop({ keep: true });

    const url = await newDatabase();
    const out = await cli.ok(['migrate', sqlite, url]);
    expect(out).toMatch(/copied and compared: 2 tenants, \d+ entries of history, \d+ other rows/);
    expect(out).toContain(keyFile);
    const env = { BELFRY_DATABASE_URL: url, BELFRY_KEY_FILE: keyFile };
    server = await TestServer.start(env, cli.folder);
    const after = { own: await seen(server, world.key), other: await seen(server, world.other.key) };
    expect(after).toEqual(before);
    const again = await server.notify(
      world.token,
      { title: 'retried', message: 'm', ttl: 0 },
      { 'idempotency-key': 'k' },
    );
    expect(again.json.id).toBe(world.retried);
    const { stream } = await server.panel(world.token, 'wall', { cursor: world.cursor });
    expect(stream.messages.find(({ event }) => event === 'ready')?.data.resume).toBe('replayed');
    await server.notify(world.token, { title: 'after', message: 'm', key: 'disk', ttl: 0 });
    await stream.next(({ data }) => data.title === 'after');
    expect(stream.messages.map(({ event }) => event)).not.toContain('reset');
    stream.close();
    const running = await cli.run(['migrate', url, `sqlite:${join(cli.folder, 'back.db')}`]);
    expect([running.code, running.stderr]).toEqual([1, expect.stringContaining('a Belfry node runs on')]);
    // A tenant that is made now has a number of its own.
    await server.tenant('new');
    const beforeBack = await seen(server, world.key);
    await server.stop({ keep: true });

    const full = await cli.run(['migrate', sqlite, url]);
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('the target is not empty')]);
    await cli.ok(['migrate', url, `sqlite:${join(cli.folder, 'back.db')}`], {
      env: { BELFRY_KEY_FILE: keyFile },
    });
    server = await TestServer.start(
      { BELFRY_DATABASE_URL: `sqlite:${join(cli.folder, 'back.db')}` },
      cli.folder,
    );
    expect(await seen(server, world.key)).toEqual(beforeBack);
    expect(await seen(server, world.other.key)).toEqual(before.other);
    const found = await server.call('GET', '/api/history?q=Größe host:db-1&limit=100', { token: world.key });
    expect(found.json.notifications.length).toBeGreaterThan(2);
    await server.stop({ keep: true });
  });

  test('every field, state and receipt of a notification is the same after the way there and the way back', async () => {
    const cli = newCli();
    const { sqlite, keyFile } = filesOf(cli.folder);
    const [own, other] = [Date.now(), Date.now() + 1];
    const counted = draft({ receivedAt: own });
    const whole = wholeDraft({ receivedAt: other, throttledOn: counted.id });
    const shown = wholeDraft({ receivedAt: other, ttl: 0 });
    const live = { ...shown, expiresAt: null, throttledOn: null, throttleCount: 0, key: "l'k\\x: \u{1f4be}" };
    const stays = { receivedAt: other, ttl: 0, expiresAt: null, rank: 40, level: 'error', key: 'disk' };
    const [first, repeat, aside, waiting] = [
      draft({ ...stays, rank: 50, level: 'critical', ttl: 5, expiresAt: other + 5 }),
      draft(stays),
      draft(stays),
      draft({ ...stays, key: null }),
    ];
    const escalation = {
      rule: { id: 'r', name: "on 'call'" },
      steps: [{ afterMs: 1_000 }, { afterMs: 2_000 }],
    };
    const panel = { id: 'p1', tags: ['noc'] };
    const read = (env: Readonly<Record<string, string>>) =>
      onStorage(
        cli.folder,
        async ({ storage: { history }, directory }) => {
          const tenant = (await directory.tenants.findByName('default'))?.id ?? 0;
          const ids = [counted.id, whole.id, live.id, first.id, repeat.id, aside.id];
          return {
            entries: (await history.readAfter(tenant, 0, 20)).entries,
            alarms: (await history.alarms(tenant, { now: other + 20, states: standingStates, limit: 99 }))
              .places,
            events: await history.entriesOf(tenant, [first.id, repeat.id], 10),
            records: await Promise.all(ids.map((id) => history.find(tenant, id))),
            receipts: await history.of(tenant, ids),
            due: await history.dueSteps(other + 1_000, 10),
            live: await history.live(tenant, panel, other + 1, 10),
            text: (await history.readLive(tenant, [3], other + 1, 10_000)).notifications,
          };
        },
        env,
      );
    await onStorage(cli.folder, async ({ storage: { history }, directory }) => {
      const tenant = (await directory.tenants.findByName('default'))?.id ?? 0;
      for (const each of [counted, whole, live]) await history.append(tenant, each, null, { escalation });
      await history.act(tenant, [live.id], { kind: 'acknowledge', by: 'Ann', at: other + 3, note: 'n' });
      await history.record(tenant, panel, [
        { id: counted.id, state: 'shown', at: other + 4 },
        { id: live.id, state: 'shown', at: other + 5, inGroup: true },
      ]);
      await history.clear(tenant, counted.id, 'Ann', other + 6);
      await history.append(tenant, first, null, { escalation });
      const shelf = { at: other + 7, by: 'Ann', note: 'n', until: other + 1e9 };
      await history.act(tenant, [first.id], { kind: 'acknowledge', ...shelf });
      await history.append(tenant, repeat, null, { escalation });
      await history.act(tenant, [repeat.id], { kind: 'shelve', ...shelf });
      await history.append(tenant, aside, null);
      await history.append(tenant, waiting, null, { escalation });
    });
    const before = await read({});
    expect(before.records.at(-1)?.alarm).toMatchObject({ count: 3, highestLevel: 'critical', shelved: {} });
    expect(before.due).toMatchObject([{ id: waiting.id, step: 0 }]);
    expect(before.entries).toContainEqual({ ...whole, kind: 'notification', position: 2 });
    const url = await newDatabase();
    await cli.ok(['migrate', sqlite, url]);
    expect(await read({ BELFRY_DATABASE_URL: url, BELFRY_KEY_FILE: keyFile })).toEqual(before);
    const back = `sqlite:${join(cli.folder, 'back.db')}`;
    await cli.ok(['migrate', url, back], { env: { BELFRY_KEY_FILE: keyFile } });
    expect(await read({ BELFRY_DATABASE_URL: back })).toEqual(before);
  });

  test('a copy that was killed makes no server start, and goes on where it was', async () => {
    const cli = newCli();
    const { sqlite } = filesOf(cli.folder);
    const entries = 12_000;
    await onStorage(cli.folder, async ({ storage, directory }) => {
      const tenant = (await directory.tenants.findByName('default'))?.id ?? 0;
      // Some are gone by retention already, and one that was cleared is among them.
      const first = uuidv7();
      await append(storage.history, tenant, 1, () => ({ id: first }));
      await append(storage.history, tenant, 500);
      await storage.history.clear(tenant, first, 'key test', Date.now());
      await append(storage.history, tenant, entries, (i) => ({
        host: `h${i % 50}`,
        key: i % 9 ? null : `k${i % 40}`,
      }));
      while ((await storage.history.prune(tenant, { olderThan: null, keep: entries }, Date.now())) > 0);
    });
    const url = await newDatabase();
    for (const share of ['10', '40', '70']) {
      const running = cli.start(['migrate', sqlite, url]);
      await running.says(new RegExp(`copying: ${share} %`));
      running.child.kill('SIGKILL');
      await running.ended;
    }
    const env = { BELFRY_DATABASE_URL: url, BELFRY_KEY_FILE: join(cli.folder, 'new.key') };
    await expect(TestServer.start(env, cli.folder)).rejects.toThrow(
      /the copy into this database was interrupted/,
    );
    const elsewhere = newCli();
    await elsewhere.ok(['token', 'create', '--name', 'x']);
    const foreign = await elsewhere.run(['migrate', filesOf(elsewhere.folder).sqlite, url]);
    expect(foreign.stderr).toContain('unfinished copy of another database');
    const out = await cli.ok(['migrate', sqlite, url]);
    const firstSaid = /copying: (\d+) %/.exec(out)?.[1];
    expect(Number(firstSaid)).toBeGreaterThanOrEqual(60);
    expect(out).toContain('copied and compared');
  });

  test('refuses a key that is not the source’s, a source without its key, and a target with another one', async () => {
    const cli = newCli();
    const { sqlite, keyFile } = filesOf(cli.folder);
    const server = await TestServer.start({}, cli.folder);
    await server.stop({ keep: true });
    const url = await newDatabase();
    const refusal = async (to: string, from: string, env = {}) => {
      const { code, stderr } = await cli.run(['migrate', from, to], { env });
      return [code, stderr];
    };
    const other = join(cli.folder, 'other.key');
    writeFileSync(other, `${'0'.repeat(64)}\n`);
    const withOther = { BELFRY_KEY_FILE: other };
    const isNot = [1, expect.stringContaining(`${other} is not the key of the source`)];
    expect(await refusal(url, sqlite, withOther)).toEqual(isNot);
    const held = await cli.run(['migrate', sqlite, `sqlite:${join(cli.folder, 'c.db')}`], { env: withOther });
    expect([held.code, existsSync(join(cli.folder, 'c.db'))]).toEqual([1, false]);
    await cli.ok(['migrate', sqlite, url]);
    const back = join(cli.folder, 'back.db');
    expect(await refusal(`sqlite:${back}`, url, withOther)).toEqual(isNot);
    const without = { BELFRY_KEY_FILE: join(cli.folder, 'none.key') };
    const isMissing = [
      1,
      expect.stringContaining('none.key is missing, and this database was used with one'),
    ];
    expect(await refusal(`sqlite:${back}`, url, without)).toEqual(isMissing);
    expect(await refusal(`sqlite:${back}`, sqlite, without)).toEqual(isMissing);
    writeFileSync(`${back}.key`, `${'0'.repeat(64)}\n`);
    const right = { BELFRY_KEY_FILE: keyFile };
    expect(await refusal(`sqlite:${back}`, url, right)).toEqual([
      1,
      expect.stringContaining('holds another key than'),
    ]);
    expect(existsSync(back)).toBe(false);
  });

  test('two at once: one of them is refused', async () => {
    const [one, other] = [newCli(), newCli()];
    for (const cli of [one, other]) await cli.token();
    const url = await newDatabase();
    const runs = await Promise.all(
      [one, other].map((cli) => cli.run(['migrate', filesOf(cli.folder).sqlite, url])),
    );
    expect(runs.map(({ code }) => code).toSorted()).toEqual([0, 1]);
    const refusal = /another belfry migrate runs on|the target is not empty|unfinished copy of another/;
    expect(runs.find(({ code }) => code === 1)?.stderr).toMatch(refusal);

    const held = new pg.Client({ connectionString: url });
    await held.connect();
    await held.query('SELECT pg_advisory_lock($1)', [0x62656c67]);
    const { code, stderr } = await one.run(['migrate', filesOf(one.folder).sqlite, url]);
    await held.end();
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('another belfry migrate runs on the PostgreSQL'),
    ]);
  });

  test('says what is wrong with its arguments', async () => {
    const cli = newCli();
    const { code, stderr } = await cli.run(['migrate', 'mysql://x/y', 'sqlite:./new.db']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('must be sqlite: and the path of a file')]);
    const absent = await cli.run(['migrate', `sqlite:${join(cli.folder, 'none.db')}`, await newDatabase()]);
    expect([absent.code, absent.stderr]).toEqual([1, expect.stringContaining('none.db')]);
  });
});
