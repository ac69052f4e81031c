import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { appHeaders, basic, parseStrictly, subscribeSocket } from '#test/support/ntfy-client.ts';
import { TestServer } from '#test/support/server.ts';
import { isMessage, phoneWorld, titled } from './phones-world.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_HEARTBEAT_MS: '1000' });
});
afterAll(() => server.stop());

const world = () => phoneWorld(server);

describe('the Android app', () => {
  test('adds a topic, polls it and follows it; each message has the fields that it reads', async () => {
    const { send, open, get, poll, panels } = await world();
    expect((await get('oncall/auth')).json).toEqual({ success: true });
    expect(await poll('oncall/json?poll=1&since=all')).toEqual([]);
    expect(await panels()).toEqual([]);
    const stream = await open('oncall/json?since=none');
    await stream.next(({ event }) => event === 'open');
    expect(stream.events).toMatchObject([{ event: 'open', topic: 'oncall' }]);
    await send({
      ...{ title: 'Disk full', message: 'db1 97 %', level: 'critical' },
      ...{ host: 'db1', url: 'https://example.org/r', labels: { env: 'prod' } },
    });
    const message = await stream.next(isMessage);
    expect(message).toEqual({
      topic: 'oncall',
      id: expect.stringMatching(/^[A-Za-z0-9]{12}$/),
      sequence_id: expect.stringMatching(/^[\w-]{22}$/),
      time: expect.any(Number),
      expires: message.time + 43_200,
      event: 'message',
      title: 'Disk full',
      message: 'db1 97 %',
      priority: 5,
      tags: ['fire', 'critical', 'db1', 'env=prod'],
      click: 'https://example.org/r',
      actions: [
        {
          ...{ id: 'acknowledge', action: 'http', label: 'Acknowledge', clear: true, method: 'POST' },
          url: expect.stringContaining(`${server.url}/ntfy/act/`),
        },
      ],
    });
    expect(await poll('oncall/json?poll=1&since=all')).toEqual([message]);
    expect(await poll(`oncall/json?poll=1&since=${message.id}`)).toEqual([]);
    expect(await panels()).toMatchObject([
      { name: 'oncall', topic: 'oncall', kind: 'phone', online: true, lag: 0, version: 'ntfy/1.25.0' },
    ]);
    stream.close();
    await expect.poll(async () => (await panels())[0].online).toBe(false);
  });

  test('follows by WebSocket: a frame for each message, and a connection that ends without a close frame', async () => {
    const { send, openSocket, call, phone } = await world();
    const stream = await openSocket('oncall/ws?since=none');
    await stream.next(({ event }) => event === 'open');
    await send({ title: 'one', level: 'warning' });
    // The app shows the tag as an emoji, once.
    expect(await stream.next(titled('one'))).toMatchObject({
      ...{ topic: 'oncall', priority: 4, tags: ['warning'] },
    });
    const { tokens } = (await call('GET', '/api/tokens')).json;
    const { id } = tokens.find(({ name }: { name: string }) => name === 'phone');
    await call('DELETE', `/api/tokens/${id}`);
    expect(await stream.ended).toEqual({ isOrderly: false });
    await expect(
      subscribeSocket(`${server.url}/ntfy/oncall/ws?since=none`, appHeaders(phone)),
    ).rejects.toThrow('status 401');
  });

  test('is cut off within two seconds when its token is revoked, not in an orderly way, and gets 401 then', async () => {
    const { open, call, get } = await world();
    const stream = await open('oncall/json?since=none');
    const { tokens } = (await call('GET', '/api/tokens')).json;
    const { id } = tokens.find(({ name }: { name: string }) => name === 'phone');
    await call('DELETE', `/api/tokens/${id}`);
    expect(await stream.ended).toEqual({ isOrderly: false });
    expect(await get('oncall/auth')).toMatchObject({
      status: 401,
      json: { code: 40101, http: 401, error: expect.any(String), link: expect.any(String) },
    });
  });

  test('that is quiet gets a line at least every 45 seconds', async () => {
    const { open } = await world();
    const stream = await open('oncall/json?since=none');
    const keepalive = await stream.next(({ event }) => event === 'keepalive');
    expect(keepalive).toEqual({
      ...{ id: stream.events[0]?.id, time: expect.any(Number), event: 'keepalive', topic: 'oncall' },
    });
  });

  test('reads below a base address that ends with a slash', async () => {
    const { get, open } = await world();
    expect((await get('/oncall/auth')).json).toEqual({ success: true });
    expect((await open('/oncall/json?since=none')).events).toHaveLength(0);
  });
});

