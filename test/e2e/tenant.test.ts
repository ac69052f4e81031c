import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePerson, TestBrowser } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let admin: string;
beforeAll(async () => {
  server = await TestServer.start();
  admin = await server.key('admin');
});
afterAll(() => server.stop());

describe('the tenant', () => {
  const get = async (token = admin) => (await server.call('GET', '/api/tenant', { token })).json;
  const patch = (json: unknown, token = admin) => server.call('PATCH', '/api/tenant', { token, json });

  test('is the key’s own', async () => {
    expect(await get()).toEqual({
      name: 'default',
      title: 'Default',
      timeZone: 'UTC',
      rate: null,
      retentionDays: null,
      retentionCount: null,
      bounds: { rate: 'off', retentionDays: 'off', retentionCount: 'off' },
      createdAt: expect.any(String),
    });
    expect(await get(await server.key('viewer', 'other'))).toMatchObject({ name: 'other' });
  });

  test('keeps what a change does not name', async () => {
    const before = await get();
    const changed = {
      title: 'Acme',
      rate: { perSecond: 9, burst: 90 },
      retentionDays: 7,
      retentionCount: 'off',
    };
    expect((await patch(changed)).json).toEqual({ ...before, ...changed });
    expect((await patch({ rate: null, retentionDays: null, retentionCount: null })).json).toEqual({
      ...before,
      title: 'Acme',
    });
    expect(await get(await server.key('viewer', 'other'))).toMatchObject({ title: 'other' });
  });

  test('its rate limit holds from the answer on', async () => {
    const key = await server.key('admin', 'limited');
    const token = await server.token({ tenant: 'limited' });
    const send = async () => (await server.notify(token, { title: 't', message: 'm' })).status;
    expect(await send()).toBe(200);
    await patch({ rate: { perSecond: 0.001, burst: 1 } }, key);
    await send();
    expect(await send()).toBe(429);
    await patch({ rate: 'off' }, key);
    expect(await send()).toBe(200);
  });

  test.each([
    [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
    [{ timeZone: '+02:00' }, 'timeZone'],
    [{ title: '' }, 'title'],
    [{ retentionCount: 0 }, 'retentionCount'],
    [{ retentionDays: 'never' }, 'retentionDays'],
    [{ retentionDays: 0.5 }, 'retentionDays'],
    [{ retentionDays: 1.5 }, 'retentionDays'],
    [{ name: 'renamed' }, 'name'],
  ])('%j is refused', async (body, word) => {
    const { status, json } = await patch(body);
    expect(status).toBe(400);
    expect(json.error).toContain(word);
  });

  test('members read it and do not change it', async () => {
    const member = await server.key('member');
    expect((await server.call('GET', '/api/tenant', { token: member })).status).toBe(200);
    expect((await patch({ title: 'x' }, member)).status).toBe(403);
  });
});

test('an operator bounds what tenants set, also what is stored already, and how many tenants owners create', async () => {
  const bounded = await TestServer.start({
    BELFRY_MAX_TENANTS: '2',
    BELFRY_MAX_TENANT_RATE: '0.001:3',
    BELFRY_MAX_RETENTION_DAYS: '30',
    BELFRY_MAX_RETENTION_COUNT: '1000',
  });
  try {
    const token = await bounded.key('admin');
    const patch = (json: object) => bounded.call('PATCH', '/api/tenant', { token, json });
    for (const [json, error] of [
      [{ retentionDays: 31 }, 'retentionDays: must be at most 30,'],
      [{ retentionDays: 'off' }, 'retentionDays: must be at most 30,'],
      [{ retentionCount: 1001 }, 'retentionCount: must be at most 1000,'],
      [{ rate: 'off' }, 'rate: must be at most 0.001 a second and 3 at once,'],
      [{ rate: { perSecond: 0.001, burst: 4 } }, 'rate: must be at most 0.001 a second'],
    ] as const) {
      const answer = await patch(json);
      expect([answer.status, answer.json.error]).toEqual([400, expect.stringContaining(error)]);
    }
    const within = { rate: { perSecond: 0.001, burst: 2 }, retentionDays: 30, retentionCount: 1000 };
    const bounds = { rate: { perSecond: 0.001, burst: 3 }, retentionDays: 30, retentionCount: 1000 };
    expect(await patch(within)).toMatchObject({ status: 200, json: { ...within, bounds } });
    const tenant = await bounded.tenant();
    await bounded.running.directory.tenants.update(tenant, { rate: 'off' }, 'cli', 1);
    await patch({ title: 'read again' });
    await bounded.running.directory.tenants.create('second', 'Second', 'cli', 1);
    const sender = await bounded.token();
    const send = async () => (await bounded.notify(sender, { title: 't', message: 'm' })).status;
    expect([await send(), await send(), await send(), await send()]).toEqual([200, 200, 200, 429]);
    const owner = await TestBrowser.of(bounded, await makePerson(bounded, 'owner'));
    const third = await owner.post('/api/tenants', { name: 'third', title: 'Third' });
    expect([third.status, third.json.error]).toEqual([403, expect.stringContaining('(BELFRY_MAX_TENANTS)')]);
  } finally {
    await bounded.stop();
  }
});

describe('saved searches', () => {
  const call = (method: string, path: string, json?: unknown, token = admin) =>
    server.call(method, `/api/searches${path}`, { token, ...(json !== undefined && { json }) });

  test('are kept by name, and forgotten', async () => {
    const saved = await call('POST', '', { name: ' night ', q: 'level:>=warning host:db-*' });
    expect(saved.status).toBe(201);
    expect(saved.json).toMatchObject({ name: 'night', q: 'level:>=warning host:db-*', createdBy: 'key key' });
    expect((await call('GET', '')).json.searches).toEqual([saved.json]);
    const taken = await call('POST', '', { name: 'night', q: '' });
    expect(taken.status).toBe(409);
    expect((await call('DELETE', `/${saved.json.id}`)).status).toBe(204);
    expect((await call('DELETE', `/${saved.json.id}`)).status).toBe(404);
    expect((await call('GET', '')).json.searches).toEqual([]);
  });

  test('a search that history would refuse is not saved', async () => {
    const { status, json } = await call('POST', '', { name: 'bad', q: 'hots:db-01' });
    expect(status).toBe(400);
    expect(json.error).toContain('hots');
  });

  test('are the tenant’s own, for members to keep and viewers to use', async () => {
    const { json } = await call('POST', '', { name: 'ours', q: 'x' });
    const foreign = await server.key('owner', 'other');
    expect((await call('GET', '', undefined, foreign)).json.searches).toEqual([]);
    expect((await call('DELETE', `/${json.id}`, undefined, foreign)).status).toBe(404);
    const viewer = await server.key('viewer');
    expect((await call('GET', '', undefined, viewer)).json.searches).toEqual([json]);
    expect((await call('POST', '', { name: 'x', q: '' }, viewer)).status).toBe(403);
    expect((await call('POST', '', { name: 'x', q: '' }, await server.key('member'))).status).toBe(201);
  });
});
