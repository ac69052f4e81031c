import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';
import { createWorld, type World } from './tenants-world.ts';

let server: TestServer;
let own: World;
let foreign: World;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off' });
  [own, foreign] = [await createWorld(server, 'own'), await createWorld(server, 'foreign')];
});
afterAll(() => server.stop());

const call = (method: string, path: string, json?: unknown, token = own.owner) =>
  server.call(method, path, { token, ...(json !== undefined && { json }) });

test('a foreign id in a body is one that is not there', async () => {
  const rule = (then: object) => ({ name: 'mine', then });
  const panels = { panels: { ids: [foreign.panel] } };
  expect((await call('POST', '/api/rules', rule(panels))).status).toBe(400);
  expect((await call('PATCH', `/api/rules/${own.rule}`, { then: panels })).status).toBe(400);
  expect((await call('POST', '/api/rules/explain', { notification: {}, rules: [rule(panels)] })).status).toBe(
    400,
  );
  expect((await call('POST', '/api/rules/explain', { notification: foreign.sent.own })).status).toBe(404);
  expect((await call('POST', '/api/rules/replay', { rules: [rule(panels)] })).status).toBe(400);
  expect((await call('PUT', '/api/rules/order', { ids: [own.rule, foreign.rule] })).status).toBe(400);
  const { json: pairing } = await server.call('POST', '/api/pairings');
  expect(
    (await call('POST', `/api/pairings/${pairing.code}/approve`, { panelId: foreign.panel })).status,
  ).toBe(404);
  const receipts = [{ id: foreign.sent.own, state: 'shown', at: Date.now() }];
  expect((await call('POST', `/api/panels/${own.panel}/receipts`, receipts, own.token)).json.recorded).toBe(
    0,
  );
  const { json } = await call('GET', `/api/notifications/${foreign.sent.own}`, undefined, foreign.owner);
  expect(json.receipts).toEqual({ shown: 0, expired: 0, cleared: 0 });
});

test('a foreign level, token or rule means nothing to a rule or an explanation', async () => {
  expect(
    (
      await call('POST', '/api/rules', {
        name: 'x',
        when: { minLevel: foreign.canary },
        then: { mute: true },
      })
    ).json.error,
  ).toContain('is no level');
  expect((await call('POST', '/api/rules', { name: 'x', then: { setLevel: foreign.canary } })).status).toBe(
    400,
  );
  const { json } = await call('POST', '/api/rules/explain', {
    notification: { level: foreign.canary, token: foreign.canary },
  });
  expect(json.rank).toBe(20);
});

test.each(['panel', 'token', 'rule', 'level', 'key', 'host', 'title'])(
  'a search by %s knows and offers nothing foreign',
  async (key) => {
    // Mistyped by its last letter: if the name were known, it would be offered.
    const typed = foreign.canary.slice(0, -1);
    for (const text of [foreign.canary, typed, `${typed}?`, foreign.panel, foreign.rule]) {
      const q = encodeURIComponent(`${key}:"${text}"`);
      const [page, file] = [
        await call('GET', `/api/history?q=${q}`),
        await call('GET', `/api/history/export?q=${q}`),
      ];
      if (page.status === 200) expect([text, page.json.notifications, file.text]).toEqual([text, [], '']);
      for (const { text: answer } of [page, file])
        expect([text, answer.replaceAll(text, '').includes(typed)]).toEqual([text, false]);
    }
  },
);

test('free words find nothing foreign', async () => {
  for (const q of [
    foreign.canary,
    `${foreign.canary.slice(0, 9)}*`,
    `-${own.canary}`,
    `is:live ${foreign.canary}`,
  ]) {
    const { status, json } = await call('GET', `/api/history?q=${encodeURIComponent(q)}`);
    expect([q, status]).toEqual([q, 200]);
    for (const { title } of json.notifications) expect(title).not.toBe(foreign.canary);
  }
});

test('a retry key, a throttle and a replacing key of one tenant are nothing to another', async () => {
  const send = async (world: World, json: object, headers = {}) =>
    (
      await server.notify(
        world.token,
        { title: world.canary, message: 'm', level: 'error', ...json },
        headers,
      )
    ).json.id;
  expect(await send(own, {}, { 'idempotency-key': 'same' })).not.toBe(
    await send(foreign, {}, { 'idempotency-key': 'same' }),
  );
  const down = await send(own, { key: 'same' });
  await send(foreign, { key: 'same' });
  expect((await call('GET', `/api/notifications/${down}`)).json.state).toBe('live');
});

test('streams and tails of tenants that all speak at once tell their own alone', async () => {
  const worlds = [own, foreign];
  const streams = await Promise.all(
    worlds.map(async (world) => ({
      world,
      streams: [
        await server.stream(`/api/panels/${world.panel}/events`, world.token),
        await server.stream(`/api/panels/${world.panel}/events`, world.owner),
        await server.stream('/api/history/stream', world.owner),
      ],
    })),
  );
  for (const { streams: each } of streams)
    for (const stream of each) await stream.next(({ event }) => event === 'ready');
  const speak = async (world: World) => {
    for (let i = 0; i < 25; i++)
      await server.notify(world.token, {
        title: `${world.canary} ${i}`,
        message: world.canary,
        host: world.canary,
      });
    await server.call('PUT', `/api/levels/${world.canary}`, { token: world.owner, json: { rank: 34 } });
    const { id } = (await server.notify(world.token, { title: 'last', message: world.canary })).json;
    await server.call('POST', `/api/notifications/${id}/clear`, { token: world.token });
    return id as string;
  };
  const last = await Promise.all(worlds.map(speak));
  for (const [i, { world, streams: each }] of streams.entries()) {
    const other = worlds[1 - i] as World;
    for (const stream of each) {
      await stream.next(({ data }) => data.id === last[i]);
      const text = JSON.stringify(stream.messages);
      expect([world.name, text.includes(world.canary), text.includes(other.canary)]).toEqual([
        world.name,
        true,
        false,
      ]);
      stream.close();
    }
  }
});

test('a header or a parameter that names a tenant changes nothing', async () => {
  for (const headers of [
    { 'x-tenant': 'foreign' },
    { 'x-tenant-id': String(foreign.id) },
    { cookie: `tenant=${foreign.name}` },
  ]) {
    const answer = await server.call('GET', '/api/tenant?tenant=foreign', {
      token: own.owner,
      headers,
    });
    expect([200, 400]).toContain(answer.status);
    if (answer.status === 200) expect(answer.json.name).toBe('own');
  }
});
