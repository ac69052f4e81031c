import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let key: string;
let token: string;
beforeAll(async () => {
  server = await TestServer.start();
  key = await server.key('owner');
  token = await server.token();
});
afterAll(() => server.stop());

const headers = { 'content-type': 'application/json' };
const call = (method: string, path: string) => server.call(method, path, { token: key, headers });

test('an empty body under application/json is taken where none is needed', async () => {
  const { json } = await server.notify(token, { title: 'T', message: 'M' });
  expect((await call('POST', `/api/notifications/${json.id}/acknowledge`)).json).toMatchObject({
    first: true,
  });
  expect((await call('POST', `/api/notifications/${json.id}/clear`)).json).toMatchObject({ cleared: true });
  const created = { name: 'r', then: { mute: true } };
  const { json: rule } = await server.call('POST', '/api/rules', { token: key, json: created });
  expect((await call('DELETE', `/api/rules/${rule.id}`)).status).toBe(204);
});

test('and refused where one is needed', async () => {
  const { status, json } = await call('POST', '/api/rules');
  expect([status, json.error]).toEqual([400, 'the body is empty: a JSON object is expected']);
});
