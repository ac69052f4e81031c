/** Which limits hold for all nodes, and how exactly. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createDatabase } from '../support/postgres.ts';
import { type Answer, TestServer } from '../support/server.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';

describeWithPostgres('limits on two nodes', (postgres) => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-limits-'));
  let env: Record<string, string>;
  let nodes: TestServer[];
  const start = async () => [await TestServer.start(env), await TestServer.start(env)];
  const stop = () => Promise.all(nodes.map((node) => node.stop()));
  beforeAll(async () => {
    env = {
      BELFRY_DATABASE_URL: await createDatabase(postgres()),
      BELFRY_KEY_FILE: join(folder, 'belfry.key'),
    };
    nodes = await start();
  });
  afterAll(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });

  /** Makes calls in turn on both nodes until one is refused; answers how many were not, and how long it took. */
  const untilRefused = async (call: (node: TestServer, i: number) => Promise<Answer>) => {
    const began = performance.now();
    for (let i = 0; i < 200; i++) {
      const { status } = await call(nodes[i % 2] as TestServer, i);
      if (status === 429) return { passed: i, seconds: (performance.now() - began) / 1_000 };
    }
    throw new Error('none was refused');
  };

  test('tries to sign in to an account are counted by all nodes together', async () => {
    const json = { email: 'nobody@example.org', password: 'not the right one' };
    const { passed, seconds } = await untilRefused((node) =>
      node.call('POST', '/api/session', { json, headers: { origin: node.url } }),
    );
    expect(passed).toBeGreaterThanOrEqual(10);
    expect(passed).toBeLessThanOrEqual(10 + Math.ceil(seconds / 15));
  });

  test('screens that start pairing are counted by all nodes together', async () => {
    const { passed, seconds } = await untilRefused((node) => node.call('POST', '/api/pairings'));
    expect(passed).toBeGreaterThanOrEqual(20);
    expect(passed).toBeLessThanOrEqual(20 + Math.ceil(seconds / 15));
  });

  test('wrong pairing codes are counted by all nodes together', async () => {
    const key = await nodes[0]?.key('admin');
    const { passed, seconds } = await untilRefused((node) =>
      node.call('POST', '/api/pairings/WRNGCD/approve', { token: key ?? '', json: { name: 'wall' } }),
    );
    expect(passed).toBeGreaterThanOrEqual(20);
    expect(passed).toBeLessThanOrEqual(20 + Math.ceil(seconds / 30));
  });

  test('a token at its limit may send one burst more for each other node, and pays it back', async () => {
    const [one, two] = nodes as [TestServer, TestServer];
    // So slow that a busy machine does not pay back before the nodes have heard of each other.
    const rate = { perSecond: 0.5, burst: 40 };
    const token = await one.token({ tenant: 'rates', rate });
    const began = performance.now();
    const send = async (node: TestServer) => (await node.notify(token, { title: 't', message: 'm' })).status;
    const flood = async (node: TestServer, count: number) =>
      (await Promise.all(Array.from({ length: count }, () => send(node)))).filter((status) => status === 200)
        .length;
    const first = (await Promise.all([flood(one, 60), flood(two, 60)])).reduce((a, b) => a + b);
    // Once they have heard of each other.
    await eventually(async () => {
      const states = await Promise.all(
        [one, two].map((node) => node.notify(token, { title: 't', message: 'm' })),
      );
      for (const { status, headers } of states)
        expect([status, Number(headers.get('retry-after')) > 5]).toEqual([429, true]);
    });
    const later = (await Promise.all([flood(one, 20), flood(two, 20)])).reduce((a, b) => a + b);
    const seconds = (performance.now() - began) / 1_000;
    expect(first).toBeGreaterThanOrEqual(40);
    expect(first + later).toBeLessThanOrEqual(2 * rate.burst + rate.perSecond * seconds);
    expect(later).toBeLessThanOrEqual(rate.perSecond * seconds);
  });

  test('a token that sends to one node alone has its whole limit there', async () => {
    const [one] = nodes as [TestServer, TestServer];
    const token = await one.token({ tenant: 'alone', rate: { perSecond: 0.001, burst: 30 } });
    const statuses = [];
    for (let i = 0; i < 35; i++)
      statuses.push((await one.notify(token, { title: 't', message: 'm' })).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(30);
  });

  describe('a throttle', () => {
    const world = async (tenant: string) => {
      const [one] = nodes as [TestServer, TestServer];
      const [token, key] = [
        await one.token({ tenant, scopes: ['notify', 'panel'] }),
        await one.key('admin', tenant),
      ];
      const rule = { name: 'once', when: {}, then: { throttle: { by: ['host'], perMs: 600_000 } } };
      expect((await one.call('POST', '/api/rules', { token: key, json: rule })).status).toBe(201);
      return { token, key };
    };
    /** Each node has the rule. */
    const settled = (token: string, key: string) =>
      eventually(async () => {
        for (const node of nodes) {
          const { json } = await node.notify(token, { title: 'probe', message: 'm', host: 'probe' });
          const { json: found } = await node.call('GET', `/api/notifications/${json.id}`, { token: key });
          expect(found.rules).toHaveLength(1);
        }
      });

    test('shows one for all nodes, however many come at once, and counts the others on it', async () => {
      const { token, key } = await world('throttled');
      await settled(token, key);
      const [one, two] = nodes as [TestServer, TestServer];
      const panel = await two.panel(token, 'wall');
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          (nodes[i % 2] as TestServer).notify(token, { title: `T${i}`, message: 'm', host: 'db' }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));
      const { json } = await one.call('GET', '/api/history?q=host:db&limit=50', { token: key });
      const shown = json.notifications.filter(({ state }: { state: string }) => state === 'live');
      expect(shown).toHaveLength(1);
      const counted = json.notifications.filter(
        ({ throttledOn }: { throttledOn: string | null }) => throttledOn === shown[0].id,
      );
      expect(counted).toHaveLength(39);
      await panel.stream.next(({ event, data }) => event === 'throttled' && data.count === 39);
      const counts = panel.stream.messages
        .filter(({ event }) => event === 'throttled')
        .map(({ data }) => data.count);
      expect(counts).toEqual([...counts].sort((a, b) => a - b));
      panel.stream.close();
    });

    test('shows what is more serious on each node, and counts on that one', async () => {
      const { token, key } = await world('serious');
      await settled(token, key);
      const [one, two] = nodes as [TestServer, TestServer];
      const send = async (node: TestServer, level: string) => {
        const { json } = await node.notify(token, { title: 't', message: 'm', host: 'db', level });
        return (await node.call('GET', `/api/notifications/${json.id}`, { token: key })).json;
      };
      const up = await send(one, 'success');
      expect(await send(two, 'success')).toMatchObject({ throttledOn: up.id });
      const down = await send(two, 'critical');
      expect(down).toMatchObject({ state: 'live', throttledOn: null });
      for (const node of nodes) expect(await send(node, 'critical')).toMatchObject({ throttledOn: down.id });
      await one.call('POST', `/api/notifications/${down.id}/clear`, { token: key });
      const again = await send(two, 'critical');
      expect(again).toMatchObject({ state: 'live', throttledOn: null });
      expect(await send(one, 'critical')).toMatchObject({ throttledOn: again.id });
    });

    test('goes on after all nodes were started again', async () => {
      const { token, key } = await world('restarted');
      await settled(token, key);
      const first = await (nodes[0] as TestServer).notify(token, {
        title: 'first',
        message: 'm',
        host: 'web',
      });
      await stop();
      nodes = await start();
      const { json } = await (nodes[1] as TestServer).notify(token, {
        title: 'second',
        message: 'm',
        host: 'web',
      });
      const { json: found } = await (nodes[1] as TestServer).call('GET', `/api/notifications/${json.id}`, {
        token: key,
      });
      expect([found.state, found.throttledOn]).toEqual(['throttled', first.json.id]);
    });
  });
});
