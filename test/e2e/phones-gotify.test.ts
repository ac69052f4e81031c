import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type GotifyMessage, key, openGotify, parseGotify, signIn } from '#test/support/gotify-client.ts';
import { openSocket } from '#test/support/ntfy-client.ts';
import { RawConnection } from '#test/support/raw-http.ts';
import { TestServer } from '#test/support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({
    BELFRY_HEARTBEAT_MS: '1000',
    BELFRY_BASE_URL: 'https://belfry.example.org',
  });
});
afterAll(() => server.stop());

/** A tenant with the token of a phone. */
async function world() {
  const { tenant, send, call } = await server.newTenant();
  const phone = await server.token({ tenant, scopes: ['panel'], name: 'phone' });
  const ask = (method: string, path: string, headers: Record<string, string> = key(phone), json?: unknown) =>
    server.call(method, `/gotify/${path}`, { headers, ...(json !== undefined && { json }) });
  const get = async (path: string) => (await ask('GET', path)).json;
  const open = async (token = phone) => {
    const stream = await openGotify(server.url, token);
    onTestFinished(() => stream.close());
    return stream;
  };
  const list = async (query = '', token = phone): Promise<readonly GotifyMessage[]> => {
    const { json } = await ask('GET', `message${query}`, key(token));
    return json.messages.map((each: unknown) => parseGotify(JSON.stringify(each)));
  };
  const titles = async (query = '') => (await list(query)).map(({ title }) => title);
  const panels = async () => (await call('GET', '/api/panels')).json.panels;
  const signedIn = (name = 'Pixel 8') => ask('POST', 'client', signIn(phone), { name });
  const revoke = async (named: string) => {
    const { tokens } = (await call('GET', '/api/tokens')).json;
    const { id } = tokens.find((each: { name: string }) => each.name === named);
    await call('DELETE', `/api/tokens/${id}`);
  };
  return { tenant, phone, send, call, ask, get, open, list, titles, panels, signedIn, revoke };
}
const titled = (title: string) => (message: GotifyMessage) => message.title === title;