describe('an alarm on a phone', () => {
  test('is changed without a sound by a repeat, rings with a higher level, and is taken off when it is cleared', async () => {
    const { send, open, call } = await world();
    const stream = await open('oncall/json?since=none');
    const key = 'disk db1';
    await send({ title: 'first', key, level: 'error' });
    await send({ title: 'again', key, level: 'error' });
    const again = await stream.next(titled('again'));
    const id = await send({ title: 'worse', key, level: 'critical' });
    const worse = await stream.next(titled('worse'));
    await call('POST', `/api/notifications/${id}/clear`);
    await stream.next((event) => event.event === 'message_clear' && event.sequence_id === worse.sequence_id);
    const sequences = stream.events.flatMap(({ event, sequence_id, title }) =>
      event === 'open' ? [] : [[event, title, sequence_id]],
    );
    expect(sequences).toEqual([
      ['message', 'first', again.sequence_id],
      ['message', 'again', again.sequence_id],
      ['message_clear', undefined, again.sequence_id],
      ['message', 'worse', worse.sequence_id],
      ['message_clear', undefined, worse.sequence_id],
    ]);
    expect(again.sequence_id).not.toBe(worse.sequence_id);
    expect(new Set(stream.events.map((event) => event.id)).size).toBe(stream.events.length);
  });

  test.each([
    ['acknowledged', 'acknowledge', {}],
    ['shelved', 'shelve', { forMs: 3_600_000 }],
  ])(
    'that is %s is taken off, comes back when that is taken back, and not by a repeat',
    async (_, action, body) => {
      const { send, open, call } = await world();
      const stream = await open('oncall/json?since=none');
      const id = await send({ title: 'first', key: 'k' });
      const { sequence_id } = await stream.next(titled('first'));
      await call('POST', `/api/alarms/${id}/${action}`, body);
      await stream.next(({ event }) => event === 'message_clear');
      await send({ title: 'repeat', key: 'k' });
      await call('DELETE', `/api/alarms/${id}/${action}`);
      const back = await stream.next(titled('repeat'));
      expect(back).toMatchObject({ event: 'message', sequence_id });
      const last = await send({ title: 'last' });
      expect(last).toBeDefined();
      await stream.next(titled('last'));
      expect(stream.events.filter(titled('repeat'))).toHaveLength(1);
    },
  );

  test('that expires and comes again rings; a repeat while it stands does not', async () => {
    const { send, open, call, panels } = await world();
    const stream = await open('oncall/json?since=none');
    await send({ title: 'one', key: 'k', ttl: 60_000 });
    await send({ title: 'two', key: 'k', ttl: 300 });
    const two = await stream.next(titled('two'));
    expect(two.sequence_id).toBe((await stream.next(titled('one'))).sequence_id);
    const [{ id }] = await panels();
    await expect
      .poll(async () => (await call('GET', `/api/panels/${id}/showing`)).json.notifications)
      .toEqual([]);
    await send({ title: 'three', key: 'k', ttl: 300 });
    expect((await stream.next(titled('three'))).sequence_id).not.toBe(two.sequence_id);
  });

  test('that ended or was taken care of while the phone was away does not ring when it comes back', async () => {
    const { send, open, poll, call } = await world();
    // What this one gets stays in memory.
    await open('other/json?since=none');
    const stream = await open('oncall/json?since=none');
    await send({ title: 'before' });
    const { id: since } = await stream.next(titled('before'));
    stream.close();
    const [ended, taken] = [await send({ title: 'ended', key: 'a' }), await send({ title: 'taken' })];
    await send({ title: 'stands', key: 'b' });
    // More than are read at once.
    for (let i = 0; i < 250; i++) await send({ title: 'repeats', key: 'c' });
    await call('POST', `/api/notifications/${ended}/clear`);
    await call('POST', `/api/alarms/${taken}/acknowledge`);
    const clear = 'message_clear';
    const expected = ['stands', 'repeats', clear, clear];
    const missed = await poll(`oncall/json?poll=1&since=${since}`);
    expect(missed.map(({ event, title }) => title ?? event)).toEqual(expected);
    const back = await open(`oncall/json?since=${since}`);
    await back.next(({ id }) => id === missed.at(-1)?.id);
    expect(back.events.map(({ event, title }) => title ?? event)).toEqual(['open', ...expected]);
  });

  test('is on the panel as the rules and the level of the panel say', async () => {
    const { send, open, call, register } = await world();
    const id = await register('Night duty');
    await call('PATCH', `/api/panels/${id}`, { display: { minLevel: 'error' } });
    await call('POST', '/api/rules', {
      ...{ name: 'muted', when: { title: { contains: 'noise' } }, then: { mute: true } },
    });
    const stream = await open('night-duty/json?since=none');
    for (const [title, level] of [
      ['noise', 'critical'],
      ['low', 'warning'],
      ['high', 'error'],
    ])
      await send({ title, level });
    await stream.next(titled('high'));
    expect(stream.events.filter(isMessage)).toHaveLength(1);
  });
});

