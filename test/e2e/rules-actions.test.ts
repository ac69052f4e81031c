import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

/** A tenant of its own with three panels. */
async function newTenant() {
  const { token, key, call: change } = await server.newTenant();
  const panels: Record<string, string> = {};
  for (const [name, tags] of [
    ['lobby', ['front']],
    ['noc', ['noc', 'big']],
    ['desk', ['noc']],
  ] as const) {
    panels[name] = (await server.call('POST', '/api/panels', { token, json: { name, tags } })).json.id;
  }
  const rule = async (name: string, json: object) =>
    (await server.call('POST', '/api/rules', { token: key, json: { name, ...json } })).json;
  /** Sends one, and answers what history says of it. */
  const send = async (json: object = {}) => {
    const { id } = (await server.notify(token, { title: 't', message: 'm', ...json })).json;
    return (await server.call('GET', `/api/notifications/${id}`, { token: key })).json;
  };
  /** The panels a notification reaches, by name. */
  const reached = async (json: object = {}) =>
    (await send(json)).panels.map(({ name }: { name: string }) => name).toSorted();
  return { token, key, panels, rule, send, reached, change };
}
const everywhere = ['desk', 'lobby', 'noc'];

test('without a matching rule a notification goes to every panel', async () => {
  const { rule, reached, send } = await newTenant();
  expect(await reached()).toEqual(everywhere);
  await rule('other', { when: { host: ['other'] }, then: { panels: 'none' } });
  expect(await reached()).toEqual(everywhere);
  expect(await send()).toMatchObject({ rules: [], target: { all: true, ids: [], tags: [] }, panelCount: 3 });
});

test('a rule names all panels, none, some by id or some by tag', async () => {
  const { rule, reached, panels, send } = await newTenant();
  await rule('all', { when: { host: ['all'] }, then: { panels: 'all' } });
  await rule('none', { when: { host: ['none'] }, then: { panels: 'none' } });
  await rule('ids', { when: { host: ['ids'] }, then: { panels: { ids: [panels.lobby, panels.desk] } } });
  await rule('tags', { when: { host: ['tags'] }, then: { panels: { tags: ['big', 'front'] } } });
  await rule('nobody yet', { when: { host: ['yet'] }, then: { panels: { tags: ['yet'] } } });
  expect(await reached({ host: 'all' })).toEqual(everywhere);
  expect(await reached({ host: 'none' })).toEqual([]);
  expect(await reached({ host: 'ids' })).toEqual(['desk', 'lobby']);
  expect(await reached({ host: 'tags' })).toEqual(['lobby', 'noc']);
  expect(await reached({ host: 'yet' })).toEqual([]);
  expect((await send({ host: 'none' })).state).toBe('unrouted');
});

test('each panel is sent what names it and nothing else', async () => {
  const { rule, token, send } = await newTenant();
  await rule('tags', { when: { host: ['tags'] }, then: { panels: { tags: ['noc'] } } });
  await rule('muted', { when: { host: ['muted'] }, then: { mute: true } });
  const streams = await Promise.all(everywhere.map((name) => server.panel(token, name)));
  const sent = [
    await send({ host: 'tags', title: 'for noc' }),
    await send({ host: 'muted' }),
    await send({ title: 'for all' }),
  ];
  for (const [i, { stream }] of streams.entries()) {
    await stream.next(({ data }) => data.id === sent[2].id);
    const titles = stream.messages
      .filter(({ event }) => event === 'notification')
      .map(({ data }) => data.title);
    expect([everywhere[i], titles]).toEqual([
      everywhere[i],
      everywhere[i] === 'lobby' ? ['for all'] : ['for noc', 'for all'],
    ]);
    stream.close();
  }
});

