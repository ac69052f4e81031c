import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Policy, roleOf, scopeOf } from '#core/people/access.ts';
import { mintSecret, parseSecret } from '#core/people/secrets.ts';
import { IntakeDesk } from '../support/intake.ts';
import { firstAnswer, rawRequest } from '../support/raw-http.ts';
import { TestServer } from '../support/server.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off', BELFRY_TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(() => desk.close());

const sent = { title: 'T', message: 'M' };
const idOf = (token: string) => parseSecret(token)?.id as string;
const send = async (token: string, headers: Record<string, string> = {}) =>
  (await desk.server.notify(token, sent, headers)).status;
const get = async (path: string, token?: string) => (await desk.server.call('GET', path, { token })).status;

describe('scopes', () => {
  const calls = {
    notify: (token: string) => send(token),
    panel: async (token: string) =>
      (await desk.server.call('POST', '/api/panels', { token, json: { name: 'lobby' } })).status,
    metrics: (token: string) => get('/tenant-metrics', token),
  } as const;

  it.each(['notify', 'panel', 'metrics'] as const)('%s opens its own calls and no other', async (scope) => {
    const token = await desk.server.token({ scopes: [scope] });
    for (const [each, call] of Object.entries(calls)) {
      const status = await call(token);
      if (each === scope) expect(status, each).toBeLessThan(300);
      else expect(status, each).toBe(403);
    }
  });

  it('all three open all', async () => {
    const token = await desk.server.token({ scopes: ['notify', 'panel', 'metrics'] });
    for (const call of Object.values(calls)) expect(await call(token)).toBeLessThan(300);
  });

  it('a token that was made without choosing any has all three', async () => {
    const { json } = await desk.server.call('POST', '/api/tokens', {
      token: desk.key,
      json: { name: 'unchosen' },
    });
    for (const call of Object.values(calls)) expect(await call(json.token)).toBeLessThan(300);
  });

  it('panel opens the streams, lists and clearing that screens need', async () => {
    const token = await desk.server.token({ scopes: ['panel'] });
    const panel = await desk.server.panel(token, 'hall');
    expect(panel.stream.response.status).toBe(200);
    panel.stream.close();
    expect(await get('/api/panels', token)).toBe(200);
    const { json } = await desk.post({ json: sent });
    const cleared = await desk.server.call('POST', `/api/notifications/${json.id}/clear`, { token });
    expect(cleared.json).toEqual({ ok: true, id: json.id, cleared: true });
    const notifier = await desk.server.token({ scopes: ['notify', 'metrics'] });
    expect(await get(`/api/panels/${panel.id}/events`, notifier)).toBe(403);
  });
});

describe('every route, by the table the server was built from', () => {
  const routes = () =>
    desk.server.running.routes
      .filter(({ policy, method }) => policy !== 'public' && method !== 'HEAD')
      .map(({ method, url, policy }) => ({
        method,
        path: url.replace(/:[A-Za-z]+/g, 'x'),
        policy: policy as Exclude<Policy, 'public'>,
      }));
  const call = async (method: string, path: string, token?: string) =>
    (await desk.server.call(method, path, { token, ...(method !== 'GET' && { json: {} }) })).status;

  it('without a credential is a 401', async () => {
    for (const { method, path } of routes()) expect(await call(method, path), `${method} ${path}`).toBe(401);
  });

  it('that names a scope and no role is a 403 for a key, an owner’s too', async () => {
    const owner = await desk.server.key('owner');
    const scoped = routes().filter(({ policy }) => roleOf(policy) === undefined);
    expect(scoped.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/api/notify', '/tenant-metrics']),
    );
    for (const { method, path } of scoped)
      expect(await call(method, path, owner), `${method} ${path}`).toBe(403);
  });

  it('that names a role and no scope is a 403 for a token with every scope', async () => {
    const ofDashboard = routes().filter(({ policy }) => scopeOf(policy) === undefined);
    expect(ofDashboard.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/api/history', '/api/rules', '/api/tokens']),
    );
    for (const { method, path } of ofDashboard)
      expect(await call(method, path, desk.token), `${method} ${path}`).toBe(403);
  });
});

