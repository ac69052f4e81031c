import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';
import type { SseReader } from '../support/sse-client.ts';

let server: TestServer;
let token: string;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  [token, key] = [await server.token(), await server.key('viewer')];
});
afterAll(() => server.stop());

const unknownId = '01890000-0000-7000-8000-000000000000';
const send = async (over: object = {}) =>
  (await server.notify(token, { title: 't', message: 'm', level: 'error', ...over })).json.id as string;
const detail = async (id: string, as = token) =>
  (await server.call('GET', `/api/notifications/${id}`, { token: as })).json;
const say = (panel: string, json: unknown, as = token) =>
  server.call('POST', `/api/panels/${panel}/receipts`, { token: as, json });
const registered = async (name: string, tags: string[] = []) =>
  (await server.call('POST', '/api/panels', { token, json: { name, tags } })).json.id as string;

test('receipts are counted once each, and stand per panel with the notification', async () => {
  const [a, b] = [await registered('A'), await registered('B')];
  const id = await send();
  const at = '2026-11-02T10:00:00.000Z';
  expect((await say(a, [{ id, state: 'shown', at }])).json).toEqual({ ok: true, recorded: 1 });
  expect((await say(a, [{ id, state: 'shown', at: Date.now() }])).json).toEqual({ ok: true, recorded: 0 });
  expect((await say(a, [{ id, state: 'cleared', at: Date.parse(at) + 1_000 }])).json.recorded).toBe(1);
  const { deliveries, receipts } = await detail(id);
  const of = (panel: string) => deliveries.find((each: { panel: { id: string } }) => each.panel.id === panel);
  expect(of(a)).toEqual({
    panel: { id: a, name: 'A' },
    online: false,
    sent: true,
    hidden: false,
    shownAt: at,
    inGroup: false,
    expiredAt: null,
    clearedAt: '2026-11-02T10:00:01.000Z',
  });
  expect(of(b)).toMatchObject({
    online: false,
    sent: false,
    shownAt: null,
    expiredAt: null,
    clearedAt: null,
  });
  expect(receipts).toEqual({ shown: 1, expired: 0, cleared: 1 });
});

test('a panel says that it showed one as part of a group', async () => {
  const panel = await registered('Groups');
  const [grouped, ended] = [await send(), await send()];
  const at = Date.now();
  await say(panel, [
    { id: grouped, state: 'shown', at, inGroup: true },
    { id: ended, state: 'cleared', at, inGroup: true },
  ]);
  for (const [id, inGroup] of [
    [grouped, true],
    [ended, false],
  ] as const) {
    const { deliveries } = await detail(id);
    expect(deliveries).toContainEqual(
      expect.objectContaining({ panel: { id: panel, name: 'Groups' }, inGroup }),
    );
  }
});

test('a panel whose settings hide a level is distinguished from one that has not answered yet', async () => {
  const id = await registered('Hides');
  const admin = await server.key('admin');
  const display = { minLevel: 'error' };
  await server.call('PATCH', `/api/panels/${id}`, { token: admin, json: { display } });
  const hiddenOn = async (level: string) => {
    const { deliveries } = await detail(await send({ level }));
    return deliveries.flatMap((each: { panel: { id: string }; hidden: boolean }) =>
      each.panel.id === id ? [each.hidden] : [],
    );
  };
  expect([await hiddenOn('warning'), await hiddenOn('error')]).toEqual([[true], [false]]);
});

test('many receipts come in one call; those of what this panel was not sent are ignored', async () => {
  const [here, there] = [await registered('Here', ['here']), await registered('There', ['there'])];
  await server.call('POST', '/api/rules', {
    token: await server.key('admin'),
    json: { name: 'there', when: { host: ['there'] }, then: { panels: { tags: ['there'] } } },
  });
  const [forAll, forThere] = [await send(), await send({ host: 'there' })];
  const all = [forAll, forThere, unknownId].map((id) => ({ id, state: 'shown', at: Date.now() }));
  expect((await say(here, all)).json.recorded).toBe(1);
  expect((await say(there, all)).json.recorded).toBe(2);
  expect((await say(there, [])).json.recorded).toBe(0);
  const { deliveries } = await detail(forThere);
  expect(deliveries.map(({ panel }: { panel: { name: string } }) => panel.name)).toEqual(['There']);
});

test.each([
  [{}],
  [[{ id: 'x', state: 'shown', at: 1 }]],
  [[{ id: unknownId, state: 'seen', at: 1 }]],
  [[{ id: unknownId, state: 'shown' }]],
  [[{ id: unknownId, state: 'shown', at: 'yesterday' }]],
  [[{ id: unknownId, state: 'shown', at: -1 }]],
  [[{ id: unknownId, state: 'shown', at: 1, more: true }]],
])('receipts %j are refused', async (json) => {
  expect((await say(await registered('Refuses'), json)).status).toBe(400);
});

test('receipts for a panel that there is not are refused with 404', async () => {
  expect((await say(unknownId, [])).status).toBe(404);
});

test('a panel counts as sent once its stream has passed the notification, also after it has gone', async () => {
  const { id: panel, stream } = await server.panel(token, 'Sent');
  const id = await send();
  await stream.next(({ data }) => data.id === id);
  const mine = async () =>
    (await detail(id)).deliveries.find((each: { panel: { id: string } }) => each.panel.id === panel);
  expect(await mine()).toMatchObject({ online: true, sent: true, shownAt: null });
  stream.close();
  await eventually(async () => expect((await mine()).online).toBe(false), { interval: 20 });
  expect(await mine()).toMatchObject({ online: false, sent: true, shownAt: null });
  const missed = await send();
  const deliveries = (await detail(missed)).deliveries as { panel: { id: string } }[];
  expect(deliveries.find((each) => each.panel.id === panel)).toMatchObject({ online: false, sent: false });
});

