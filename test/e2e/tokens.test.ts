import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseSecret } from '#core/people/secrets.ts';
import { limitMs } from '../support/patience.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let admin: string;
beforeAll(async () => {
  server = await TestServer.start();
  admin = await server.key('admin');
});
afterAll(() => server.stop());

const create = (json: unknown, token = admin) => server.call('POST', '/api/tokens', { token, json });
const sends = async (token: string) => (await server.notify(token, { title: 't', message: 'm' })).status;

/** The token or key of a list, without its last use, which is written some time after the request. */
const listed = (list: { id: string }[], id: string) => ({
  ...list.find((one) => one.id === id),
  lastUsedAt: null,
  lastUsedFrom: null,
});

describe('tokens', () => {
  test('a new token is shown once, and works at once', async () => {
    const { status, json, headers } = await create({ name: ' ci ' });
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(json).toMatchObject({
      id: parseSecret(json.token)?.id,
      name: 'ci',
      scopes: ['notify', 'panel', 'metrics'],
      createdBy: 'key key',
      rate: null,
      panelId: null,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      allowFrom: [],
    });
    expect(await sends(json.token)).toBe(200);
    const list = await server.call('GET', '/api/tokens', { token: admin });
    const { token, ...shown } = json;
    expect(listed(list.json.tokens, shown.id)).toEqual(shown);
    expect(list.text).not.toContain(parseSecret(token)?.secret);
  });

  test('no scope chosen is all three, one chosen is that one', async () => {
    expect((await create({ name: 'none', scopes: [] })).json.scopes).toEqual(['notify', 'panel', 'metrics']);
    const { json } = await create({ name: 'panel', scopes: ['panel'] });
    expect(json.scopes).toEqual(['panel']);
    expect(await sends(json.token)).toBe(403);
  });

  test('revoking works at once and twice, and keeps the record with the first time', async () => {
    const { json } = await create({ name: 'short-lived' });
    expect(await sends(json.token)).toBe(200);
    expect((await server.call('DELETE', `/api/tokens/${json.id}`, { token: admin })).status).toBe(204);
    expect(await sends(json.token)).toBe(401);
    const find = async () =>
      (await server.call('GET', '/api/tokens', { token: admin })).json.tokens.find(
        ({ id }: { id: string }) => id === json.id,
      );
    const { revokedAt } = await find();
    expect(Date.parse(revokedAt)).toBeGreaterThan(0);
    expect((await server.call('DELETE', `/api/tokens/${json.id}`, { token: admin })).status).toBe(204);
    expect((await find()).revokedAt).toBe(revokedAt);
  });

  test('a change holds from the next request on', async () => {
    const { json } = await create({ name: 'changing' });
    expect(await sends(json.token)).toBe(200);
    const patch = (body: unknown) =>
      server.call('PATCH', `/api/tokens/${json.id}`, { token: admin, json: body });
    expect((await patch({ scopes: ['metrics'] })).json.scopes).toEqual(['metrics']);
    expect(await sends(json.token)).toBe(403);
    await patch({ scopes: [], allowFrom: ['192.0.2.0/24'] });
    expect(await sends(json.token)).toBe(401);
    const changed = await patch({
      allowFrom: ['127.0.0.0/8', '::ffff:10.0.0.1'],
      name: 'changed',
      rate: { perSecond: 0.001, burst: 1 },
    });
    expect(changed.json).toMatchObject({ name: 'changed', allowFrom: ['127.0.0.0/8', '10.0.0.1'] });
    expect(await sends(json.token)).toBe(200);
    expect(await sends(json.token)).toBe(429);
    expect((await patch({ rate: null })).json.rate).toBeNull();
  });

  test('an expiry ends a token, and can be taken off before that', async () => {
    const expiresAt = new Date(Date.now() + 3_000).toISOString();
    const { json } = await create({ name: 'expiring', expiresAt });
    const { json: kept } = await create({ name: 'kept', expiresAt });
    expect(
      (await server.call('PATCH', `/api/tokens/${kept.id}`, { token: admin, json: { expiresAt: null } })).json
        .expiresAt,
    ).toBeNull();
    await expect.poll(() => sends(json.token), { timeout: limitMs(4_000) }).toBe(401);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
    expect(await sends(kept.token)).toBe(200);
  });

  test.each([
    [{}, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'x', scopes: ['admin'] }, 'notify, panel, metrics'],
    [{ name: 'x', expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ name: 'x', expiresAt: '2020-01-01T00:00:00Z' }, 'in the future'],
    [{ name: 'x', allowFrom: ['10.0.0.0/33'] }, 'allowFrom[0]'],
    [{ name: 'x', allowFrom: ['10.0.0.1-10.0.0.5'] }, 'allowFrom[0]'],
    [{ name: 'x', allowFrom: ['::ffff:10.0.0.0/104'] }, 'allowFrom[0]'],
    [{ name: 'x', rate: { perSecond: 0, burst: 1 } }, 'rate'],
    [{ name: 'x', role: 'owner' }, 'role'],
  ])('%j is refused with a word about %s', async (body, word) => {
    const { status, json } = await create(body);
    expect(status).toBe(400);
    expect(json.error).toContain(word);
  });

  test('another tenant’s token is as unknown as one that is not there', async () => {
    const { json } = await create({ name: 'mine' });
    const foreign = await server.key('owner', 'other');
    const answers = await Promise.all(
      [json.id, 'nosuchid00'].flatMap((id) => [
        server.call('DELETE', `/api/tokens/${id}`, { token: foreign }),
        server.call('PATCH', `/api/tokens/${id}`, { token: foreign, json: { name: 'stolen' } }),
      ]),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['404 {"error":"token not found"}']),
    );
    expect((await server.call('GET', '/api/tokens', { token: foreign })).json.tokens).toEqual([]);
    expect(await sends(json.token)).toBe(200);
  });

  test('only admins and owners see and make tokens, and no token does', async () => {
    for (const role of ['viewer', 'member'] as const) {
      const token = await server.key(role);
      expect((await server.call('GET', '/api/tokens', { token })).status).toBe(403);
      expect((await create({ name: 'x' }, token)).status).toBe(403);
    }
    expect((await create({ name: 'x' }, await server.token())).status).toBe(403);
    expect((await server.call('POST', '/api/tokens', { json: { name: 'x' } })).status).toBe(401);
  });
});