describe('a subscription', () => {
  test('follows a panel by its topic, which stays when the panel is renamed', async () => {
    const { open, call, register, send, panels } = await world();
    const id = await register('NOC east', ['east']);
    await call('PATCH', `/api/panels/${id}`, { name: 'West' });
    const stream = await open('noc-east/json?since=none');
    await send({ title: 'one' });
    expect(await stream.next(titled('one'))).toMatchObject({ topic: 'noc-east' });
    expect(await panels()).toHaveLength(1);
    expect((await open(`${id}/json?since=none`)).events).toHaveLength(0);
    expect(await panels()).toHaveLength(1);
  });

  test('of several topics gets what is for any of them, and what is for several of them once', async () => {
    const { open, call, register, send, panels } = await world();
    const [a, b] = [await register('a', ['east']), await register('b', ['west'])];
    for (const name of ['east', 'west'])
      await call('POST', '/api/rules', {
        ...{ name, when: { title: { contains: name } }, then: { panels: { tags: [name] } } },
      });
    const stream = await open('b,a,b/json?since=none');
    await send({ title: 'in the east' });
    await send({ title: 'in the west' });
    await send({ title: 'all' });
    await stream.next(titled('all'));
    const got = stream.events.map(({ event, topic, title }) => [topic, title ?? event]);
    expect(got[0]).toEqual(['b,a', 'open']);
    expect(got).toContainEqual(['a', 'in the east']);
    expect(got).toContainEqual(['b', 'in the west']);
    expect(got.filter(([, title]) => title === 'all')).toHaveLength(1);
    const online = (await panels()).filter((panel: { online: boolean }) => panel.online);
    expect(online.map(({ id }: { id: string }) => id).sort()).toEqual([a, b].sort());
  });

  test('with filters gets what passes all of them', async () => {
    const { poll, send, register } = await world();
    await register('p');
    await send({ title: 'a', message: 'x', level: 'critical', host: 'h1', labels: { env: 'prod' } });
    await send({ title: 'b', message: 'y', level: 'info', host: 'h1' });
    const found = async (filter: string) => (await poll(`p/json?poll=1&${filter}`)).map(({ title }) => title);
    expect(await found('priority=max')).toEqual(['a']);
    expect(await found('p=3,4')).toEqual(['b']);
    expect(await found('tags=h1')).toEqual(['a', 'b']);
    expect(await found('tags=h1,env%3Dprod')).toEqual(['a']);
    expect(await found('title=b&message=y')).toEqual(['b']);
    expect(await found('title=b&message=x')).toEqual([]);
    const [first] = await poll('p/json?poll=1');
    expect(await found(`id=${first?.id}`)).toEqual(['a']);
  });

  test('begins where `since` says', async () => {
    const { poll, send, register } = await world();
    await register('p');
    const before = Math.floor(Date.now() / 1_000);
    for (const title of ['a', 'b']) await send({ title });
    const found = async (since: string) =>
      (await poll(`p/json?poll=1&since=${since}`)).map(({ title }) => title);
    const [first] = await poll('p/json?poll=1');
    expect(await found('all')).toEqual(['a', 'b']);
    expect(await found('none')).toEqual([]);
    expect(await found('latest')).toEqual(['b']);
    expect(await found(String(before))).toEqual(['a', 'b']);
    expect(await found(String(before + 3_600))).toEqual([]);
    expect(await found('10m')).toEqual(['a', 'b']);
    expect(await found('1h30m5.5s')).toEqual(['a', 'b']);
    expect(await found('1ms')).toEqual([]);
    expect(await found(first?.id ?? '')).toEqual(['b']);
    // An id that nobody gave out: what stands now.
    expect(await found('zzzzzzzzzzzz')).toEqual(['a', 'b']);
  });

  test('that begins with the latest message follows from there', async () => {
    const { open, send, register } = await world();
    await register('p');
    for (const title of ['a', 'b']) await send({ title });
    const stream = await open('p/json?since=latest');
    await send({ title: 'c' });
    await stream.next(titled('c'));
    expect(stream.events.map(({ event, title }) => title ?? event)).toEqual(['open', 'b', 'c']);
  });

  test('comes as Server-Sent Events and as text, too', async () => {
    const { get, send, register } = await world();
    await register('p');
    await send({ title: 'a', message: 'two\nlines' });
    const sse = await get('p/sse?poll=1');
    expect(sse.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(parseStrictly(/^data: (.*)\n\n$/.exec(sse.text)?.[1] ?? '')).toMatchObject({ title: 'a' });
    const raw = await get('p/raw?poll=1');
    expect(raw.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(raw.text).toBe('two lines\n');
    expect((await get('p/json?poll=1')).headers.get('content-type')).toBe(
      'application/x-ndjson; charset=utf-8',
    );
  });
});

test('a request that asks for another protocol is answered as one that does not', async () => {
  const { tenant } = await world();
  const token = await server.token({ tenant });
  const body = JSON.stringify({ title: 'by HTTP/2, if you can', message: 'm' });
  const { statusCode } = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const upgrade = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
    const options = { method: 'POST', headers: { ...headers, ...upgrade } };
    request(`${server.url}/api/notify`, options, (answer) => resolve(answer.resume()))
      .on('error', reject)
      .end(body);
  });
  expect(statusCode).toBe(200);
});