describe('the Authorization header', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('%s is as good as any other case', async (scheme) => {
    const { status } = await desk.server.call('POST', '/api/notify', {
      json: sent,
      headers: { authorization: `${scheme} ${desk.token}` },
    });
    expect(status).toBe(200);
  });

  it.each(['Token', 'Basic', 'Bearers', 'Bearer:', '', 'Digest'])('"%s" is no Bearer', async (scheme) => {
    const authorization = scheme === '' ? desk.token : `${scheme} ${desk.token}`;
    expect(
      (await desk.server.call('POST', '/api/notify', { json: sent, headers: { authorization } })).status,
    ).toBe(401);
  });

  it('is the only place: tokens in URLs, cookies, bodies and other headers are not accepted', async () => {
    const { token } = desk;
    const basic = `Basic ${Buffer.from(`${token}:`).toString('base64')}`;
    const calls = [
      ...['token', 'access_token', 'auth', 'api_key', 'authorization', 'key', 'bearer'].map(
        (name) => [`?${name}=${token}`, {}] as const,
      ),
      [`?Authorization=Bearer%20${token}`, {}],
      [
        '',
        {
          'x-api-key': token,
          'x-auth-token': token,
          'x-gotify-key': token,
          'proxy-authorization': `Bearer ${token}`,
        },
      ],
      ['', { cookie: `token=${token}; access_token=${token}` }],
      ['', { authorization: basic }],
    ] as const;
    for (const [query, headers] of calls) {
      const json = { ...sent, token, access_token: token };
      expect((await desk.server.call('POST', `/api/notify${query}`, { json, headers })).status, query).toBe(
        401,
      );
      expect((await desk.server.call('GET', `/tenant-metrics${query}`, { headers })).status, query).toBe(401);
    }
  });

  it('given twice, a bad token first does not let the second in', async () => {
    const headers = [
      ['Authorization', 'Bearer nonsense'],
      ['Authorization', `Bearer ${desk.token}`],
      ['X-Title', 'T'],
      ['X-Message', 'M'],
    ] as const;
    expect((await firstAnswer(desk.server.url, rawRequest({ headers }))).status).toBe(401);
    const authorization = `Bearer nonsense, Bearer ${desk.token}`;
    const { status } = await desk.server.call('POST', '/api/notify', {
      json: sent,
      headers: { authorization },
    });
    expect(status).toBe(401);
  });
});

describe('a token that is not quite right', () => {
  it('with any one character changed is a 401', async () => {
    const { token } = desk;
    for (let i = 0; i < token.length; i++) {
      const other = token[i] === 'x' ? 'y' : 'x';
      expect(await send(token.slice(0, i) + other + token.slice(i + 1)), `character ${i}`).toBe(401);
    }
  });

  it('with a typo is refused without a look-up; well-formed and unknown, it is looked up', async () => {
    const find = vi.spyOn(desk.server.running.directory.credentials, 'find');
    const typo = `${desk.token.slice(0, 20)}${desk.token[20] === 'a' ? 'b' : 'a'}${desk.token.slice(21)}`;
    for (const text of [typo, `${desk.token}x`, desk.token.slice(0, -1), `bfy_${'x'.repeat(200)}`])
      expect(await send(text)).toBe(401);
    expect(find).not.toHaveBeenCalled();
    const fresh = await desk.server.token();
    expect(await send(fresh)).toBe(200);
    expect(find).toHaveBeenCalledTimes(1);
    find.mockRestore();
  });

  it('with another token’s secret is a 401', async () => {
    const stranger = mintSecret('token');
    const tenant = await desk.server.tenant();
    await desk.server.running.directory.credentials.add({
      tenant,
      kind: 'token',
      id: stranger.id,
      hash: mintSecret('token').hash,
      name: 'x',
      scopes: ['notify'],
      role: null,
      rate: null,
      panelId: null,
      allowFrom: [],
      allowInUrl: false,
      createdAt: 0,
      createdBy: 'test',
      lastUsedAt: null,
      lastUsedFrom: null,
      expiresAt: null,
      revokedAt: null,
    });
    expect(await send(stranger.text)).toBe(401);
  });
});

describe('the allow-list', () => {
  it.each([
    [['198.51.100.7'], '198.51.100.7', 200],
    [['198.51.100.7'], '198.51.100.8', 401],
    [['198.51.100.0/24', '203.0.113.5'], '203.0.113.5', 200],
    [['198.51.100.0/24'], '198.51.101.1', 401],
    [['2001:db8::/32'], '2001:db8:1::5', 200],
    [['2001:db8::/32'], '2001:db9::5', 401],
    [['2001:db8::5'], '2001:DB8:0:0::5', 200],
    [['198.51.100.0/24'], '2001:db8::5', 401],
    [['198.51.100.0/24'], '::ffff:198.51.100.9', 200],
    [['0.0.0.0/0'], '198.51.100.9', 200],
    [[], '198.51.100.9', 200],
  ])('%j, from %s: %i', async (allowFrom, from, status) => {
    const token = await desk.server.token({ allowFrom });
    const answer = await desk.server.notify(token, sent, { 'x-forwarded-for': from });
    expect(answer.status).toBe(status);
    if (status === 401) expect(answer.json).toEqual({ error: 'unauthorized' });
  });
});

