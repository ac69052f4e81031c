import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, IntakeDesk, uuidv7 } from '../support/intake.ts';
import type { CallOptions } from '../support/server.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off' });
});
afterAll(() => desk.close());

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const send = async (method: string, path: string, options: CallOptions) =>
  desk.server.call(method, path, { token: desk.token, ...options });

describe('publishing as to ntfy', () => {
  it.each([
    // curl -d sends a form's type, curl -T none; a body that looks like JSON is a message like any other.
    ['PUT', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=b&c'],
    ['POST', { 'content-type': 'application/octet-stream' }, 'Backup done'],
    ['POST', { 'content-type': 'application/json' }, '{"a":1}'],
    ['POST', { 'content-type': 'text' }, 'a type that is none'],
  ])('takes any text as the message: %s %j', async (method, headers, body) => {
    const path = '/ntfy/backups?priority=high';
    const { status, json } = await send(method, path, {
      body,
      headers: { ...headers, Title: bytesOf('Žlutý') },
    });
    expect([status, json]).toEqual([
      200,
      {
        id: expect.stringMatching(uuidv7),
        time: expect.any(Number),
        event: 'message',
        topic: 'backups',
        title: 'Žlutý',
        message: body,
      },
    ]);
    expect(await desk.find(json.id)).toMatchObject({ message: body, level: 'warning', host: 'backups' });
  });

  it('takes JSON at its root, with the slash and without it', async () => {
    const body = JSON.stringify({ topic: 'mytopic', title: 'Low disk', message: '5.1 GB', priority: 4 });
    for (const path of ['/ntfy', '/ntfy/']) {
      const type = path === '/ntfy' ? 'application/x-www-form-urlencoded' : 'application/octet-stream';
      const headers = { 'content-type': type };
      const { status, json } = await send('POST', path, { body, headers });
      expect([path, status, json.topic]).toEqual([path, 200, 'mytopic']);
      expect(await desk.find(json.id)).toMatchObject({
        title: 'Low disk',
        host: 'mytopic',
        level: 'warning',
      });
    }
  });

  it('takes the token as ntfy takes its own, but not from the URL', async () => {
    const { token, server } = desk;
    const auth = Buffer.from(`Bearer ${token}`).toString('base64url');
    const publish = (query: string, headers: Record<string, string>) =>
      server.call('POST', `/ntfy/t${query}`, { body: 'x', headers });
    for (const headers of [basic(`:${token}`), basic(`phil:${token}`), { authorization: `Bearer ${token}` }])
      expect((await publish('', headers)).status).toBe(200);
    const refused = await publish(`?auth=${auth}`, {});
    expect([refused.status, refused.json.error]).toEqual([
      401,
      expect.stringMatching(/^unauthorized: .*auth.* Authorization: Bearer/),
    ]);
  });

  it('refuses what it cannot do, and stores nothing', async () => {
    const head = await desk.head();
    const refused: [method: string, path: string, options: CallOptions, status: number][] = [
      ['POST', '/ntfy/t', { body: 'x', headers: { delay: '30min' } }, 400],
      ['POST', '/ntfy/t', { body: 'x', headers: { priority: '9' } }, 400],
      ['POST', '/ntfy/a%20b', { body: 'x' }, 400],
      ['PUT', '/ntfy/t', { body: Buffer.from('caf\xe9', 'latin1') }, 400],
      ['PUT', '/ntfy/t', { body: 'x', headers: { 'content-encoding': 'gzip' } }, 415],
      ['POST', '/ntfy', { json: { message: 'no topic' } }, 400],
      ['POST', '/ntfy', { json: [] }, 400],
      ['POST', '/ntfy', {}, 400],
      ['GET', '/ntfy/t', {}, 405],
      ['POST', '/ntfy/t/x', { body: 'x' }, 404],
      ['POST', '/ntfy/t/publish', { body: 'x' }, 405],
    ];
    for (const [method, path, options, status] of refused) {
      const answer = await send(method, path, options);
      expect([method, path, answer.status, answer.json]).toEqual([
        method,
        path,
        status,
        { error: expect.any(String), code: expect.any(Number), http: status, link: expect.any(String) },
      ]);
    }
    expect(await desk.head()).toBe(head);
  });
});

describe('a file published as to ntfy', () => {
  const picture = (bytes: number) => Buffer.alloc(bytes, 0xd8);
  const put = async (body: Buffer | string, headers: Record<string, string>) => {
    const { status, json } = await send('PUT', '/ntfy/gate', { body, headers });
    return [status, json.message ?? json.error];
  };
  const text = { Title: 'Person at the gate', Message: 'Front camera' };

  it('is not kept, and the message says so', async () => {
    const named = { ...text, Filename: 'gate.jpg' };
    for (const bytes of [100, 70_000, 20_000_000])
      expect(await put(picture(bytes), named)).toEqual([200, 'Front camera\n\n(gate.jpg was not kept)']);
    expect(await put(picture(100), text)).toEqual([200, 'Front camera\n\n(the file was not kept)']);
    expect(await put(picture(100), { 'x-filename': 'a.jpg' })).toEqual([200, '(a.jpg was not kept)']);
    expect(await put('a log', { f: 'a.log' })).toEqual([200, '(a.log was not kept)']);
    expect((await put(picture(100), {}))[0]).toBe(400);
  });

  it('that is linked becomes the link, and the body is the message', async () => {
    const headers = { attach: 'https://cam.example/a.jpg', filename: 'a.jpg', click: 'homeassistant://cam' };
    const { json } = await send('PUT', '/ntfy/gate', { body: 'A person', headers });
    expect(await desk.find(json.id)).toMatchObject({
      message: 'A person\n\nhttps://cam.example/a.jpg',
      url: 'https://cam.example/a.jpg',
    });
  });

  it('that is a very long text is the message, cut like any other', async () => {
    const [status, message] = await put('ä'.repeat(70_000), {});
    expect([status, message.length, message.slice(-2)]).toEqual([200, 16_384, 'ä…']);
  });
});

it('headers of ntfy may be Latin-1, which is all that fetch can send', async () => {
  const headers = { authorization: `Bearer ${desk.token}`, Title: 'Tür' };
  const answer = await fetch(`${desk.server.url}/ntfy/door`, { method: 'POST', body: 'offen', headers });
  expect(await answer.json()).toMatchObject({ title: 'Tür', message: 'offen' });
});

it('clients of ntfy learn whether the server is there, and who they are', async () => {
  const { server, token } = desk;
  const health = await server.call('GET', '/ntfy/v1/health');
  expect([health.status, health.json]).toEqual([200, { healthy: true }]);
  const account = await server.call('GET', '/ntfy/v1/account', { headers: basic(`phil:${token}`) });
  expect([account.status, account.json]).toEqual([
    200,
    { username: 'ci', role: 'user', stats: expect.objectContaining({ messages: 0, messages_remaining: 0 }) },
  ]);
  const phone = await server.token({ scopes: ['panel'], name: 'phone' });
  const ofPhone = await server.call('GET', '/ntfy/v1/account', { headers: basic(`x:${phone}`) });
  expect([ofPhone.status, ofPhone.json.username]).toEqual([200, 'phone']);
  const operator = await server.token({ scopes: ['metrics'] });
  expect((await server.call('GET', '/ntfy/v1/account', { headers: basic(`x:${operator}`) })).status).toBe(
    403,
  );
  expect((await server.call('GET', '/ntfy/v1/account', { headers: basic('phil:nonsense') })).status).toBe(
    401,
  );
});

it('errors have the fields that clients of ntfy and of Gotify read, and elsewhere their text alone', async () => {
  const { server, token } = desk;
  const answer = async (method: string, path: string, headers = {}) =>
    (await server.call(method, path, { headers })).json;
  const link = 'https://docs.ntfy.sh/publish/';
  expect(await answer('POST', '/ntfy/t')).toEqual({ error: 'unauthorized', code: 40101, http: 401, link });
  expect(await answer('POST', '/ntfy/a%20b', basic(`:${token}`))).toEqual({
    error: expect.stringMatching(/^topic must/),
    ...{ code: 40000, http: 400, link },
  });
  expect(await answer('GET', '/ntfy/a/b/c?x')).toMatchObject({ code: 40401, http: 404, link });
  expect(await answer('POST', '/gotify/message')).toEqual({
    error: 'unauthorized',
    errorCode: 401,
    errorDescription: 'unauthorized',
  });
  expect(await answer('PUT', '/gotify/message')).toMatchObject({ errorCode: 405 });
  expect(await answer('POST', '/gotifyx')).toEqual({ error: expect.any(String) });
});

describe('publishing with GET as to ntfy', () => {
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    desk.server.call(method, path, { headers: { ...basic(`shelly:${desk.token}`), ...headers } });

  it.each(['publish', 'send', 'trigger'])('takes the parameters of a POST: %s', async (word) => {
    const { status, json, headers } = await get(`/ntfy/door/${word}?title=Door&message=open%20now&p=4`);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(json).toMatchObject({ topic: 'door', title: 'Door', message: 'open now' });
    expect(await desk.find(json.id)).toMatchObject({ level: 'warning', host: 'door' });
  });

  it('stores nothing for HEAD, without a token, or with the token in the URL', async () => {
    const head = await desk.head();
    const path = '/ntfy/door/publish?message=m';
    const auth = Buffer.from(`Bearer ${desk.token}`).toString('base64url');
    const answer = await get(path, {}, 'HEAD');
    expect([answer.status, answer.headers.has('ratelimit')]).toEqual([200, true]);
    expect((await desk.server.call('GET', `${path}&auth=${auth}`)).status).toBe(401);
    expect((await desk.server.call('GET', path, { headers: { cookie: 'x=y' } })).status).toBe(401);
    expect(await desk.head()).toBe(head);
  });

  it.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ origin: 'https://evil.example' }],
    [{ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', 'accept-language': 'de' }],
  ])('refuses a browser, which is not asked for a password either: %j', async (headers) => {
    const head = await desk.head();
    const { status, json } = await get('/ntfy/door/publish?message=m', headers);
    expect([status, json.error]).toEqual([403, expect.stringContaining('a browser')]);
    const asked = await desk.server.call('GET', '/ntfy/door/publish', { headers });
    expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await desk.head()).toBe(head);
  });
});