test('the first match ends the walk, unless it says continue; then panels are united and the later word counts', async () => {
  const { rule, send, reached, change } = await newTenant();
  const first = await rule('first', {
    when: { host: ['db'] },
    then: { panels: { tags: ['front'] }, setTtl: 1_000 },
  });
  await rule('second', {
    when: { host: ['d*'] },
    then: { panels: { tags: ['big'] }, setTtl: 2_000, setLevel: 'error' },
  });
  expect(await reached({ host: 'db' })).toEqual(['lobby']);
  expect(await send({ host: 'db' })).toMatchObject({ ttl: 1_000, level: 'info', rules: [{ name: 'first' }] });
  await change('PATCH', `/api/rules/${first.id}`, { continue: true });
  expect(await reached({ host: 'db' })).toEqual(['lobby', 'noc']);
  expect(await send({ host: 'db' })).toMatchObject({
    ttl: 2_000,
    level: 'error',
    rank: 40,
    rules: [{ name: 'first' }, { name: 'second' }],
    sent: { level: 'info', ttl: null },
  });
});

test('rules are tried in their order, and those that are disabled or deleted are not', async () => {
  const { rule, send, change } = await newTenant();
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) ids.push((await rule(name, { then: { panels: 'all' } })).id);
  const [a, b, c] = ids;
  const by = async () => (await send()).rules.map(({ name }: { name: string }) => name);
  expect(await by()).toEqual(['a']);
  const ordered = await change('PUT', '/api/rules/order', { ids: [c, a, b] });
  expect(ordered.json.rules.map(({ name }: { name: string }) => name)).toEqual(['c', 'a', 'b']);
  expect(await by()).toEqual(['c']);
  await change('PATCH', `/api/rules/${c}`, { enabled: false });
  expect(await by()).toEqual(['a']);
  await change('DELETE', `/api/rules/${a}`);
  expect(await by()).toEqual(['b']);
  await change('PATCH', `/api/rules/${c}`, { enabled: true });
  expect(await by()).toEqual(['c']);
});

test("a rule that sets the level gives its rank and its display time; the sender's ttl and a rule's go before that", async () => {
  const { rule, send } = await newTenant();
  await rule('louder', { when: { host: ['loud'] }, then: { setLevel: 'error' } });
  await rule('softer', { when: { host: ['soft'] }, then: { setLevel: 'success' } });
  await rule('shorter', { when: { host: ['short'] }, then: { setTtl: 5_000 } });
  await rule('for good', { when: { host: ['stays'] }, then: { setTtl: 0 } });
  expect(await send({ host: 'loud' })).toMatchObject({ level: 'error', rank: 40, ttl: 0, expiresAt: null });
  expect(await send({ host: 'soft', level: 'critical' })).toMatchObject({
    level: 'success',
    rank: 10,
    ttl: 15_000,
  });
  expect(await send({ host: 'soft', ttl: 9_000 })).toMatchObject({
    level: 'success',
    ttl: 9_000,
    sent: { level: 'info', ttl: 9_000 },
  });
  expect(await send({ host: 'short', ttl: 9_000 })).toMatchObject({ ttl: 5_000, sent: { ttl: 9_000 } });
  expect(await send({ host: 'stays', ttl: 9_000 })).toMatchObject({ ttl: 0, expiresAt: null });
});

test('conditions look at what was sent, not at what an earlier rule made of it', async () => {
  const { rule, send } = await newTenant();
  await rule('louder', { when: { host: ['x'] }, then: { setLevel: 'critical' }, continue: true });
  await rule('loud ones', { when: { minLevel: 'critical' }, then: { panels: 'none' } });
  expect(await send({ host: 'x' })).toMatchObject({
    level: 'critical',
    rules: [{ name: 'louder' }],
    target: { all: true },
  });
});

test('what is muted is recorded and shown nowhere, whatever other rules say', async () => {
  const { rule, send, token } = await newTenant();
  await rule('show', { when: { host: ['x'] }, then: { panels: 'all' }, continue: true });
  await rule('mute', { when: { host: ['x'] }, then: { mute: true } });
  const { stream } = await server.panel(token, 'lobby');
  const muted = await send({ host: 'x', level: 'critical' });
  expect(muted).toMatchObject({
    state: 'muted',
    panels: [],
    panelCount: 0,
    deliveries: [],
    rules: [{ name: 'show' }, { name: 'mute' }],
  });
  const shown = await send();
  await stream.next(({ data }) => data.id === shown.id);
  expect(stream.messages.some(({ data }) => data.id === muted.id)).toBe(false);
  stream.close();
});

