import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseCursor } from '#contract/panels/sse.ts';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';

const heartbeatMs = 200;
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_HEARTBEAT_MS: String(heartbeatMs) });
});
afterAll(() => server.stop());

test('a heartbeat comes when nothing else does, with time and head', async () => {
  const { token } = await server.newTenant();
  const began = Date.now();
  const { stream } = await server.panel(token, 'P');
  const beats = () => stream.messages.filter(({ event }) => event === 'heartbeat');
  // The first closes the live set; two more are the clock's.
  await eventually(() => expect(beats().length).toBeGreaterThanOrEqual(3), { interval: 10 });
  expect(Date.now() - began).toBeGreaterThanOrEqual(heartbeatMs);
  expect(stream.messages[0]?.data.heartbeatMs).toBe(heartbeatMs);
  const times = beats().map(({ data }) => Date.parse(data.serverTime));
  // A panel takes two and a half heartbeats without any for a lost connection; the clock of the test's machine may be late.
  for (const [i, at] of times.entries()) expect(at - (times[i - 1] ?? at)).toBeLessThan(10 * heartbeatMs);
  for (const { data } of beats()) {
    expect(data).toEqual({ serverTime: expect.any(String), head: 0 });
    expect(Math.abs(Date.parse(data.serverTime) - Date.now())).toBeLessThan(5_000);
  }
  stream.close();
});

test('a heartbeat moves the cursor over what was not for this panel, so that it is not looked at again', async () => {
  const { token, send, call } = await server.newTenant();
  await call('POST', '/api/rules', {
    name: 'elsewhere',
    when: { host: ['x'] },
    then: { panels: { tags: ['elsewhere'] } },
  });
  const { stream } = await server.panel(token, 'P');
  for (let i = 0; i < 3; i++) await send({ host: 'x' });
  const beat = await stream.next(({ event, data }) => event === 'heartbeat' && data.head === 3);
  expect(parseCursor(beat.id as string)?.position).toBe(3);
  expect(stream.messages.filter(({ event }) => event === 'notification')).toEqual([]);
  stream.close();
  const again = await server.panel(token, 'P', { cursor: beat.id as string });
  expect(again.stream.messages[0]?.data).toMatchObject({ resume: 'replayed', head: 3 });
  again.stream.close();
});

test("panels hear of new settings: their own name and display, levels, and the tenant's", async () => {
  const { token, call } = await server.newTenant();
  const { id, stream } = await server.panel(token, 'P');
  const other = await server.panel(token, 'Other');
  const settings = (is: (data: never) => boolean) =>
    stream.next(({ event, data }) => event === 'settings' && is(data as never));
  await call('PATCH', `/api/panels/${id}`, { name: 'Renamed', display: { scale: 2 } });
  const own = await settings(({ panel }: { panel: { name: string } }) => panel.name === 'Renamed');
  expect(own.id).toBeUndefined();
  expect(own.data.panel).toEqual({ id, name: 'Renamed', tags: [], location: null, display: { scale: 2 } });
  expect(own.data.levels).toEqual(stream.messages[0]?.data.levels);
  await call('PUT', '/api/levels/error', { color: '#123456' });
  const levels = await settings(({ levels: all }: { levels: { color: string }[] }) =>
    all.some(({ color }) => color === '#123456'),
  );
  expect(levels.data.levels).toEqual((await call('GET', '/api/levels')).json.levels);
  await call('PATCH', '/api/tenant', { title: 'The tower' });
  await settings(({ tenant }: { tenant: { title: string } }) => tenant.title === 'The tower');
  // The other panel got what is for all panels, and nothing that is for this one.
  await other.stream.next(({ event, data }) => event === 'settings' && data.tenant.title === 'The tower');
  expect(other.stream.messages.filter(({ event }) => event === 'settings')).toHaveLength(2);
  stream.close();
  other.stream.close();
});

test('what another process changes in the database reaches panels too', async () => {
  const { tenant: name, token } = await server.newTenant();
  const { id, stream } = await server.panel(token, 'P');
  const { panels } = server.running.directory;
  const tenant = await server.tenant(name);
  await panels.update(tenant, id, { name: 'Renamed elsewhere' }, 'cli', Date.now());
  await stream.next(({ event, data }) => event === 'settings' && data.panel.name === 'Renamed elsewhere');
  await panels.remove(tenant, id, 'cli', Date.now());
  await stream.ended;
});

test("what is no panel's business is not sent: a token, a rule and a saved search", async () => {
  const { token, call, send } = await server.newTenant();
  const { stream } = await server.panel(token, 'P');
  await call('POST', '/api/tokens', { name: 'new' });
  await call('POST', '/api/rules', { name: 'r', when: { host: ['x'] }, then: { mute: true } });
  await call('POST', '/api/searches', { name: 's', q: 'x' });
  const id = await send();
  await stream.next(({ data }) => data.id === id);
  expect(stream.messages.map(({ event }) => event).filter((event) => event !== 'heartbeat')).toEqual([
    'ready',
    'notification',
  ]);
  stream.close();
});