describe('automation keys', () => {
  const createKey = (json: unknown, token = admin) => server.call('POST', '/api/keys', { token, json });

  test('a new key is shown once, works at once with its role, and not as a token', async () => {
    const { status, json } = await createKey({ name: 'deploy', role: 'viewer' });
    expect(status).toBe(201);
    expect(json.key).toMatch(/^bfk_/);
    expect((await server.call('GET', '/api/levels', { token: json.key })).status).toBe(200);
    expect((await server.call('GET', '/api/keys', { token: json.key })).status).toBe(403);
    expect(await sends(json.key)).toBe(403);
    const { key, ...shown } = json;
    const list = await server.call('GET', '/api/keys', { token: admin });
    expect(listed(list.json.keys, shown.id)).toEqual(shown);
    expect(list.text).not.toContain(parseSecret(key)?.secret);
  });

  test('a revoked key is refused at once', async () => {
    const { json } = await createKey({ name: 'short', role: 'admin' });
    expect((await server.call('GET', '/api/keys', { token: json.key })).status).toBe(200);
    for (let i = 0; i < 2; i++) {
      expect((await server.call('DELETE', `/api/keys/${json.id}`, { token: admin })).status).toBe(204);
    }
    expect((await server.call('GET', '/api/keys', { token: json.key })).status).toBe(401);
  });

  test('nobody makes or revokes a key that may do more than they may', async () => {
    expect((await createKey({ name: 'up', role: 'owner' })).status).toBe(403);
    const owner = await server.key('owner');
    const { json } = await createKey({ name: 'boss', role: 'owner' }, owner);
    expect((await server.call('DELETE', `/api/keys/${json.id}`, { token: admin })).status).toBe(403);
    expect((await server.call('DELETE', `/api/keys/${json.id}`, { token: owner })).status).toBe(204);
  });

  test('a token’s id is no key’s, and another tenant’s key is not there', async () => {
    const token = (await create({ name: 'a token' })).json;
    const key = (await createKey({ name: 'a key', role: 'viewer' })).json;
    expect((await server.call('DELETE', `/api/keys/${token.id}`, { token: admin })).status).toBe(404);
    expect((await server.call('DELETE', `/api/tokens/${key.id}`, { token: admin })).status).toBe(404);
    const foreign = await server.key('owner', 'other');
    expect((await server.call('DELETE', `/api/keys/${key.id}`, { token: foreign })).status).toBe(404);
  });
});