test('by what a rule groups a notification is on its stream and in history, and absent without such a rule', async () => {
  const { rule, token, key, send, change } = await newTenant();
  const group = ['title', 'label:cluster'];
  await rule('by cluster', { when: { labels: { cluster: ['*'] } }, then: { group } });
  const { stream } = await server.panel(token, 'lobby');
  const [grouped, other] = [await send({ labels: { cluster: 'eu-1' } }), await send()];
  expect(grouped.group).toEqual(group);
  expect(other).not.toHaveProperty('group');
  expect((await stream.next(({ data }) => data.id === grouped.id)).data.group).toEqual(group);
  expect((await stream.next(({ data }) => data.id === other.id)).data).not.toHaveProperty('group');
  stream.close();
  const explained = { notification: { title: 't', labels: { cluster: 'eu-1' } } };
  expect(
    (await server.call('POST', '/api/rules/explain', { token: key, json: explained })).json,
  ).toMatchObject({ group });
  for (const wrong of [[], ['host', 'host'], ['message'], ['label:'], ['a', 'b']]) {
    const then = { group: wrong };
    expect((await change('POST', '/api/rules', { name: 'x', then })).json.error).toMatch(/^then\.group/);
  }
});

test('a throttle shows the first of the same fields and counts the rest on it, until its time is over', async () => {
  const { rule, send } = await newTenant();
  await rule('calm', { then: { throttle: { by: ['host', 'title'], perMs: 4_000 } } });
  const first = await send({ host: 'db' });
  expect(first).toMatchObject({ state: 'live', throttledOn: null });
  for (let i = 0; i < 2; i++) {
    expect(await send({ host: 'db' })).toMatchObject({
      state: 'throttled',
      throttledOn: first.id,
      panels: [],
      deliveries: [],
    });
  }
  expect(await send({ host: 'db', title: 'other' })).toMatchObject({ throttledOn: null });
  expect(await send({ host: 'other' })).toMatchObject({ throttledOn: null });
  expect(await send()).toMatchObject({ throttledOn: null });
  const next = await eventually(
    async () => {
      const sent = await send({ host: 'db' });
      expect(sent.throttledOn).toBeNull();
      return sent;
    },
    { interval: 50 },
  );
  expect(Date.parse(next.receivedAt) - Date.parse(first.receivedAt)).toBeGreaterThanOrEqual(4_000);
  expect(await send({ host: 'db' })).toMatchObject({ throttledOn: next.id });
});

test('a throttle by nothing counts everything its rule matches on one', async () => {
  const { rule, send } = await newTenant();
  await rule('calm', { when: { host: ['*'] }, then: { throttle: { by: [], perMs: 60_000 } } });
  const { id } = await send({ host: 'a' });
  expect((await send({ host: 'b', title: 'x', level: 'success' })).throttledOn).toBe(id);
  expect((await send()).throttledOn).toBeNull();
});

test('what a throttle shows is counted on by its tenant alone', async () => {
  const [a, b] = [await newTenant(), await newTenant()];
  for (const { rule } of [a, b]) await rule('calm', { then: { throttle: { by: ['host'], perMs: 60_000 } } });
  const { id } = await a.send({ host: 'db' });
  expect(await b.send({ host: 'db' })).toMatchObject({ throttledOn: null });
  expect(await a.send({ host: 'db' })).toMatchObject({ throttledOn: id });
});

test('a repeated alarm with a key, counted on its first, does not take that off the panels', async () => {
  const { rule, send, key } = await newTenant();
  await rule('calm', { then: { throttle: { by: ['host'], perMs: 60_000 } } });
  const { id } = await send({ host: 'db', key: 'db/down', level: 'critical' });
  expect(await send({ host: 'db', key: 'db/down', level: 'critical' })).toMatchObject({ throttledOn: id });
  expect((await server.call('GET', `/api/notifications/${id}`, { token: key })).json.state).toBe('live');
});