test('a handshake that is not valid is refused, and a client that sends more than pongs is dropped', async () => {
  const { phone, openSocket, panels } = await world();
  const stream = await openSocket('p/ws');
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { ...basic(phone), connection: 'upgrade', upgrade: 'websocket' };
    request(`${server.url}/ntfy/p/ws`, { headers }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end();
  });
  expect(status).toBe(400);
  const talkative = new WebSocket(`${server.url.replace('http', 'ws')}/ntfy/p/ws`, { headers: basic(phone) });
  const closed = new Promise((resolve) => talkative.on('close', resolve));
  talkative.on('error', () => undefined);
  talkative.on('open', () => talkative.send('x'.repeat(100_000)));
  await closed;
  expect(await panels()).toMatchObject([{ topic: 'p', online: true }]);
  stream.close();
  await expect.poll(async () => (await panels())[0].online).toBe(false);
});

test('clients learn what the server has before they sign in', async () => {
  expect(await server.call('GET', '/ntfy/v1/config')).toMatchObject({
    status: 200,
    json: { enable_login: false, require_login: true, disallowed_topics: expect.arrayContaining(['docs']) },
  });
  expect((await server.call('GET', '/ntfy/v1/health')).json).toEqual({ healthy: true });
});

test('the connection of a panel that is deleted ends, and its topic is registered anew', async () => {
  const { open, call, panels } = await world();
  const stream = await open('p/json?since=none');
  await stream.next(({ event }) => event === 'open');
  const [{ id }] = await panels();
  await call('DELETE', `/api/panels/${id}`);
  expect(await stream.ended).toEqual({ isOrderly: false });
  await open('p/json?since=none');
  expect(await panels()).toMatchObject([{ topic: 'p', kind: 'phone' }]);
});