describe('sending as to Gotify', () => {
  it.each([
    ['JSON', { json: { title: 'my title', message: 'my message', priority: 5 } }],
    [
      'a form',
      {
        body: 'title=my+title&message=my+message&priority=5',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
    ],
    [
      'a multipart form, as of curl -F',
      {
        body: ['title', 'message', 'priority']
          .map(
            (name, i) =>
              `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${['my title', 'my message', '5'][i]}\r\n`,
          )
          .concat('--b--\r\n')
          .join(''),
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      },
    ],
  ])('takes %s, with the token in X-Gotify-Key', async (_, options: CallOptions) => {
    const headers = { ...options.headers, 'x-gotify-key': desk.token };
    const { status, json } = await desk.server.call('POST', '/gotify/message', { ...options, headers });
    expect([status, json]).toEqual([
      200,
      {
        id: expect.any(Number),
        appid: 0,
        title: 'my title',
        message: 'my message',
        priority: 5,
        date: expect.any(String),
        extras: { belfry: { id: expect.any(String) } },
      },
    ]);
    expect(Number.isSafeInteger(json.id)).toBe(true);
    expect(await desk.find(json.extras.belfry.id)).toMatchObject({ title: 'my title', level: 'warning' });
  });

  it('takes the token from the URL, of its scope alone', async () => {
    const json = { title: 'my title', message: 'm' };
    const sent = await desk.server.call('POST', `/gotify/message?token=${desk.token}`, { json });
    expect(sent.status).toBe(200);
    expect(await desk.find(sent.json.extras.belfry.id)).toMatchObject({ title: 'my title', message: 'm' });
    const screen = await desk.server.token({ scopes: ['panel'] });
    const statusAt = async (path: string) => (await desk.server.call('POST', path, { json })).status;
    expect(await statusAt(`/gotify/message?token=${screen}`)).toBe(403);
    expect(await statusAt('/gotify/message?token=nonsense')).toBe(401);
  });

  it('refuses what is none, and stores nothing', async () => {
    const head = await desk.head();
    const message = { message: 'm' };
    for (const json of [
      {},
      [],
      { message: '' },
      { ...message, priority: 'high' },
      { ...message, extras: { 'client::notification': 1 } },
    ])
      expect([json, (await send('POST', '/gotify/message', { json })).status]).toEqual([json, 400]);
    expect(
      (await send('POST', '/gotify/message', { body: '<a/>', headers: { 'content-type': 'text/xml' } }))
        .status,
    ).toBe(415);
    expect(await desk.head()).toBe(head);
  });
});
