import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let token: string;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  [token, key] = [await server.token(), await server.key('admin')];
});
afterAll(() => server.stop());

const admin = (method: string, path: string, json?: unknown) =>
  server.call(method, path, { token: key, ...(json !== undefined && { json }) });
const ask = async (secret: string) => (await server.call('GET', `/api/pairings/${secret}`)).json;
/** From the code on the screen to the token behind it. */
async function pair(approval: object) {
  const { json: pairing } = await server.call('POST', '/api/pairings');
  expect(await ask(pairing.secret)).toMatchObject({ state: 'waiting' });
  expect((await admin('POST', `/api/pairings/${pairing.code}/approve`, approval)).status).toBe(200);
  const { state, token: bound, panel } = await ask(pairing.secret);
  expect(state).toBe('approved');
  return {
    bound: bound as string,
    panel: panel as { id: string; name: string; events: string },
    secret: pairing.secret as string,
  };
}

test('a screen that was paired shows its panel, says what it showed, and does nothing else', async () => {
  const { bound, panel } = await pair({ name: 'Hall', tags: ['front'], location: 'Ground floor' });
  const stream = await server.stream(panel.events, bound);
  const ready = await stream.next(({ event }) => event === 'ready');
  expect(ready.data.panel).toMatchObject({
    id: panel.id,
    name: 'Hall',
    tags: ['front'],
    location: 'Ground floor',
  });
  const { id } = (await server.notify(token, { title: 't', message: 'm', level: 'error' })).json;
  await stream.next(({ data }) => data.id === id);
  const receipt = await server.call('POST', `/api/panels/${panel.id}/receipts`, {
    token: bound,
    json: [{ id, state: 'shown', at: Date.now() }],
  });
  expect(receipt.json.recorded).toBe(1);
  expect((await server.notify(bound, { title: 't', message: 'm' })).status).toBe(403);
  expect((await server.call('GET', '/tenant-metrics', { token: bound })).status).toBe(403);
  expect((await server.call('GET', '/api/history', { token: bound })).status).toBe(403);
  const { tokens } = (await admin('GET', '/api/tokens')).json;
  expect(tokens.find(({ panelId }: { panelId: string }) => panelId === panel.id)).toMatchObject({
    scopes: ['panel'],
    revokedAt: null,
  });
  stream.close();
});

test('of many that ask with the secret at once, one gets the token', async () => {
  const { json: pairing } = await server.call('POST', '/api/pairings');
  await admin('POST', `/api/pairings/${pairing.code}/approve`, { name: 'Race' });
  const answers = await Promise.all(Array.from({ length: 15 }, () => ask(pairing.secret)));
  expect(answers.filter(({ token: bound }) => bound !== undefined)).toHaveLength(1);
  expect(answers.filter(({ state }) => state === 'collected')).toHaveLength(14);
});

test('deleting the panel ends its stream and its token, and the screen can be paired anew', async () => {
  const { bound, panel } = await pair({ name: 'Doomed' });
  const stream = await server.stream(panel.events, bound);
  await stream.next(({ event }) => event === 'ready');
  await admin('DELETE', `/api/panels/${panel.id}`);
  await stream.ended;
  expect((await server.call('GET', '/api/panels', { token: bound })).status).toBe(401);
  const again = await pair({ name: 'Doomed' });
  expect(again.panel.id).not.toBe(panel.id);
  const back = await server.stream(again.panel.events, again.bound);
  await back.next(({ event }) => event === 'ready');
  back.close();
});

test('a second screen can be paired to the panel of a broken one, and shows what it should be showing', async () => {
  const first = await pair({ name: 'Twice' });
  const { id } = (await server.notify(token, { title: 'still burning', message: 'm', level: 'critical' }))
    .json;
  const second = await pair({ panelId: first.panel.id });
  expect(second.panel).toEqual(first.panel);
  const stream = await server.stream(second.panel.events, second.bound);
  await stream.next(({ data }) => data.id === id);
  expect((await server.call('GET', '/api/panels', { token: first.bound })).status).toBe(200);
  stream.close();
});

test('what is done at a screen is done by "panel" and its name', async () => {
  const { bound } = await pair({ name: 'East wall' });
  const { id } = (await server.notify(token, { title: 'burning', message: 'm', level: 'critical' })).json;
  const acknowledged = await server.call('POST', `/api/notifications/${id}/acknowledge`, { token: bound });
  expect(acknowledged.json.acknowledged).toMatchObject({ by: 'panel East wall' });
});

test('a screen that is unpaired revokes its own token and no other', async () => {
  const { bound, panel } = await pair({ name: 'Leaving' });
  const other = await pair({ panelId: panel.id });
  const unpair = (as: string, id = panel.id) =>
    server.call('POST', `/api/panels/${id}/unpair`, { token: as });
  const refused = await unpair(token);
  expect([refused.status, refused.json]).toEqual([
    403,
    { error: 'this token was not made by pairing: an admin revokes it' },
  ]);
  expect((await unpair(bound, (await pair({ name: 'Staying' })).panel.id)).status).toBe(404);
  const stream = await server.stream(panel.events, bound);
  expect((await unpair(bound)).status).toBe(204);
  await stream.ended;
  expect((await unpair(bound)).status).toBe(401);
  expect((await server.call('GET', '/api/panels', { token: other.bound })).json.panels).toMatchObject([
    { name: 'Leaving' },
  ]);
  const { entries } = (await admin('GET', '/api/audit')).json;
  expect(entries[0]).toMatchObject({ action: 'token.revoke', by: 'token panel Leaving' });
});