describe('a token in the URL', () => {
  const json = { title: 'T', message: 'M' };
  const post = (path: string, token: string, headers: Record<string, string> = {}) =>
    desk.server.call('POST', `${path}${path.includes('?') ? '&' : '?'}token=${token}`, { json, headers });
  const paths = ['/api/notify', '/api/integrations/slack?level=error', '/ntfy/t', '/ntfy', '/gotify/message'];

  it('is taken everywhere in intake if the token allows it, and is no part of what is stored', async () => {
    const token = await desk.server.token({ scopes: ['notify'], allowInUrl: true });
    const bodies = { '/ntfy': { topic: 't', message: 'M' }, '/ntfy/t': 'M' } as Record<string, unknown>;
    const head = await desk.head();
    for (const path of paths) {
      const answer = await desk.server.call(
        'POST',
        `${path}${path.includes('?') ? '&' : '?'}token=${token}`,
        {
          json: bodies[path] ?? { ...json, text: 'M' },
        },
      );
      expect([path, answer.status]).toEqual([path, 200]);
    }
    expect(await desk.head()).toBe(head + paths.length);
    expect((await desk.server.call('GET', `/ntfy/t/publish?message=m&token=${token}`)).status).toBe(200);
    expect((await desk.server.call('GET', `/ntfy/v1/account?token=${token}`)).status).toBe(200);
    const { text } = await desk.server.call('GET', '/api/history?limit=20', { token: desk.key });
    expect(text).not.toContain(parseSecret(token)?.secret);
  });

  it('without the option is a 401 that names the option and the header, and stores nothing', async () => {
    const head = await desk.head();
    const token = await desk.server.token({ scopes: ['notify'] });
    for (const path of paths.filter((each) => each !== '/gotify/message')) {
      const answer = await post(path, token);
      expect([path, answer.status, answer.json.error]).toEqual([
        path,
        401,
        expect.stringMatching(/^unauthorized: .*allowInUrl.* Authorization: Bearer/),
      ]);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
    expect((await post('/api/notify', 'nonsense')).json.error).toBe('unauthorized');
    expect(await desk.head()).toBe(head);
  });

  it('with a wider scope than notify is a 401 on every route but those of Gotify, whose clients send no header', async () => {
    const paths = desk.server.running.routes
      .filter(({ policy, method }) => policy !== 'public' && method !== 'HEAD')
      .map(({ method, url }) => [method, url.replace(/:[A-Za-z]+/g, 'x')] as const);
    const intake = ['/api/notify', '/api/notify/send', '/api/integrations/x', '/gotify/message', '/ntfy/x'];
    expect(paths.map(([, path]) => path)).toEqual(expect.arrayContaining(intake));
    const wide = await desk.server.token({ scopes: ['notify', 'panel', 'metrics'] });
    const taken: [string, string, number][] = [];
    for (const [method, path] of paths) {
      const { status } = await desk.server.call(method, `${path}?token=${wide}`, {
        ...(method !== 'GET' && { json }),
      });
      if (status !== 401) taken.push([method, path, status]);
    }
    expect(taken).toContainEqual(['POST', '/gotify/message', 200]);
    expect(taken.filter(([, path]) => !path.startsWith('/gotify/'))).toEqual([]);
  });

  it('opens nothing but intake, and a header counts more than the URL', async () => {
    const token = await desk.server.token({ scopes: ['notify'], allowInUrl: true });
    expect((await desk.server.call('GET', `/api/history?token=${token}`)).status).toBe(401);
    expect((await post('/api/notify', token, { authorization: 'Bearer nonsense' })).status).toBe(401);
    expect((await post('/api/notify', 'nonsense', { authorization: `Bearer ${token}` })).status).toBe(200);
    expect((await post(`/api/notify?token=${token}`, token)).status).toBe(401);
  });

  it('is refused from the next request on once the option is switched off', async () => {
    const create = { name: 'shelly', scopes: ['notify'], allowInUrl: true };
    const made = (await desk.server.call('POST', '/api/tokens', { token: desk.key, json: create })).json;
    expect([made.allowInUrl, (await post('/api/notify', made.token)).status]).toEqual([true, 200]);
    const patch = (change: object) =>
      desk.server.call('PATCH', `/api/tokens/${made.id}`, { token: desk.key, json: change });
    for (const scopes of [['notify', 'panel'], []]) {
      const wider = await patch({ scopes });
      expect([wider.status, wider.json.error]).toEqual([400, expect.stringMatching(/^allowInUrl: .*notify/)]);
    }
    expect((await patch({ allowInUrl: false })).json.allowInUrl).toBe(false);
    expect((await post('/api/notify', made.token)).status).toBe(401);
    expect(await send(made.token)).toBe(200);
    expect((await patch({ scopes: ['notify', 'panel'] })).status).toBe(200);
    expect((await patch({ allowInUrl: true })).status).toBe(400);
    const { json: log } = await desk.server.call('GET', '/api/audit', { token: desk.key });
    const entries = log.entries.filter(({ subject }: { subject: string }) => subject === made.id);
    expect(entries.map(({ detail }: { detail: object }) => detail)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ allowInUrl: true }),
        expect.objectContaining({ before: { allowInUrl: true }, after: { allowInUrl: false } }),
      ]),
    );
  });
});

