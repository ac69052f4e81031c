import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let member: string;
beforeAll(async () => {
  server = await TestServer.start();
  member = await server.key('member');
});
afterAll(() => server.stop());

const save = (name: string, q: string) =>
  server.call('POST', '/api/searches', { token: member, json: { name, q } });
const list = async () =>
  (await server.call('GET', '/api/searches', { token: await server.key('viewer') })).json.searches;

test('a saved search is kept as it was typed, by name, and finds what it found', async () => {
  const token = await server.token();
  await server.notify(token, { title: 'disk full', message: 'm', host: 'db-01', level: 'error' });
  await server.notify(token, { title: 'all fine', message: 'm', host: 'db-01' });
  const q = ' host:DB-*  level:>=warning ';
  const { status, json } = await save('zz troubles', q);
  expect([status, json]).toEqual([
    201,
    { id: expect.any(String), name: 'zz troubles', q, createdAt: expect.any(String), createdBy: 'key key' },
  ]);
  await save('aa all', '');
  expect((await list()).map(({ name }: { name: string }) => name)).toEqual(['aa all', 'zz troubles']);
  const found = await server.call('GET', `/api/history?q=${encodeURIComponent(json.q)}`, { token: member });
  expect(found.json.notifications.map(({ title }: { title: string }) => title)).toEqual(['disk full']);
});

test('a name is taken once, also by many at once, and free again when its search is forgotten', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => save('race', 'x')));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
  const { id } = answers.find(({ status }) => status === 201)?.json ?? {};
  expect((await server.call('DELETE', `/api/searches/${id}`, { token: member })).status).toBe(204);
  expect((await server.call('DELETE', `/api/searches/${id}`, { token: member })).status).toBe(404);
  expect((await save('race', 'x')).status).toBe(201);
});

test.each([
  { q: 'x' },
  { name: ' ', q: 'x' },
  { name: 'x'.repeat(101), q: 'x' },
  { name: 'x' },
  { name: 'x', q: 'x', more: 1 },
])('what is no search is not saved: %#', async (json) => {
  const before = await list();
  expect((await server.call('POST', '/api/searches', { token: member, json })).status).toBe(400);
  expect(await list()).toEqual(before);
});
