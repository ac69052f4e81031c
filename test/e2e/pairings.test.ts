import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let admin: string;
beforeAll(async () => {
  // Each test is a screen of its own network, so that they do not use up each other's tries.
  server = await TestServer.start({ BELFRY_TRUSTED_PROXIES: '127.0.0.1' });
  admin = await server.key('admin');
});
afterAll(() => server.stop());

let screens = 0;
const screen = () => {
  const headers = { 'x-forwarded-for': `203.0.113.${++screens}` };
  return {
    open: () => server.call('POST', '/api/pairings', { headers }),
    collect: (secret: string) => server.call('GET', `/api/pairings/${secret}`, { headers }),
  };
};
const approve = (code: string, json: unknown, token = admin) =>
  server.call('POST', `/api/pairings/${code}/approve`, { token, json });

describe('pairing', () => {
  test('a screen shows a code, someone approves it, and the screen gets a token for its one panel, once', async () => {
    const tv = screen();
    const opened = await tv.open();
    expect(opened.status).toBe(201);
    const { code, secret, expiresAt } = opened.json;
    expect(code).toMatch(/^[2-9B-Z]{6}$/);
    expect(secret.length * Math.log2(62)).toBeGreaterThan(128);
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(9 * 60_000);
    expect((await tv.collect(secret)).json).toEqual({ state: 'waiting', expiresAt });

    const approved = await approve(code, { name: 'Canteen', tags: ['noc'] });
    expect(approved.status).toBe(200);
    expect(approved.json).toMatchObject({ name: 'Canteen', tags: ['noc'], online: false });
    const { id, events } = approved.json;

    const answers = await Promise.all(Array.from({ length: 5 }, () => tv.collect(secret)));
    const handed = answers.filter(({ json }) => json.token !== undefined);
    expect(handed).toHaveLength(1);
    expect(handed[0]?.json).toMatchObject({ state: 'approved', panel: { id, name: 'Canteen', events } });
    expect(handed[0]?.headers.get('cache-control')).toBe('no-store');
    expect((await tv.collect(secret)).json).toEqual({ state: 'collected', expiresAt });

    const token = handed[0]?.json.token;
    const { stream } = await server.panel(token, 'Canteen');
    expect(stream).toBeDefined();
    expect((await server.notify(token, { title: 't', message: 'm' })).status).toBe(403);
    const { tokens } = (await server.call('GET', '/api/tokens', { token: admin })).json;
    expect(tokens).toContainEqual(
      expect.objectContaining({
        name: 'panel Canteen',
        scopes: ['panel'],
        panelId: id,
        createdBy: 'key key',
      }),
    );
    stream.close();
  });

  test('a code is taken as people type it, and for a panel that exists', async () => {
    const tv = screen();
    const { code, secret } = (await tv.open()).json;
    const token = await server.token();
    const { id } = (await server.call('POST', '/api/panels', { token, json: { name: 'Reception' } })).json;
    const typed = `${code.slice(0, 3)}-${code.slice(3)}`.toLowerCase();
    expect((await approve(typed, { panelId: id })).json).toMatchObject({ id });
    expect((await tv.collect(secret)).json).toMatchObject({ state: 'approved', panel: { id } });
  });

  test('a code can be approved once, by one tenant', async () => {
    const tv = screen();
    const { code, secret } = (await tv.open()).json;
    const foreign = await server.key('admin', 'other');
    const answers = await Promise.all([
      approve(code, { name: 'Race' }),
      approve(code, { name: 'Race' }, foreign),
      approve(code, { name: 'Race' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    expect((await tv.collect(secret)).json.state).toBe('approved');
    expect((await approve(code, { name: 'Race' })).status).toBe(404);
  });

  test('a wrong code makes no panel', async () => {
    const refused = await approve('ZZZZZZ', { name: 'Nowhere' });
    expect(refused.status).toBe(404);
    expect(refused.headers.get('belfry-error')).toBe('pairing.unknown-code');
    const { panels } = (await server.call('GET', '/api/panels', { token: admin })).json;
    expect(panels).not.toContainEqual(expect.objectContaining({ name: 'Nowhere' }));
  });

  test('wrong codes are limited, however many come at once; another tenant pairs on', async () => {
    const guesser = await server.key('admin', 'guesser');
    const guesses = await Promise.all(
      Array.from({ length: 30 }, () => approve('ZZZZZZ', { name: 'Guess' }, guesser)),
    );
    expect(guesses.filter(({ status }) => status === 404)).toHaveLength(20);
    const refused = guesses.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    expect(refused[0]?.json).toEqual({ error: 'rate limit exceeded' });
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    const { code } = (await screen().open()).json;
    expect((await approve(code, { name: 'Right' })).status).toBe(200);
  });

  test('an approval names one panel of the own tenant', async () => {
    const { code } = (await screen().open()).json;
    expect((await approve(code, {})).status).toBe(400);
    expect((await approve(code, { panelId: 'x', name: 'y' })).status).toBe(400);
    const token = await server.token({ tenant: 'other' });
    const { id } = (await server.call('POST', '/api/panels', { token, json: { name: 'Theirs' } })).json;
    expect((await approve(code, { panelId: id })).text).toBe('{"error":"panel not found"}');
  });

  test('only admins and owners approve', async () => {
    const { code } = (await screen().open()).json;
    for (const role of ['viewer', 'member'] as const) {
      expect((await approve(code, { name: 'x' }, await server.key(role))).status).toBe(403);
    }
    expect((await approve(code, { name: 'x' }, await server.token())).status).toBe(403);
    expect((await server.call('POST', `/api/pairings/${code}/approve`, { json: {} })).status).toBe(401);
  });

  test('an unknown secret is not found, and the code is no secret', async () => {
    const tv = screen();
    const { code } = (await tv.open()).json;
    for (const secret of [code, 'x', 'A'.repeat(32)]) {
      expect((await tv.collect(secret)).text).toBe('{"error":"pairing not found"}');
    }
  });

  test('a panel deleted before its token was collected leaves nothing to collect', async () => {
    const tv = screen();
    const { code, secret } = (await tv.open()).json;
    const { id } = (await approve(code, { name: 'Short-lived' })).json;
    await server.call('DELETE', `/api/panels/${id}`, { token: admin });
    const { status, json } = await tv.collect(secret);
    expect(status).toBe(410);
    expect(json.error).toContain('deleted');
  });

  test('one network may open only so many, and hears when it may again', async () => {
    const tv = screen();
    const answers = [];
    for (let i = 0; i < 21; i++) answers.push(await tv.open());
    expect(answers.slice(0, 20).map(({ status }) => status)).toEqual(Array(20).fill(201));
    const refused = answers[20];
    expect(refused?.status).toBe(429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused?.headers.get('ratelimit')).toContain('"pairing";r=0');
    expect((await screen().open()).status).toBe(201);
  });
});