test('what a phone has taken counts as sent to it, and not as shown', async () => {
  const { open, call, send } = await world();
  const stream = await open('p/json?since=none');
  const id = await send({ title: 'one' });
  await stream.next(titled('one'));
  await expect
    .poll(async () => (await call('GET', `/api/notifications/${id}`)).json.deliveries)
    .toMatchObject([{ panel: { name: 'p' }, online: true, sent: true, shownAt: null }]);
});

describe('a topic is refused', () => {
  test.each([
    ['p/json?since=1d', 'since'],
    ['p/json?since=yesterday', 'since'],
    ['p/json?since=-5', 'since'],
    ['p/json?priority=6', 'priority'],
    ['p/json?priority=1,,2', 'priority'],
    ['docs/json', 'topic'],
    ['p,/json', 'topic'],
    [`${'x'.repeat(65)}/json`, 'topic'],
    ['p%20q/auth', 'topic'],
    [`${Array.from({ length: 31 }, (_, i) => `t${i}`).join(',')}/json`, 'topics'],
    ['p/ws', 'WebSocket'],
  ])('with 400: %s', async (path, word) => {
    const { get, panels } = await world();
    expect(await get(path)).toMatchObject({
      status: 400,
      json: { http: 400, code: 40000, error: expect.stringContaining(word) },
    });
    expect(await panels()).toEqual([]);
  });

  test('with 404 when there are a thousand, and none of them is registered', async () => {
    const { get, panels } = await world();
    const many = Array.from({ length: 1_000 }, (_, i) => `t${i}`).join(',');
    expect((await get(`${many}/json`)).status).toBe(404);
    expect(await panels()).toEqual([]);
  });

  test('without a token, and with one that only sends', async () => {
    const { tenant } = await world();
    const sender = await server.token({ tenant, scopes: ['notify'] });
    expect(await server.call('GET', '/ntfy/p/auth')).toMatchObject({ status: 401, json: { code: 40101 } });
    expect(await server.call('GET', '/ntfy/p/auth', { token: sender })).toMatchObject({
      status: 403,
      json: { code: 40301, http: 403 },
    });
    await expect(subscribeSocket(`${server.url}/ntfy/p/ws`, {})).rejects.toThrow('status 401');
  });

  test('to a token that is bound to another panel, also together with its own', async () => {
    const { tenant, register, get, open, send } = await world();
    const [mine] = [await register('mine'), await register('other')];
    const bound = await server.token({ tenant, scopes: ['panel'], panelId: mine as string });
    expect((await get('mine/auth', bound)).status).toBe(200);
    for (const path of ['other/auth', 'nobodys/auth', 'other/json?poll=1', 'mine,other/json', 'nobodys/json'])
      expect(await get(path, bound)).toMatchObject({ status: 403, json: { code: 40301 } });
    const stream = await open('mine/json?since=none', bound);
    await send({ title: 'one' });
    await stream.next(titled('one'));
  });

  test('of another tenant: the same topic is another panel there', async () => {
    const [one, other] = [await world(), await world()];
    const streams = [await one.open('p/json?since=none'), await other.open('p/json?since=none')] as const;
    await one.send({ title: 'of one' });
    await other.send({ title: 'of the other' });
    await streams[0].next(titled('of one'));
    await streams[1].next(titled('of the other'));
    expect(streams.map(({ events }) => events.filter(isMessage).length)).toEqual([1, 1]);
    const id = streams[0].events.at(-1)?.id;
    expect((await other.poll(`p/json?poll=1&since=${id}`)).some(titled('of one'))).toBe(false);
  });

  test('to a viewer when it does not exist', async () => {
    const { tenant, get, register } = await world();
    const viewer = await server.key('viewer', tenant);
    await register('p');
    expect((await get('p/json?poll=1', viewer)).status).toBe(200);
    expect(await get('q/json', viewer)).toMatchObject({ status: 404, json: { code: 40401 } });
  });
});

test('subscribing to a new topic is in the audit log, and polling or asking is not', async () => {
  const { get, open, call } = await world();
  await get('p/auth');
  await get('p/json?poll=1');
  await server.call('HEAD', '/ntfy/p/json');
  await open('p/json');
  await open('p/json');
  const { entries } = (await call('GET', '/api/audit')).json;
  const created = entries.filter(({ action }: { action: string }) => action === 'panel.create');
  expect(created).toMatchObject([{ by: 'token phone' }]);
});
