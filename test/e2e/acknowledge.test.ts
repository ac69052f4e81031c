import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cli } from '../support/cli.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let token: string;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  [token, key] = [await server.token(), await server.key('member')];
});
afterAll(() => server.stop());

const send = async (over: object = {}) =>
  (await server.notify(token, { title: 't', message: 'm', level: 'error', ...over })).json.id as string;
const acknowledge = (id: string, as: string, json: object = {}) =>
  server.call('POST', `/api/notifications/${id}/acknowledge`, { token: as, json });

test('every panel hears of it at once, when it comes back, and when it starts later', async () => {
  const [{ stream: wall }, { id: away, stream }] = [
    await server.panel(token, 'Wall'),
    await server.panel(token, 'Away'),
  ];
  const id = await send();
  const seen = await stream.next(({ data }) => data.id === id);
  stream.close();
  const { json } = await acknowledge(id, key, { note: ' on my way ' });
  const acknowledged = { at: expect.any(String), by: 'key key', note: 'on my way', until: null };
  expect(json).toEqual({ ok: true, id, first: true, acknowledged });
  const expected = { event: 'acknowledge', data: { id, position: 2, ...json.acknowledged } };
  expect(await wall.next(({ event }) => event === 'acknowledge')).toMatchObject(expected);
  const back = await server.stream(`/api/panels/${away}/events`, token, seen.id as string);
  expect(await back.next(({ event }) => event === 'acknowledge')).toMatchObject(expected);
  const later = await server.panel(token, 'Later');
  const shown = await later.stream.next(({ event }) => event === 'notification');
  expect(shown.data).toMatchObject({ id, acknowledged: json.acknowledged });
  for (const each of [wall, back, later.stream]) each.close();

  // The second one hears who was first; a panel's token may, and history tells and finds it.
  const second = await acknowledge(id, token, { note: 'me too' });
  expect(second.json).toEqual({ ok: true, id, first: false, acknowledged: json.acknowledged });
  const found = async (q: string) =>
    (await server.call('GET', `/api/history?q=${encodeURIComponent(q)}`, { token: key })).json.notifications;
  expect(await found('is:acknowledged')).toMatchObject([{ id, acknowledged, state: 'live' }]);
  expect(await found('-is:acknowledged')).toEqual([]);
});

test('who may not, what is of another tenant or of another screen, and a bad note', async () => {
  const id = await send();
  const foreign = await server.key('admin', 'other');
  expect((await acknowledge(id, foreign)).status).toBe(404);
  expect((await acknowledge(id, await server.key('viewer'))).status).toBe(403);
  expect((await acknowledge(id, key, { note: 'x'.repeat(501) })).status).toBe(400);
  expect((await acknowledge(id, key, { notes: 'x' })).status).toBe(400);
  expect((await acknowledge('none', key)).status).toBe(404);
  // Without a body, too.
  const bare = await server.call('POST', `/api/notifications/${id}/acknowledge`, { token: key });
  expect(bare.json.acknowledged.note).toBeNull();
});

test('belfry ack does so, and says who was first', async () => {
  const cli = new Cli();
  const id = await send();
  const env = { BELFRY_URL: server.url, BELFRY_TOKEN: token };
  expect(await cli.ok(['ack', id, '--note', 'looking'], { env })).toBe('acknowledged\n');
  expect(await cli.ok(['ack', id], { env: { ...env, BELFRY_TOKEN: key } })).toMatch(
    /^already acknowledged by token token at 20\S+\n$/,
  );
  const wrong = await cli.run(['ack', 'none'], { env });
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('notification not found')]);
  await cli.remove();
});