test('a notification can be read by the token that sent it and by keys, and by no other token', async () => {
  const id = await send({
    title: 'Mine',
    host: 'db-01',
    ip: '10.0.0.1',
    key: 'k',
    url: 'https://example.org/',
    ttl: 9_000,
  });
  const other = await server.token({ name: 'other' });
  expect((await server.call('GET', `/api/notifications/${id}`, { token: other })).status).toBe(404);
  for (const as of [token, key]) {
    expect(await detail(id, as)).toMatchObject({
      id,
      title: 'Mine',
      message: 'm',
      level: 'error',
      rank: 40,
      ttl: 9_000,
      host: 'db-01',
      ip: '10.0.0.1',
      key: 'k',
      url: 'https://example.org/',
      sourceIp: '127.0.0.1',
      state: 'live',
      token: { name: 'token' },
      sent: { level: 'error', ttl: 9_000 },
      target: { all: true, ids: [], tags: [] },
      rules: [],
      cleared: null,
      trace: expect.any(Array),
    });
  }
  expect((await server.call('GET', `/api/notifications/${unknownId}`, { token })).status).toBe(404);
  expect((await server.call('GET', '/api/notifications/nonsense', { token })).status).toBe(404);
});

test('clearing takes it off every panel at once, and history names who did', async () => {
  const streams: SseReader[] = [];
  for (const name of ['C1', 'C2']) streams.push((await server.panel(token, name)).stream);
  const id = await send();
  const { json } = await server.call('POST', `/api/notifications/${id}/clear`, { token });
  expect(json).toEqual({ ok: true, id, cleared: true });
  for (const stream of streams) {
    const shown = await stream.next(({ event, data }) => event === 'notification' && data.id === id);
    const clear = await stream.next(({ event }) => event === 'clear');
    expect(clear.data).toEqual({
      id,
      position: shown.data.position + 1,
      reason: 'cleared',
      by: 'token token',
    });
    expect(clear.id).toBe(shown.id?.replace(/\d+$/, String(clear.data.position)));
    stream.close();
  }
  expect(await detail(id)).toMatchObject({
    state: 'cleared',
    cleared: { by: 'token token', reason: 'cleared' },
  });
});

test('a member clears with a key, a viewer does not, and the second time nothing is cleared', async () => {
  const id = await send();
  const clear = (as: string) => server.call('POST', `/api/notifications/${id}/clear`, { token: as });
  expect((await clear(key)).status).toBe(403);
  expect((await clear(await server.key('member'))).json).toEqual({ ok: true, id, cleared: true });
  expect((await clear(token)).json).toEqual({ ok: true, id, cleared: false });
  expect((await detail(id)).cleared).toMatchObject({ by: 'key key' });
});

test('what has expired, what there is not, and what is of another tenant cannot be cleared', async () => {
  const clear = (id: string, as = token) =>
    server.call('POST', `/api/notifications/${id}/clear`, { token: as });
  const short = await send({ ttl: 1 });
  await eventually(async () => expect((await detail(short)).state).toBe('expired'), { interval: 5 });
  expect((await clear(short)).json).toEqual({ ok: true, id: short, cleared: false });
  expect((await clear(unknownId)).status).toBe(404);
  const id = await send();
  expect((await clear(id, await server.token({ tenant: 'elsewhere' }))).status).toBe(404);
  expect((await detail(id)).state).toBe('live');
});

test("a screen's own token acts for its own panel alone", async () => {
  const [own, other] = [await registered('Own', ['own']), await registered('Other', ['other'])];
  await server.call('POST', '/api/rules', {
    token: await server.key('admin'),
    json: { name: 'to other', when: { host: ['only-other'] }, then: { panels: { ids: [other] } } },
  });
  const bound = await server.token({ scopes: ['panel'], panelId: own, name: 'screen' });
  const status = async (method: string, path: string, json?: unknown) =>
    (await server.call(method, path, { token: bound, ...(json !== undefined && { json }) })).status;
  expect(await status('GET', `/api/panels/${own}`)).toBe(200);
  expect(await status('GET', `/api/panels/${other}`)).toBe(404);
  expect(
    (await server.call('GET', '/api/panels', { token: bound })).json.panels.map(
      ({ id }: { id: string }) => id,
    ),
  ).toEqual([own]);
  expect(await status('GET', `/api/panels/${other}/events`)).toBe(404);
  expect(await status('POST', `/api/panels/${other}/receipts`, [])).toBe(404);
  expect(await status('POST', `/api/panels/${own}/receipts`, [])).toBe(200);
  const [elsewhere, here] = [await send({ host: 'only-other' }), await send()];
  expect(await status('POST', `/api/notifications/${elsewhere}/clear`)).toBe(404);
  expect(await status('POST', `/api/notifications/${here}/clear`)).toBe(200);
  expect((await detail(elsewhere)).state).toBe('live');
  expect(await status('POST', '/api/panels', { name: 'Own' })).toBe(200);
  expect(await status('POST', '/api/panels', { name: 'Another' })).toBe(403);
});
