import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

async function newTenant() {
  const { tenant, token, key } = await server.newTenant();
  const put = (name: string, json: unknown = {}, as = key) =>
    server.call('PUT', `/api/levels/${name}`, { token: as, json });
  const remove = (name: string, as = key) => server.call('DELETE', `/api/levels/${name}`, { token: as });
  const list = async () =>
    (await server.call('GET', '/api/levels', { token: key })).json.levels as { name: string }[];
  const send = async (json: object) => {
    const { id } = (await server.notify(token, { title: 't', message: 'm', ...json })).json;
    return (await server.call('GET', `/api/notifications/${id}`, { token })).json;
  };
  return { tenant, token, key, put, remove, list, send };
}

test('every tenant begins with the five levels, each with its own icon and colour', async () => {
  const { list } = await newTenant();
  const levels = await list();
  expect(levels).toMatchObject([
    { name: 'success', builtIn: true, rank: 10, durationMs: 15_000 },
    { name: 'info', builtIn: true, rank: 20, durationMs: 30_000 },
    { name: 'warning', builtIn: true, rank: 30, durationMs: 120_000 },
    { name: 'error', builtIn: true, rank: 40, durationMs: 0 },
    { name: 'critical', builtIn: true, rank: 50, durationMs: 0 },
  ]);
  const looks = levels as unknown as { icon: string; color: string }[];
  expect(new Set(looks.map(({ icon }) => icon)).size).toBe(5);
  expect(new Set(looks.map(({ color }) => color)).size).toBe(5);
});

test('how long each is shown is what a notification without ttl gets', async () => {
  const { send } = await newTenant();
  for (const [level, ttl] of [
    ['success', 15_000],
    ['info', 30_000],
    ['warning', 120_000],
    ['error', 0],
    ['critical', 0],
  ] as const) {
    const { expiresAt, receivedAt, ...rest } = await send({ level });
    expect(rest).toMatchObject({ level, ttl, sent: { level, ttl: null } });
    expect(expiresAt === null ? 0 : Date.parse(expiresAt) - Date.parse(receivedAt)).toBe(ttl);
  }
  expect(await send({ level: 'info', ttl: 0 })).toMatchObject({ ttl: 0, expiresAt: null, sent: { ttl: 0 } });
});

test('a built-in level can be restyled, field by field, and what comes then follows', async () => {
  const { put, list, send } = await newTenant();
  const before = (await list()).find(({ name }) => name === 'warning');
  expect((await put('warning', { rank: 35, durationMs: 1_000 })).json).toEqual({
    ...before,
    rank: 35,
    durationMs: 1_000,
  });
  expect((await put('warning', { icon: 'bell' })).json).toEqual({
    ...before,
    rank: 35,
    durationMs: 1_000,
    icon: 'bell',
  });
  expect((await put('warning', {})).json).toEqual({ ...before, rank: 35, durationMs: 1_000, icon: 'bell' });
  expect((await list()).find(({ name }) => name === 'warning')).toMatchObject({ rank: 35, builtIn: true });
  expect(await send({ level: 'warning' })).toMatchObject({ rank: 35, ttl: 1_000 });
});

test('a built-in level cannot be deleted', async () => {
  const { remove, list } = await newTenant();
  for (const name of ['success', 'info', 'warning', 'error', 'critical']) {
    const { status, json } = await remove(name);
    expect([status, json.error]).toEqual([409, expect.stringContaining(name)]);
  }
  expect(await list()).toHaveLength(5);
});

test('a level that a sender names is made with the rank and look of info, and can be given its own', async () => {
  const { list, put, send } = await newTenant();
  const info = (await list()).find(({ name }) => name === 'info');
  expect(await send({ level: '  Deploy.Done ' })).toMatchObject({
    level: 'deploy.done',
    rank: 20,
    ttl: 30_000,
  });
  expect((await list()).at(-1)).toEqual({ ...info, name: 'deploy.done', builtIn: false });
  await put('deploy.done', { rank: 45, durationMs: 0 });
  expect(await send({ level: 'deploy.done' })).toMatchObject({ rank: 45, ttl: 0 });
});

test('custom levels are made, stand behind the built-in ones by name, and are deleted', async () => {
  const { put, remove, list } = await newTenant();
  const style = { rank: 77, color: '#0a0b0c', icon: 'rocket', sound: 'ping', durationMs: 5_000 };
  expect((await put('zeta', style)).json).toEqual({ name: 'zeta', builtIn: false, ...style });
  await put('alpha');
  expect((await list()).slice(5).map(({ name }) => name)).toEqual(['alpha', 'zeta']);
  expect((await remove('alpha')).status).toBe(204);
  expect((await remove('alpha')).status).toBe(404);
  expect((await list()).slice(5).map(({ name }) => name)).toEqual(['zeta']);
});

test('a level that was deleted is new again when it comes again, and history keeps what was', async () => {
  const { put, remove, send, key } = await newTenant();
  await put('deploy', { rank: 99 });
  const { id } = await send({ level: 'deploy' });
  await remove('deploy');
  expect(await send({ level: 'deploy' })).toMatchObject({ level: 'deploy', rank: 20 });
  expect((await server.call('GET', `/api/notifications/${id}`, { token: key })).json).toMatchObject({
    level: 'deploy',
    rank: 99,
  });
});

