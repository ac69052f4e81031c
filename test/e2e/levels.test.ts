import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtInStyles } from '../../src/core/levels.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let admin: string;
beforeAll(async () => {
  server = await TestServer.start();
  admin = await server.key('admin');
});
afterAll(() => server.stop());

const put = (name: string, json: unknown, token = admin) =>
  server.call('PUT', `/api/levels/${name}`, { token, json });
const remove = (name: string, token = admin) => server.call('DELETE', `/api/levels/${name}`, { token });
const list = async (token = admin) => (await server.call('GET', '/api/levels', { token })).json.levels;

test('a tenant starts with the built-in levels, as published', async () => {
  expect(await list(await server.key('viewer', 'fresh'))).toEqual(
    Object.entries(builtInStyles).map(([name, style]) => ({ name, builtIn: true, ...style })),
  );
});

test('a level that a sender made up is registered with the look of info', async () => {
  const token = await server.token();
  expect((await server.notify(token, { title: 't', message: 'm', level: 'Deploy' })).status).toBe(200);
  expect(await list()).toContainEqual({ name: 'deploy', builtIn: false, ...builtInStyles.info });
});

test('a put changes what it names, and the next notification is shown by it', async () => {
  const token = await server.token();
  const { stream } = await server.panel(token, 'levels wall');
  expect((await put('success', { rank: 12, durationMs: 1_234 })).json).toMatchObject({
    rank: 12,
    color: '#3ecf8e',
  });
  const settings = await stream.next(({ event }) => event === 'settings');
  expect(JSON.stringify(settings.data)).toContain('1234');
  await server.notify(token, { title: 't', message: 'm', level: 'success' });
  const shown = await stream.next(({ data }) => data.level === 'success');
  expect(shown.data).toMatchObject({ level: 'success', rank: 12, ttl: 1_234 });
  await put('success', builtInStyles.success);
});

test('a put makes a level; a custom one can be deleted, a built-in one cannot', async () => {
  expect((await put('page', { sound: 'alarm' })).json).toEqual({
    name: 'page',
    builtIn: false,
    ...builtInStyles.info,
    sound: 'alarm',
  });
  expect((await remove('page')).status).toBe(204);
  expect((await remove('page')).status).toBe(404);
  const refused = await remove('critical');
  expect(refused.status).toBe(409);
  expect(refused.json.error).toContain('built in');
});

test('a level that a rule needs is not deleted', async () => {
  await put('needed', {});
  const rule = { name: 'escalate', when: { minLevel: 'needed' }, then: { mute: true } };
  const { json } = await server.call('POST', '/api/rules', { token: admin, json: rule });
  const refused = await remove('needed');
  expect(refused.status).toBe(409);
  expect(refused.json.error).toContain('"escalate"');
  await server.call('DELETE', `/api/rules/${json.id}`, { token: admin });
  expect((await remove('needed')).status).toBe(204);
});

test.each([
  ['UPPER', {}],
  ['-dash', {}],
  ['x'.repeat(33), {}],
  ['ok', { color: 'red' }],
  ['ok', { icon: 'skull' }],
  ['ok', { rank: 1.5 }],
  ['ok', { durationMs: -1 }],
  ['ok', { shape: 'round' }],
])('PUT /api/levels/%s %j is refused', async (name, body) => {
  expect((await put(name, body)).status).toBe(400);
});

test('a tenant’s levels are its own, and members cannot change them', async () => {
  const foreign = await server.key('owner', 'other');
  await put('ours', { rank: 99 });
  expect(await list(foreign)).toHaveLength(5);
  expect((await remove('ours', foreign)).status).toBe(404);
  const member = await server.key('member');
  expect((await put('ours', {}, member)).status).toBe(403);
  expect((await remove('ours', member)).status).toBe(403);
  expect(await list(member)).toContainEqual(expect.objectContaining({ name: 'ours', rank: 99 }));
});