describe('sending with GET', () => {
  const path = '/api/notify/send';
  const query = 'title=Door%20bell&message=T%C3%BCr+offen&level=warning&host=door&ttl=0';
  const sentWith = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
    desk.server.call(method, url, { headers });
  let token: string;
  beforeAll(async () => {
    token = await desk.server.token({ scopes: ['notify'], allowInUrl: true });
  });

  it('stores and answers as POST does, with the token in the query or in the header', async () => {
    const bearer = { authorization: `Bearer ${token}` };
    for (const [url, headers] of [
      [`${path}?${query}&token=${token}`, {}],
      [`${path}/?token=${token}&${query}`, {}],
      [`${path}?${query}`, bearer],
      [`${path}?title=Other&message=T%C3%BCr+offen`, { ...bearer, 'x-level': 'warning', 'x-host': 'door' }],
    ] as const) {
      const answer = await sentWith(url, headers);
      expect([url, answer.status, answer.json]).toEqual([url, 200, { ok: true, id: expect.any(String) }]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.has('ratelimit')).toBe(true);
      expect(await desk.find(answer.json.id)).toMatchObject({
        message: 'Tür offen',
        level: 'warning',
        host: 'door',
      });
    }
  });

  it.each([
    ['Tür', '%C3%BC'],
    ['door bell', '%20'],
  ])('says how to write %s', async (title, words) => {
    const url = `${path}?title=${title}&message=M&token=${token}`;
    const answer = await firstAnswer(desk.server.url, `GET ${url} HTTP/1.1\r\nHost: belfry.test\r\n\r\n`);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      { error: expect.stringContaining(words) },
    ]);
  });

  it.each([
    ['', 'title is required'],
    ['title=T', 'message is required'],
    ['title=T&title=U&message=M', 'title is given twice'],
    ['title=T&message=M&ttl=soon', 'ttl'],
    ['title=%E4&message=M', 'UTF-8'],
    ['title=T&message=M&idempotencyKey=', 'idempotencyKey must have 1 to 255'],
    ['title=T&message=M&idempotencyKey=a&idempotencyKey=b', 'idempotencyKey is given twice'],
  ])('%s is a 400 that says why (%s), and stores nothing', async (given, words) => {
    const head = await desk.head();
    const { status, json } = await sentWith(`${path}?${given}&token=${token}`);
    expect([status, json]).toEqual([400, { error: expect.stringContaining(words) }]);
    expect(json.error).not.toContain(token);
    expect(await desk.head()).toBe(head);
  });

  it('has the sizes of POST', async () => {
    const longest = (chars: number) =>
      sentWith(`${path}?title=T&message=${'%C3%BC'.repeat(chars)}&token=${token}`);
    expect((await sentWith(`${path}?title=T&message=${'m'.repeat(16_384)}&token=${token}`)).status).toBe(200);
    const long = await sentWith(`${path}?title=T&message=${'m'.repeat(16_385)}&token=${token}`);
    expect([long.status, long.json.error]).toEqual([400, expect.stringContaining('16384')]);
    expect((await longest(5_000)).status).toBe(200);
    expect((await longest(16_384)).status).toBe(431);
  });

  it('names what it does not read', async () => {
    const { json } = await sentWith(`${path}?title=T&message=M&priority=5&token=${token}`);
    expect(json.warning).toContain('"priority" is not read');
  });

  it('stores what a device repeats once, if it gives a key', async () => {
    const once = `${path}?title=T&message=M&token=${token}`;
    const first = await sentWith(`${once}&idempotencyKey=a%20b`);
    expect((await sentWith(`${once}&idempotencyKey=a+b`)).json.id).toBe(first.json.id);
    expect((await sentWith(once, { 'idempotency-key': 'a b' })).json.id).toBe(first.json.id);
    expect((await sentWith(`${once}&url=https://x.example/&idempotencyKey=a+b`)).status).toBe(409);
    expect((await sentWith(once)).json.id).not.toBe(first.json.id);
  });

  it('stores nothing for HEAD, for what a browser fetches in advance, and for other methods', async () => {
    const head = await desk.head();
    const url = `${path}?${query}&token=${token}`;
    const asked = await sentWith(url, {}, 'HEAD');
    expect([asked.status, asked.text, asked.headers.get('cache-control')]).toEqual([200, '', 'no-store']);
    expect(asked.headers.has('ratelimit')).toBe(true);
    for (const headers of [
      { 'sec-purpose': 'prefetch' },
      { 'sec-purpose': 'prefetch;prerender' },
      { purpose: 'prefetch' },
      { 'x-purpose': 'preview' },
      { 'x-moz': 'prefetch' },
    ]) {
      const answer = await sentWith(url, headers as unknown as Record<string, string>);
      expect([headers, answer.status, answer.json.error]).toEqual([
        headers,
        403,
        expect.stringContaining('in advance'),
      ]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    const posted = await sentWith(url, {}, 'POST');
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await sentWith(`/api/notify?${query}&token=${token}`)).status).toBe(405);
    expect(await desk.head()).toBe(head);
  });

  it('is only for tokens that are allowed in URLs', async () => {
    const head = await desk.head();
    const plain = await desk.server.token({ scopes: ['notify'] });
    const inUrl = await sentWith(`${path}?${query}&token=${plain}`);
    expect([inUrl.status, inUrl.json.error]).toEqual([401, expect.stringContaining('allowInUrl')]);
    for (const each of [plain, desk.token]) {
      const inHeader = await sentWith(`${path}?${query}`, { authorization: `Bearer ${each}` });
      expect([inHeader.status, inHeader.json.error]).toEqual([403, expect.stringContaining('allowInUrl')]);
    }
    expect((await sentWith(`${path}?${query}`)).json).toEqual({ error: 'unauthorized' });
    expect((await sentWith(`${path}?${query}`, { cookie: 'x=y' })).status).toBe(401);
    expect(await desk.head()).toBe(head);
  });

  it('has the limits of its token, of HEAD too', async () => {
    const limited = await desk.server.token({
      ...{ scopes: ['notify'], allowInUrl: true },
      rate: { perSecond: 0.001, burst: 2 },
    });
    const url = `${path}?title=T&message=M&token=${limited}`;
    expect((await sentWith(url)).status).toBe(200);
    expect((await sentWith(url, {}, 'HEAD')).status).toBe(200);
    const refused = await sentWith(url);
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true]);
    expect((await sentWith(url, {}, 'HEAD')).status).toBe(429);
    expect((await sentWith(`${url}&level=critical`)).status).toBe(200);
  });
});

describe('the record', () => {
  it('says when and from where a token was last used, and a refused use is none', async () => {
    // On its way down a server writes what it has noted: no need to wait for that.
    const first = await TestServer.start({ BELFRY_TRUSTED_PROXIES: '127.0.0.1' });
    const token = await first.token({ scopes: ['notify'], allowFrom: ['198.51.100.0/24'] });
    const key = await first.key();
    const before = Date.now();
    const statuses: number[] = [];
    for (const from of ['203.0.113.1', '198.51.100.7', '203.0.113.1']) {
      statuses.push((await first.notify(token, sent, { 'x-forwarded-for': from })).status);
    }
    const after = Date.now();
    expect(statuses).toEqual([401, 200, 401]);
    await first.stop({ keep: true });

    const second = await TestServer.start({}, first.folder);
    const { json } = await second.call('GET', '/api/tokens', { token: key });
    const listed = json.tokens.find(({ id }: { id: string }) => id === idOf(token));
    expect(listed.lastUsedFrom).toBe('198.51.100.7');
    expect(Date.parse(listed.lastUsedAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(listed.lastUsedAt)).toBeLessThanOrEqual(after);
    await second.stop();
  });
});