test('an unknown level that a sender names is sent to panels', async () => {
  const { token, send } = await server.newTenant();
  const { stream } = await server.panel(token, 'P');
  await send({ level: 'deploy' });
  const update = await stream.next(
    ({ event, data }) =>
      event === 'settings' && data.levels.some(({ name }: { name: string }) => name === 'deploy'),
  );
  expect(update.data.levels.find(({ name }: { name: string }) => name === 'deploy')).toMatchObject({
    rank: 20,
    builtIn: false,
  });
  await stream.next(
    ({ event, data }) => event === 'notification' && data.level === 'deploy' && data.rank === 20,
  );
  stream.close();
});

test('a panel whose tags change drops what it shows and gets the live set of its new place', async () => {
  const { token, call, send } = await server.newTenant();
  for (const tag of ['a', 'b'])
    await call('POST', '/api/rules', {
      name: tag,
      when: { host: [tag] },
      then: { panels: { tags: [tag] } },
    });
  const [, forB, forAll] = [await send({ host: 'a' }), await send({ host: 'b' }), await send()];
  const { id, stream } = await server.panel(token, 'P', { tags: ['a'] });
  await stream.next(({ event }) => event === 'heartbeat');
  await call('PATCH', `/api/panels/${id}`, { tags: ['b'] });
  const reset = await stream.next(({ event }) => event === 'reset');
  expect(reset.data).toMatchObject({ head: 3, reason: expect.any(String) });
  await stream.next(({ event, data }) => event === 'settings' && data.panel.tags[0] === 'b');
  const next = await send({ host: 'b' });
  await stream.next(({ data }) => data.id === next);
  const after = stream.messages.slice(stream.messages.indexOf(reset));
  const shown = after.filter(({ event }) => event === 'notification').map(({ data }) => data.id);
  expect(shown).toEqual([forB, forAll, next]);
  const ids = after.flatMap(({ id: cursor }) => parseCursor(cursor ?? '')?.position ?? []);
  expect(ids).toEqual(ids.toSorted((x, y) => x - y));
  stream.close();
});

test('what a throttle holds back is counted on what is shown, live, after a reconnect, and in the live set', async () => {
  const { token, call, send } = await server.newTenant();
  await call('POST', '/api/rules', { name: 'calm', then: { throttle: { by: ['host'], perMs: 60_000 } } });
  const { id: panel, stream } = await server.panel(token, 'P');
  const first = await send({ host: 'db' });
  for (let i = 0; i < 2; i++) await send({ host: 'db' });
  await send({ host: 'other' });
  await stream.next(({ data }) => data.position === 4);
  const linesOf = (messages: typeof stream.messages) =>
    messages
      .filter(({ event }) => event === 'notification' || event === 'throttled')
      .map(({ event, data }) => [event, data.position, data.count]);
  const expected = [
    ['notification', 1, 0],
    ['throttled', 2, 1],
    ['throttled', 3, 2],
    ['notification', 4, 0],
  ];
  expect(linesOf(stream.messages)).toEqual(expected);
  const throttled = stream.messages.find(({ event }) => event === 'throttled');
  expect(throttled?.data).toEqual({ id: first, position: 2, count: 1, receivedAt: expect.any(String) });
  stream.close();
  const replayed = await server.panel(token, 'P', { cursor: `${stream.messages[0]?.data.epoch}-0` });
  await replayed.stream.next(({ data }) => data.position === 4);
  expect(linesOf(replayed.stream.messages)).toEqual(expected);
  replayed.stream.close();
  const live = await server.stream(`/api/panels/${panel}/events`, token);
  await live.next(({ event }) => event === 'heartbeat');
  expect(linesOf(live.messages)).toEqual([
    ['notification', 1, 2],
    ['notification', 4, 0],
  ]);
  live.close();
});

test('several streams of one panel each get everything, and it is online until the last has gone', async () => {
  const { token, send } = await server.newTenant();
  const { id, stream } = await server.panel(token, 'P');
  const second = await server.panel(token, 'P');
  expect(second.id).toBe(id);
  const sent = [await send(), await send()];
  for (const each of [stream, second.stream]) {
    await each.next(({ data }) => data.id === sent[1]);
    expect(each.messages.filter(({ event }) => event === 'notification').map(({ data }) => data.id)).toEqual(
      sent,
    );
  }
  const online = async () => (await server.call('GET', `/api/panels/${id}`, { token })).json.online;
  stream.close();
  const third = await send();
  await second.stream.next(({ data }) => data.id === third);
  expect(await online()).toBe(true);
  second.stream.close();
  await eventually(async () => expect(await online()).toBe(false), { interval: 20 });
});

test('two tenants with panels of the same name get their own alone', async () => {
  const [a, b] = [await server.newTenant(), await server.newTenant()];
  const [ofA, ofB] = [await server.panel(a.token, 'P'), await server.panel(b.token, 'P')];
  const [toA, toB] = [await a.send({ title: 'for a' }), await b.send({ title: 'for b' })];
  await ofA.stream.next(({ data }) => data.id === toA);
  await ofB.stream.next(({ data }) => data.id === toB);
  for (const { stream, title } of [
    { stream: ofA.stream, title: 'for a' },
    { stream: ofB.stream, title: 'for b' },
  ]) {
    expect(
      stream.messages.filter(({ event }) => event === 'notification').map(({ data }) => data.title),
    ).toEqual([title]);
    stream.close();
  }
});