test('a level that a rule needs is not deleted', async () => {
  const { put, remove, key } = await newTenant();
  await put('deploy', { rank: 60 });
  for (const rule of [
    { when: { minLevel: 'deploy' }, then: { mute: true } },
    { then: { setLevel: 'deploy' } },
    { when: { level: ['info', 'deploy'] }, then: { mute: true } },
    { when: { not: { level: ['deploy'] } }, then: { mute: true } },
  ]) {
    const { json } = await server.call('POST', '/api/rules', {
      token: key,
      json: { name: 'needs it', ...rule },
    });
    const refused = await remove('deploy');
    expect([refused.status, refused.json.error]).toEqual([409, expect.stringContaining('needs it')]);
    await server.call('DELETE', `/api/rules/${json.id}`, { token: key });
  }
  expect((await remove('deploy')).status).toBe(204);
});

test('a level that the minLevel of a panel names is not deleted', async () => {
  const { token, put, remove, key } = await newTenant();
  await put('deploy', { rank: 60 });
  const { id } = (await server.call('POST', '/api/panels', { token, json: { name: 'Lobby' } })).json;
  const show = (display: object) =>
    server.call('PATCH', `/api/panels/${id}`, { token: key, json: { display } });
  expect((await show({ minLevel: 'deploy' })).status).toBe(200);
  const refused = await remove('deploy');
  expect([refused.status, refused.json.error]).toEqual([
    409,
    'panels name the level deploy: "Lobby"; change them first',
  ]);
  await show({});
  expect((await remove('deploy')).status).toBe(204);
});

test('a level that was deleted leaves no series in the metrics', async () => {
  const { token, put, remove, send } = await newTenant();
  const series = async () =>
    (await server.call('GET', '/tenant-metrics', { token })).text.match(/received_total\{level="[^"]*"\}/g);
  await put('deploy');
  for (const level of ['deploy', 'info']) await send({ level });
  expect(await series()).toEqual(['received_total{level="deploy"}', 'received_total{level="info"}']);
  await remove('deploy');
  expect(await series()).toEqual(['received_total{level="info"}']);
});

test('what prevents the deletion of a level is named, up to a limit', async () => {
  const { put, remove, key } = await newTenant();
  await put('deploy');
  for (let i = 1; i <= 7; i++)
    await server.call('POST', '/api/rules', {
      token: key,
      json: { name: `rule ${i}`, when: { level: ['deploy'] }, then: { mute: true } },
    });
  expect((await remove('deploy')).json).toEqual({
    error:
      'rules name the level deploy: "rule 1", "rule 2", "rule 3", "rule 4", "rule 5" and 2 more; change them first',
  });
});

test.each([
  ['info', { rank: -1 }, 'rank'],
  ['info', { rank: 1_001 }, 'rank'],
  ['info', { rank: 1.5 }, 'rank'],
  ['info', { rank: '20' }, 'rank'],
  ['info', { color: 'red' }, 'color'],
  ['info', { color: '#ABCDEF' }, 'color'],
  ['info', { icon: 'no-such-icon' }, 'icon'],
  ['info', { sound: 'no-such-sound' }, 'sound'],
  ['info', { durationMs: 604_800_001 }, 'durationMs'],
  ['info', { colour: '#ffffff' }, 'colour'],
  ['UPPER', {}, 'name'],
  ['-dash', {}, 'name'],
  ['x'.repeat(33), {}, 'name'],
])('the level %s is not given %j: the error names %s', async (name, json, named) => {
  const { put, list } = await newTenant();
  const before = await list();
  const { status, json: body } = await put(name, json);
  expect([status, body.error]).toEqual([400, expect.stringContaining(named)]);
  expect(await list()).toEqual(before);
});

test('a tenant has at most 200 levels of its own, whether they are made here or named by senders', async () => {
  const { put, remove, send, token } = await newTenant();
  for (let i = 0; i < limits.customLevelsPerTenant; i += 40) {
    await Promise.all(Array.from({ length: 40 }, (_, j) => put(`level-${i + j}`)));
  }
  expect((await put('one-more')).status).toBe(400);
  const refused = await server.notify(token, { title: 't', message: 'm', level: 'one-more' });
  expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining('one-more')]);
  expect((await put('level-7', { rank: 8 })).status).toBe(200);
  expect(await send({ level: 'level-7' })).toMatchObject({ rank: 8 });
  await remove('level-7');
  expect(await send({ level: 'one-more' })).toMatchObject({ level: 'one-more', rank: 20 });
});

test("one tenant's levels are not another's", async () => {
  const [a, b] = [await newTenant(), await newTenant()];
  await a.put('canary');
  await a.put('info', { rank: 21 });
  expect(await b.list()).toHaveLength(5);
  expect(await b.send({ level: 'info' })).toMatchObject({ rank: 20 });
  expect((await b.remove('canary')).status).toBe(404);
});