test('a throttle hides nothing more serious than what it shows, and counts what follows on that', async () => {
  const { rule, send } = await newTenant();
  await rule('calm', { then: { throttle: { by: ['host'], perMs: 60_000 } } });
  const { id: up } = await send({ host: 'db', title: 'up', level: 'success' });
  expect(await send({ host: 'db', title: 'up', level: 'success' })).toMatchObject({ throttledOn: up });
  const down = await send({ host: 'db', title: 'down', level: 'critical' });
  expect(down).toMatchObject({ state: 'live', throttledOn: null });
  for (const level of ['critical', 'success'])
    expect(await send({ host: 'db', level })).toMatchObject({ throttledOn: down.id });
});

test('a throttle shows what comes after its card was cleared', async () => {
  const { rule, send, change } = await newTenant();
  await rule('calm', { then: { throttle: { by: ['host'], perMs: 60_000 } } });
  const first = await send({ host: 'db', level: 'critical' });
  expect((await change('POST', `/api/notifications/${first.id}/clear`)).status).toBe(200);
  const again = await send({ host: 'db', level: 'critical' });
  expect(again).toMatchObject({ state: 'live', throttledOn: null });
  expect(await send({ host: 'db', level: 'critical' })).toMatchObject({ throttledOn: again.id });
});

test('a resolve takes the place of its alarm, which a throttle has shown', async () => {
  const { rule, send, key } = await newTenant();
  await rule('flapping', { then: { throttle: { by: ['host'], perMs: 60_000 } } });
  const stateOf = async (id: string) =>
    (await server.call('GET', `/api/notifications/${id}`, { token: key })).json.state;
  const down = await send({ host: 'db', key: 'db', level: 'critical' });
  expect(await send({ host: 'db', key: 'db', level: 'critical' })).toMatchObject({ throttledOn: down.id });
  const up = await send({ host: 'db', key: 'db', level: 'success' });
  expect(up).toMatchObject({ state: 'live', throttledOn: null });
  expect(await stateOf(down.id)).toBe('cleared');
  const downAgain = await send({ host: 'db', key: 'db', level: 'critical' });
  expect(downAgain).toMatchObject({ state: 'live', throttledOn: null });
});

test('what is sent again with its retry key is counted by no throttle', async () => {
  const { rule, token, send } = await newTenant();
  await rule('calm', { then: { throttle: { by: ['host'], perMs: 60_000 } } });
  const { stream } = await server.panel(token, 'lobby');
  const once = { title: 't', message: 'm', host: 'db' };
  const { id } = (await server.notify(token, once, { 'idempotency-key': 'k' })).json;
  for (let i = 0; i < 3; i++)
    expect((await server.notify(token, once, { 'idempotency-key': 'k' })).json.id).toBe(id);
  expect(await send({ host: 'db' })).toMatchObject({ throttledOn: id });
  expect((await stream.next(({ event }) => event === 'throttled')).data).toMatchObject({ id, count: 1 });
  stream.close();
});

test('rules are counted, with the time of the last hit, also over a restart', async () => {
  let own = await TestServer.start();
  const [token, key] = [await own.token(), await own.key('admin')];
  for (const name of ['a', 'b']) {
    await own.call('POST', '/api/rules', {
      token: key,
      json: { name, when: { host: [name] }, then: { panels: 'all' }, continue: true },
    });
  }
  const began = Date.now();
  for (const host of ['a', 'a', 'a', 'other']) await own.notify(token, { title: 't', message: 'm', host });
  await own.stop({ keep: true });
  own = await TestServer.start({}, own.folder);
  const [a, b] = (await own.call('GET', '/api/rules', { token: key })).json.rules;
  expect(a).toMatchObject({ name: 'a', hits: 3 });
  expect(Date.parse(a.lastHitAt)).toBeGreaterThanOrEqual(began);
  expect(b).toMatchObject({ name: 'b', hits: 0, lastHitAt: null });
  await own.stop();
});