describe('the Android app', () => {
  test('asks for the server, signs in with a token as password, and becomes a panel of its name', async () => {
    const { ask, get, signedIn, panels, phone } = await world();
    expect((await ask('GET', 'version', {})).json).toEqual({
      ...{ version: expect.stringMatching(/^\d+\.\d+\.\d+$/), commit: '', buildDate: '' },
    });
    expect((await ask('GET', 'gotifyinfo', {})).json).toMatchObject({ register: false, oidc: false });
    expect((await ask('GET', 'health', {})).json).toEqual({ health: 'green', database: 'green' });
    const user = { id: 1, name: 'phone', admin: false };
    expect((await ask('GET', 'current/user', signIn(phone))).json).toEqual(user);
    expect(await panels()).toEqual([]);
    const client = (await signedIn()).json;
    expect(client).toMatchObject({ id: 1, name: 'Pixel 8', token: phone });
    expect(await get('current/user')).toEqual(user);
    expect(await get('client')).toEqual([client]);
    expect(await panels()).toMatchObject([{ name: 'Pixel 8', kind: 'phone', online: false }]);
  });

  test('that signs in again with the same token is the same panel; another one of its name gets a number', async () => {
    const { ask, signedIn, panels, tenant } = await world();
    await signedIn();
    await signedIn('Another name');
    const other = await server.token({ tenant, scopes: ['panel'], name: 'other' });
    expect((await ask('POST', 'client', signIn(other), { name: 'Pixel 8' })).json.name).toBe('Pixel 8 (2)');
    expect((await panels()).map((panel: { name: string }) => panel.name)).toEqual(['Pixel 8', 'Pixel 8 (2)']);
  });

  test('of the same name as others that sign in at the same moment is a panel of its own', async () => {
    const { ask, tenant } = await world();
    const names = ['a', 'b', 'c', 'd'];
    const tokens = await Promise.all(names.map((name) => server.token({ tenant, scopes: ['panel'], name })));
    const name = 'x'.repeat(100);
    const clients = await Promise.all(tokens.map((token) => ask('POST', 'client', signIn(token), { name })));
    const numbered = [2, 3, 4].map((n) => `${'x'.repeat(90)} (${n})`);
    expect(clients.map(({ json }) => json.name).sort()).toEqual([...numbered, name].sort());
  });

  test('lists messages, newest first, and follows the stream; each message has the fields that it reads', async () => {
    const { tenant, send, get, open, list, signedIn, panels } = await world();
    await signedIn();
    expect(await get('message?limit=1&since=0')).toEqual({
      ...{ paging: { size: 0, limit: 1, since: 0 }, messages: [] },
    });
    const stream = await open();
    const id = await send({ title: 'Disk full', message: 'db1 97 %', level: 'critical' });
    const message = await stream.next(titled('Disk full'));
    expect(message).toEqual({
      ...{ id: expect.any(Number), appid: 5, title: 'Disk full', message: 'db1 97 %', priority: 10 },
      date: expect.stringMatching(/^\d{4}-.*Z$/),
      extras: {
        belfry: { id },
        'client::notification': {
          click: { url: `https://belfry.example.org/t/${tenant}/alarms?id=${id}` },
        },
      },
    });
    expect(stream.text()).toMatch(/^\{.*\}\n?$/);
    await send({ title: 'Backup done', level: 'success' });
    const second = await stream.next(titled('Backup done'));
    expect(second.id).toBeGreaterThan(message.id);
    expect(await list()).toEqual([second, message]);
    expect(await panels()).toMatchObject([{ kind: 'phone', online: true, lag: 0, version: 'gotify' }]);
    stream.close();
    await expect.poll(async () => (await panels())[0].online).toBe(false);
  });

  test('gets an application for each level, with an image that needs no token', async () => {
    const { send, get, list, signedIn } = await world();
    await signedIn();
    await send({ title: 'a', level: 'warning' });
    await send({ title: 'b', level: 'plant-2' });
    const applications = await get('application');
    const names = applications.map((each: { name: string }) => each.name);
    expect(names).toEqual(['success', 'info', 'warning', 'error', 'critical', 'plant-2']);
    const known = new Map(applications.map((each: { id: number; name: string }) => [each.id, each.name]));
    expect((await list()).map(({ appid }) => known.get(appid))).toEqual(['plant-2', 'warning']);
    const { id, image } = applications[2];
    expect((await get(`application/${id}/message`)).messages).toMatchObject([{ title: 'a', priority: 5 }]);
    const response = await fetch(`${server.url}/gotify/${image}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(
      Buffer.from(await response.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  test('pages through older messages with the id of the last one, and finds what it missed', async () => {
    const { send, get, list, titles, signedIn } = await world();
    await signedIn();
    for (let i = 0; i < 7; i++) await send({ title: String(i) });
    const page = await get('message?limit=3');
    const ids = page.messages.map(({ id }: GotifyMessage) => id);
    expect(page.paging).toEqual({
      ...{ size: 3, limit: 3, since: ids[2], next: `/gotify/message?limit=3&since=${ids[2]}` },
    });
    expect(await titles(`?limit=3&since=${page.paging.since}`)).toEqual(['3', '2', '1']);
    expect(await titles('?limit=7')).toHaveLength(7);
    expect((await get('message?limit=7')).paging).toEqual({ size: 7, limit: 7, since: 0 });
    const all = await list();
    expect((await get(`message?since=${all[5]?.id}`)).messages).toMatchObject([{ title: '0' }]);
  });

  test('is cut off without a close frame when its token is revoked, and gets 401 then', async () => {
    const { ask, open, phone, signedIn, revoke } = await world();
    await signedIn();
    const stream = await open();
    await revoke('phone');
    expect(await stream.ended).toEqual({ isOrderly: false });
    await expect(openGotify(server.url, phone)).rejects.toThrow('status 401');
    const refused = await ask('GET', 'current/user');
    expect([refused.status, refused.json]).toEqual([
      401,
      { error: 'unauthorized', errorCode: 401, errorDescription: 'unauthorized' },
    ]);
  });

  test('signs out: a token of this panel alone is revoked, and the panel stays', async () => {
    const { call, ask, panels } = await world();
    const { id } = (await call('POST', '/api/panels', { name: 'Ada', kind: 'phone' })).json;
    const wanted = { name: 'Ada', scopes: ['panel'], panelId: id };
    const { token } = (await call('POST', '/api/tokens', wanted)).json;
    expect((await ask('POST', 'client', signIn(token), { name: 'Pixel 8' })).json).toMatchObject({
      ...{ name: 'Ada', token },
    });
    const [client] = (await ask('GET', 'client', key(token))).json;
    expect(client.token).toBe(token);
    expect((await ask('DELETE', 'client/2', key(token))).status).toBe(404);
    expect((await ask('DELETE', `client/${client.id}`, key(token))).status).toBe(200);
    expect((await ask('GET', 'current/user', key(token))).status).toBe(401);
    expect(await panels()).toMatchObject([{ name: 'Ada' }]);
  });
});

test('a token for one panel needs a panel of its tenant, and reads no other', async () => {
  const [own, foreign] = [await world(), await world()];
  const [panel, other] = await Promise.all(
    ['a', 'b'].map(async (name) => (await own.call('POST', '/api/panels', { name })).json.id),
  );
  const create = (panelId: string, more = {}) =>
    own.call('POST', '/api/tokens', { name: 'one', scopes: ['panel'], panelId, ...more });
  const theirs = (await foreign.call('POST', '/api/panels', { name: 'c' })).json.id;
  expect((await create(theirs)).status).toBe(404);
  expect((await create(panel, { scopes: ['panel', 'notify'] })).status).toBe(400);
  const { id, token, panelId } = (await create(panel)).json;
  expect((await own.call('PATCH', `/api/tokens/${id}`, { scopes: ['panel', 'notify'] })).status).toBe(400);
  expect(panelId).toBe(panel);
  const statusOf = async (each: string) =>
    (await server.call('GET', `/api/panels/${each}`, { token })).status;
  expect([await statusOf(panel), await statusOf(other)]).toEqual([200, 404]);
});

test('a program reads the stream with its token in a header, without signing in', async () => {
  const { send, phone, panels } = await world();
  for (const headers of [key(phone), { authorization: `Bearer ${phone}` }]) {
    const stream = await openSocket(`${server.url}/gotify/stream`, { ...headers }, parseGotify);
    onTestFinished(() => stream.close());
    await send({ title: 'x' });
    await stream.next(titled('x'));
  }
  expect(await panels()).toMatchObject([{ name: 'phone', kind: 'phone' }]);
});

describe('an alarm on a phone of Gotify', () => {
  test.each([
    ['acknowledged', 'acknowledge', {}],
    ['shelved', 'shelve', { forMs: 3_600_000 }],
  ])(
    'that is %s is not in the list, and is a new message when that is taken back',
    async (_, action, body) => {
      const { send, open, titles, call, signedIn } = await world();
      await signedIn();
      const stream = await open();
      const id = await send({ title: 'alarm' });
      const first = await stream.next(titled('alarm'));
      await call('POST', `/api/alarms/${id}/${action}`, body);
      expect(await titles()).toEqual([]);
      await call('DELETE', `/api/alarms/${id}/${action}`);
      const back = await stream.next((message) => message.id > first.id);
      expect(back).toMatchObject({ title: 'alarm', extras: { belfry: { id } } });
      expect((await titles())[0]).toBe('alarm');
    },
  );

  test('that has ended or was replaced is not in the list, and is no message', async () => {
    const { send, open, titles, call, signedIn } = await world();
    await signedIn();
    const stream = await open();
    await send({ title: 'first', key: 'k' });
    await send({ title: 'second', key: 'k' });
    expect(await titles()).toEqual(['second']);
    const id = await send({ title: 'ended' });
    await call('POST', `/api/notifications/${id}/clear`);
    expect(await titles()).toEqual(['second']);
    await send({ title: 'last' });
    await stream.next(titled('last'));
    expect(stream.events.map(({ title }) => title)).toEqual(['first', 'second', 'ended', 'last']);
  });

  test('that is deleted on a phone leaves the list of that phone, and stays for all others', async () => {
    const { send, ask, list, titles, call, signedIn, tenant } = await world();
    await signedIn();
    const other = await server.token({ tenant, scopes: ['panel'], name: 'other' });
    await ask('POST', 'client', signIn(other), { name: 'Other' });
    for (const title of ['a', 'b']) await send({ title });
    const [, a] = await list();
    expect((await ask('DELETE', `message/${a?.id}`)).status).toBe(200);
    expect(await titles()).toEqual(['b']);
    expect((await list('', other)).map(({ title }) => title)).toEqual(['b', 'a']);
    expect((await call('GET', '/api/alarms')).json.counts.open).toBe(2);
    const { id } = (a?.extras?.belfry ?? {}) as { readonly id?: string };
    const { deliveries } = (await call('GET', `/api/notifications/${id}`)).json;
    const cleared = deliveries.map((each: { clearedAt: unknown }) => each.clearedAt !== null);
    expect(cleared.sort()).toEqual([false, true]);
    expect((await ask('DELETE', 'message/999999')).status).toBe(404);
  });

  test('that is back after it was deleted is a message again, which is deleted like the first', async () => {
    const { send, ask, list, titles, call, signedIn } = await world();
    await signedIn();
    const id = await send({ title: 'alarm' });
    const remove = async (message?: GotifyMessage) => {
      expect((await ask('DELETE', `message/${message?.id}`)).status).toBe(200);
    };
    const [first] = await list();
    await remove(first);
    await call('POST', `/api/alarms/${id}/acknowledge`);
    await call('DELETE', `/api/alarms/${id}/acknowledge`);
    const [second] = await list();
    expect(second?.id).toBeGreaterThan(first?.id ?? Number.POSITIVE_INFINITY);
    // A repeat of the first request, as when its answer was lost.
    await remove(first);
    expect(await titles()).toEqual(['alarm']);
    await remove(second);
    expect(await titles()).toEqual([]);
    expect((await call('GET', `/api/alarms/${id}`)).json.state).toBe('open');
  });

  test('that is back before its first message is deleted keeps the second', async () => {
    const { send, ask, list, call, signedIn } = await world();
    await signedIn();
    const id = await send({ title: 'alarm' });
    await call('POST', `/api/alarms/${id}/acknowledge`);
    await call('DELETE', `/api/alarms/${id}/acknowledge`);
    const [second, first] = await list();
    for (let i = 0; i < 2; i++) {
      expect((await ask('DELETE', `message/${first?.id}`)).status).toBe(200);
      expect(await list()).toEqual([second]);
    }
    expect((await ask('DELETE', `message/${second?.id}`)).status).toBe(200);
    expect(await list()).toEqual([]);
  });

  describe('that is deleted on a phone whose panel may clear for everybody', () => {
    async function clearing() {
      const own = await world();
      const { signedIn, panels, call, ask } = own;
      await signedIn();
      const [{ id }] = await panels();
      const set = (deleteClears: boolean) =>
        call('PATCH', `/api/panels/${id}`, { display: { deleteClears } });
      expect((await set(true)).json.display).toEqual({ deleteClears: true });
      const remove = (message?: GotifyMessage) => ask('DELETE', `message/${message?.id}`);
      const alarm = async (each: string) => (await call('GET', `/api/alarms/${each}`)).json;
      return { ...own, set, remove, alarm };
    }

    test('ends for all, in the name of the phone', async () => {
      const { tenant, ask, send, list, remove, call, set } = await clearing();
      const other = await server.token({ tenant, scopes: ['panel'], name: 'other' });
      await ask('POST', 'client', signIn(other), { name: 'Other' });
      const [a, b] = [await send({ title: 'a' }), await send({ title: 'b' })];
      const [ofB, ofA] = await list();
      expect((await remove(ofA)).status).toBe(200);
      const read = async (id: string) => (await call('GET', `/api/notifications/${id}`)).json;
      expect((await read(a)).cleared).toMatchObject({ by: 'phone Pixel 8', reason: 'cleared' });
      expect((await list('', other)).map(({ title }) => title)).toEqual(['b']);
      await set(false);
      await remove(ofB);
      expect((await read(b)).cleared).toBeNull();
      expect((await list('', other)).map(({ title }) => title)).toEqual(['b']);
    });

    test('stays if the message is of before: the alarm was replaced or acknowledged since', async () => {
      const { send, list, remove, alarm, call, titles } = await clearing();
      await send({ title: 'first', key: 'k' });
      const [old] = await list();
      const newer = await send({ title: 'second', key: 'k', level: 'critical' });
      expect((await remove(old)).status).toBe(200);
      expect((await alarm(newer)).state).toBe('open');
      expect(await titles()).toEqual(['second']);
      const [message] = await list();
      await call('POST', `/api/alarms/${newer}/acknowledge`);
      expect((await remove(message)).status).toBe(200);
      expect((await alarm(newer)).state).toBe('acknowledged');
    });

    test('stays if it has come back since the message', async () => {
      const { send, list, remove, alarm, call } = await clearing();
      const id = await send({ title: 'alarm' });
      const [first] = await list();
      await call('POST', `/api/alarms/${id}/acknowledge`);
      await call('DELETE', `/api/alarms/${id}/acknowledge`);
      expect((await remove(first)).status).toBe(200);
      expect((await alarm(id)).state).toBe('open');
      const [second, ...others] = await list();
      expect([second?.title, others]).toEqual(['alarm', []]);
      expect((await remove(second)).status).toBe(200);
      expect((await alarm(id)).state).toBe('ended');
    });

    test('stays if its message is on another panel, or somebody else’s', async () => {
      const { send, list, remove, alarm, call, panels } = await clearing();
      const { id: wall } = (await call('POST', '/api/panels', { name: 'wall' })).json;
      const id = await send({ title: 'here' });
      const [message] = await list();
      const stranger = await clearing();
      await stranger.send({ title: 'theirs' });
      // The ids of a tenant name only its own messages.
      expect((await stranger.remove(message)).status).toBe(200);
      expect((await alarm(id)).state).toBe('open');
      const rule = { name: 'r', when: { title: { glob: 'wall *' } }, then: { panels: { ids: [wall] } } };
      await call('POST', '/api/rules', rule);
      const elsewhere = await send({ title: 'wall only' });
      expect((await remove({ ...(message as GotifyMessage), id: (message?.id ?? 0) + 1 })).status).toBe(404);
      expect((await alarm(elsewhere)).state).toBe('open');
      expect(await panels()).toHaveLength(2);
    });
  });

  test('leaves the list with all others, or all of its level, and never ends by that', async () => {
    const { send, ask, list, titles, call, signedIn, panels } = await world();
    await signedIn();
    const [{ id: panel }] = await panels();
    await call('PATCH', `/api/panels/${panel}`, { display: { deleteClears: true } });
    for (let i = 0; i < 5; i++) await send({ title: `error ${i}` });
    await send({ title: 'warning', level: 'warning' });
    const back = await send({ title: 'back' });
    await call('POST', `/api/alarms/${back}/acknowledge`);
    await call('DELETE', `/api/alarms/${back}/acknowledge`);
    const [{ appid } = { appid: 0 }] = await list();
    expect((await ask('DELETE', `application/${appid}/message`)).status).toBe(200);
    expect(await titles()).toEqual(['warning']);
    expect((await ask('DELETE', 'message')).status).toBe(200);
    expect(await titles()).toEqual([]);
    expect((await call('GET', '/api/alarms')).json.counts.open).toBe(7);
    await send({ title: 'new' });
    expect(await titles()).toEqual(['new']);
    expect((await ask('DELETE', `application/${appid}`)).status).toBe(404);
  });

  test('deletes no further messages once it has left', async () => {
    const { send, list, signedIn, phone } = await world();
    await signedIn();
    await Promise.all(Array.from({ length: 410 }, (_, i) => send({ title: `error ${i}` })));
    const connection = await RawConnection.open(server.url);
    // The server does not distinguish a client that has left from one that only sends nothing more.
    await connection.write(`DELETE /gotify/message HTTP/1.1\r\nHost: x\r\nX-Gotify-Key: ${phone}\r\n\r\n`);
    connection.finish();
    await connection.closed;
    expect(await list()).not.toEqual([]);
  });

  test('does not ring in quiet hours, unless it is critical', async () => {
    const { send, open, list, call, signedIn, panels } = await world();
    await signedIn();
    const stream = await open();
    const [{ id }] = await panels();
    // From midnight to midnight: always.
    await call('PATCH', `/api/panels/${id}`, { display: { quietFrom: '00:00', quietUntil: '00:00' } });
    await send({ title: 'an error', level: 'error' });
    await send({ title: 'critical', level: 'critical' });
    await stream.next(titled('critical'));
    expect(stream.events.map(({ priority }) => priority)).toEqual([2, 10]);
    expect((await list()).map(({ priority }) => priority)).toEqual([10, 2]);
  });

  test('does not ring in the pause after a sound; what the app fetches afterwards does', async () => {
    const { send, open, list, call, signedIn, panels } = await world();
    await signedIn();
    const stream = await open();
    const [{ id }] = await panels();
    await call('PATCH', `/api/panels/${id}`, { display: { ringPauseMs: 3_600_000 } });
    for (const title of ['first', 'second']) await send({ title, level: 'error' });
    await stream.next(titled('second'));
    expect(stream.events.map(({ priority }) => priority)).toEqual([8, 2]);
    expect((await list()).map(({ priority }) => priority)).toEqual([8, 8]);
  });

  test('comes if rules send it to the panel, and not below its lowest level', async () => {
    const { send, open, titles, call, signedIn, panels } = await world();
    await signedIn();
    const stream = await open();
    const [{ id }] = await panels();
    await call('PATCH', `/api/panels/${id}`, { display: { minLevel: 'error' } });
    const other = (await call('POST', '/api/panels', { name: 'wall' })).json.id;
    const then = { panels: { ids: [other] } };
    const rule = await call('POST', '/api/rules', { name: 'r', when: { title: { glob: 'wall *' } }, then });
    expect(rule.status).toBe(201);
    await send({ title: 'low', level: 'warning' });
    await send({ title: 'wall only', level: 'critical' });
    await send({ title: 'high', level: 'error' });
    await stream.next(titled('high'));
    expect(stream.events.map(({ title }) => title)).toEqual(['high']);
    expect(await titles()).toEqual(['high']);
  });
});

test.each([
  ['GET', 'message?limit=0', 400, 'limit'],
  ['GET', 'message?limit=201', 400, 'limit'],
  ['GET', 'message?since=-1', 400, 'since'],
  ['GET', 'application/x/message', 400, 'id'],
  ['DELETE', 'message/x', 400, 'id'],
  ['GET', 'stream', 400, 'WebSockets'],
  ['GET', 'nothing', 404, 'nothing'],
  ['GET', 'image/x.png', 404, 'image'],
])('%s /gotify/%s answers %d in the form of Gotify', async (method, path, status, text) => {
  const { ask, signedIn } = await world();
  await signedIn();
  const { status: got, json } = await ask(method, path);
  expect(got).toBe(status);
  expect(json).toEqual({
    ...{ error: expect.stringContaining(text), errorCode: status, errorDescription: json.error },
  });
});

test('a token for sending may not read', async () => {
  const { ask, tenant } = await world();
  const sender = await server.token({ tenant, scopes: ['notify'] });
  const { status, json } = await ask('GET', 'message', key(sender));
  expect([status, json.errorCode]).toEqual([403, 403]);
});
