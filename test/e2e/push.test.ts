import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ChannelDelivery } from '#contract/channels/channel.ts';
import type { PushSubscription } from '#contract/panels/push.ts';
import { eventually } from '../support/eventually.ts';
import { makePerson } from '../support/person.ts';
import { PushServiceStub } from '../support/push-service.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let service: PushServiceStub;
let key: string;
let token: string;
let tenant: string;
let channel: string;
beforeAll(async () => {
  service = await PushServiceStub.start();
  server = await TestServer.start({
    ...{ BELFRY_OUTBOUND_ALLOW: '127.0.0.1', BELFRY_BASE_URL: 'https://belfry.example.org' },
  });
});
afterAll(async () => {
  await server.stop();
  await service.close();
});
beforeEach(async () => {
  tenant = `t${randomUUID()}`;
  [key, token] = [await server.key('admin', tenant), await server.token({ tenant })];
  channel = (await call('POST', '/api/channels', { name: 'On call', kind: 'push' })).json.id;
  service.pushed.length = 0;
});

const call = (method: string, path: string, json?: unknown, as = key) =>
  server.call(method, path, { token: as, ...(json !== undefined && { json }) });
/** As a device does: nobody is signed in. */
const device = (path: string, json: unknown) => server.call('POST', `/api/push/${path}`, { json });
const link = async () => {
  const { status, json } = await call('POST', `/api/channels/${channel}/devices`);
  expect(status).toBe(201);
  expect(json.link).toMatch(/^https:\/\/belfry\.example\.org\/push\/#/);
  return json.link.split('#')[1] as string;
};
const browserOf = ({ endpoint, keys }: PushSubscription) => ({ endpoint, keys });
const add = async (name: string) => {
  const browser = service.subscribe();
  const { status, json } = await device('devices', {
    ...{ secret: await link(), name, subscription: browserOf(browser) },
  });
  expect([status, json.name]).toEqual([201, name]);
  return { browser, secret: json.secret as string, id: json.id as string };
};
const devices = async () => (await call('GET', `/api/channels/${channel}/devices`)).json.devices;
const deliveries = async (): Promise<ChannelDelivery[]> =>
  (await call('GET', `/api/channels/${channel}/deliveries`)).json.deliveries;
const answers = async () => (await deliveries()).map(({ state, answer }) => `${state}: ${answer}`);
const route = () =>
  call('POST', '/api/rules', { name: 'all', then: { channels: [channel], panels: 'none' } });
const send = (more: object = {}) =>
  server.notify(token, { title: 'Disk full', message: '93 %', level: 'error', ...more });

test('a link adds one device, which gets notifications that only it can read, and can leave', async () => {
  const secret = await link();
  const shown = await device('link', { secret });
  expect(shown.json).toMatchObject({ tenant: expect.any(String), channel: 'On call' });
  const browser = service.subscribe();
  const request = {
    secret,
    name: ' Anna’s phone ',
    subscription: { ...browserOf(browser), expirationTime: null },
  };
  const [added, again] = await Promise.all([device('devices', request), device('devices', request)]);
  expect([added.status, again.status].toSorted()).toEqual([201, 410]);
  const own = [added, again].find(({ status }) => status === 201)?.json;
  expect(own).toMatchObject({ name: 'Anna’s phone', publicKey: shown.json.publicKey, lastError: null });
  expect((await device('link', { secret })).status).toBe(410);
  await route();
  const { json: sent } = await send({ key: 'disk/db-1', host: 'db-1', ttl: 7_200_000 });
  await send({ title: 'ok', message: 'm', level: 'success', key: 'disk/db-1', url: 'https://example.org/x' });
  await eventually(() => expect(service.pushed).toHaveLength(2));
  const [alarm, resolve] = service.pushed;
  expect(alarm).toMatchObject({
    headers: { urgency: 'high', ttl: '7200', 'content-encoding': 'aes128gcm', topic: alarm?.payload.tag },
    claims: { sub: 'https://belfry.example.org', exp: expect.any(Number) },
    key: own.publicKey,
    payload: {
      ...{ title: 'Disk full', body: 'error · db-1 · disk/db-1\n93 %', stays: true },
      url: `/t/${tenant}/history?id=${sent.id}`,
    },
  });
  expect(alarm?.headers.topic).toMatch(/^[\w-]{32}$/);
  expect(Number(alarm?.claims.exp) - Date.now() / 1000).toBeLessThan(86_400);
  expect(resolve).toMatchObject({
    headers: { urgency: 'normal', topic: alarm?.headers.topic },
    payload: { tag: alarm?.payload.tag, url: 'https://example.org/x', stays: false },
  });
  await eventually(async () =>
    expect(await answers()).toEqual(Array(2).fill('delivered: sent to 1 of 1 device')),
  );
  const { publicKey: _, secret: proof, tenant: __, channel: ___, ...view } = own;
  expect(await devices()).toEqual([{ ...view, lastDeliveredAt: expect.any(String) }]);
  const texts = JSON.stringify([
    await devices(),
    (await call('GET', '/api/channels')).json,
    (await call('GET', '/api/audit')).json,
  ]);
  for (const each of [browser.endpoint, browser.keys.auth, secret, proof]) expect(texts).not.toContain(each);
  const test = await device('device/test', { secret: proof });
  expect(test.json).toMatchObject({ ok: true, answer: 'sent to 1 of 1 device' });
  expect(service.pushed.at(-1)?.payload.title).toBe('Test of a channel');
  expect((await device('device', { secret: proof })).json).toMatchObject({ name: 'Anna’s phone' });
  expect((await device('device/remove', { secret: proof })).status).toBe(204);
  expect((await device('device', { secret: proof })).status).toBe(404);
  expect(await devices()).toEqual([]);
  expect((await call('POST', `/api/channels/${channel}/test`)).json).toMatchObject({
    ...{ ok: false, answer: 'the channel has no device: add one' },
  });
  const audited = (await call('GET', '/api/audit')).json.entries.map(
    ({ action }: { action: string }) => action,
  );
  expect(audited).toEqual(
    expect.arrayContaining(['push-device.link', 'push-device.add', 'push-device.remove']),
  );
});

test('a device whose subscription ended stays in the list; one that fails is tried again and does not hold up the others', async () => {
  const [good, slow, gone] = [await add('good'), await add('slow'), await add('gone')];
  const ended = 'the push service no longer knows it: open its page on the device, or add it again';
  await route();
  service.replies.set(gone.browser.path, [{ status: 410 }]);
  service.replies.set(slow.browser.path, [{ status: 503 }, { status: 503 }, { status: 500 }]);
  await send();
  await eventually(async () =>
    expect(await answers()).toEqual([
      `delivered: sent to 1 of 3 devices; not to gone: answered 410: ${ended}; not to slow: answered 503`,
    ]),
  );
  const counts = () =>
    [good, slow, gone].map(
      ({ browser }) => service.pushed.filter(({ path }) => path === browser.path).length,
    );
  expect(counts()).toEqual([1, 2, 1]);
  expect(await devices()).toMatchObject([
    { name: 'gone', lastError: `answered 410: ${ended}` },
    { name: 'good', lastError: null },
    { name: 'slow', lastError: 'answered 503' },
  ]);
  // It failed before: one try.
  await send();
  await eventually(async () => expect(await deliveries()).toMatchObject([{ state: 'delivered' }, {}]));
  expect(counts()).toEqual([2, 3, 1]);
  await send();
  await eventually(async () => expect((await devices())[2].lastError).toBeNull());
  expect(counts()).toEqual([3, 4, 1]);
});

test('when nobody gets it the channel rests as the push service asks, and the notification stays', async () => {
  const { browser } = await add('phone');
  await route();
  service.replies.set(browser.path, [{ status: 429, headers: { 'retry-after': '1800' } }]);
  await send();
  await eventually(async () => expect(await deliveries()).toMatchObject([{ state: 'pending', attempts: 1 }]));
  const of = async () => (await call('GET', '/api/channels')).json.channels[0].state;
  await eventually(async () => expect((await of()).failures).toBe(1));
  expect(Date.parse((await of()).retryAt) - Date.now()).toBeGreaterThan(1_500_000);
  await call('PATCH', `/api/channels/${channel}`, { name: 'Night' });
  await eventually(async () => expect(await answers()).toEqual(['delivered: sent to 1 of 1 device']));
});

test('a new device or subscription gets what waits, and what failed for want of a device', async () => {
  await route();
  await send();
  const nobody = 'failed: the channel has no device: add one';
  await eventually(async () => expect(await answers()).toEqual([nobody]));
  const { browser, secret } = await add('phone');
  await eventually(async () => expect(await answers()).toEqual(['delivered: sent to 1 of 1 device']));
  service.replies.set(browser.path, [{ status: 429, headers: { 'retry-after': '1800' } }]);
  await send();
  await eventually(async () =>
    expect(await deliveries()).toMatchObject([{ state: 'pending', attempts: 1 }, {}]),
  );
  const renewed = service.subscribe();
  // The page says at each visit what it has.
  await device('device/subscription', { secret, subscription: browserOf(browser) });
  expect((await call('GET', '/api/channels')).json.channels[0].state).toMatchObject({ failures: 1 });
  await device('device/subscription', { secret, subscription: browserOf(renewed) });
  await eventually(async () => expect(await deliveries()).toMatchObject([{ state: 'delivered' }, {}]));
  expect(service.pushed.at(-1)?.path).toBe(renewed.path);
});

test('a device does not see the answer of the address that it gave', async () => {
  const { browser, secret } = await add('phone');
  service.replies.set(browser.path, [
    { status: 403, body: 'inside' },
    { status: 403, body: 'inside' },
  ]);
  const tested = await device('device/test', { secret });
  expect(tested.json).toMatchObject({ ok: false });
  const own = await device('device', { secret });
  expect(JSON.stringify([tested.json, own.json, await devices()])).not.toContain('inside');
  expect(JSON.stringify([tested.json, own.json])).not.toContain('answered 403');
  expect(own.json.lastError).toContain('the page of the channel says why');
  expect((await call('POST', `/api/channels/${channel}/test`)).json.answer).toContain('answered 403: inside');
});

test('a browser has one subscription a channel, may renew it, and only its own secret speaks for it', async () => {
  const { browser, secret, id } = await add('first');
  const second = await device('devices', {
    ...{ secret: await link(), name: 'again', subscription: browserOf(browser) },
  });
  expect(await devices()).toMatchObject([{ id: second.json.id, name: 'again' }]);
  expect((await device('device', { secret })).status).toBe(404);
  const renewed = service.subscribe();
  const own = second.json.secret;
  const change = { secret: own, subscription: browserOf(renewed) };
  expect((await device('device/subscription', change)).status).toBe(204);
  await device('device/test', { secret: own });
  expect(service.pushed.map(({ path }) => path)).toEqual([renewed.path]);
  // Not a link, not another device's, not an older one.
  for (const wrong of [await link(), secret, `${own.slice(0, -4)}AAAA`, 'x', id])
    expect((await device('device/remove', { secret: wrong })).status).toBe(404);
  const bad = (subscription: object) => device('devices', { secret: own, name: 'x', subscription });
  expect((await bad(browserOf(renewed))).status).toBe(410);
  const fresh = await link();
  for (const [field, subscription] of [
    ['endpoint', { ...browserOf(renewed), endpoint: 'file:///etc/passwd' }],
    ['endpoint', { ...browserOf(renewed), endpoint: 'http://10.0.0.1/' }],
    ['keys', { ...browserOf(renewed), keys: { ...renewed.keys, p256dh: `B${'A'.repeat(86)}` } }],
  ] as const)
    expect((await device('devices', { secret: fresh, name: 'x', subscription })).json.error).toContain(field);
  const webhook = { name: 'hook', kind: 'webhook', settings: { url: 'https://example.org' } };
  const other = (await call('POST', '/api/channels', webhook)).json.id;
  expect((await call('POST', `/api/channels/${other}/devices`)).status).toBe(409);
  const foreign = await server.key('owner', `t${randomUUID()}`);
  for (const [method, path] of [
    ['GET', 'devices'],
    ['POST', 'devices'],
    ['DELETE', `devices/${second.json.id}`],
  ] as const)
    expect((await call(method, `/api/channels/${channel}/${path}`, undefined, foreign)).status).toBe(404);
  expect((await call('DELETE', `/api/channels/${channel}/devices/${second.json.id}`)).status).toBe(204);
  await call('DELETE', `/api/channels/${channel}`);
  expect((await device('link', { secret: fresh })).status).toBe(410);
});

/** Without `panels: none`, it is an alarm. */
const onPanelsToo = () => call('POST', '/api/rules', { name: 'all', then: { channels: [channel] } });
const act = (secret: string, action: string) => device('device/act', { secret, action });
const lastPayload = () => service.pushed.at(-1)?.payload;
const alarmOf = async (id: string) => (await call('GET', `/api/alarms/${id}`)).json;

test('a button on the notification acknowledges the alarm, once, in the name of the device', async () => {
  await add('Pixel 8');
  await onPanelsToo();
  const { json: sent } = await send({ key: 'disk/db-1' });
  await eventually(() => expect(service.pushed).toHaveLength(1));
  const { actions, secret, isOver, tag } = service.pushed[0]?.payload ?? {};
  expect([actions, isOver]).toEqual([['acknowledge'], false]);
  expect((await act(String(secret), 'shelve')).status).toBe(403);
  for (const wrong of ['x', `${secret}x`, '']) expect((await act(wrong, 'acknowledge')).status).toBe(404);
  expect((await act(String(secret), 'clear')).status).toBe(400);
  expect((await act(String(secret), 'acknowledge')).json).toEqual({ by: 'device Pixel 8' });
  expect((await act(String(secret), 'acknowledge')).json).toEqual({ by: 'device Pixel 8' });
  expect(await alarmOf(sent.id)).toMatchObject({
    ...{ state: 'acknowledged', acknowledged: { by: 'device Pixel 8', note: null } },
  });
  // Every device of the channel learns that somebody takes care of it.
  await eventually(() => expect(service.pushed).toHaveLength(2));
  expect(service.pushed[1]).toMatchObject({
    headers: { urgency: 'normal', topic: tag },
    payload: {
      ...{ title: 'Disk full', isOver: true, stays: false, actions: [], secret: '', tag },
      body: expect.stringMatching(/^Acknowledged by device Pixel 8\nerror/),
    },
  });
});

test('a device of a member acknowledges in their name, as far as their role allows it, and goes with them', async () => {
  const anna = await makePerson(server, 'member', { tenant, name: 'Anna' });
  const other = await makePerson(server, 'member');
  const linkOf = (userId: string) => call('POST', `/api/channels/${channel}/devices`, { userId });
  expect((await linkOf(other.id)).json.error).toContain('userId');
  const secret = (await linkOf(anna.id)).json.link.split('#')[1];
  const subscription = browserOf(service.subscribe());
  const { json: added } = await device('devices', { secret, name: 'Pixel 8', subscription });
  await add('of nobody');
  expect(await devices()).toMatchObject([
    { name: 'Pixel 8', person: { id: anna.id, name: 'Anna' } },
    { name: 'of nobody', person: null },
  ]);
  await onPanelsToo();
  const { json: sent } = await send();
  await eventually(() => expect(service.pushed).toHaveLength(2));
  const path = new URL(subscription.endpoint).pathname;
  const own = service.pushed.find((each) => each.path === path)?.payload.secret ?? '';
  const setRole = (role: string) => call('PATCH', `/api/members/${anna.id}`, { role });
  await setRole('viewer');
  expect((await act(own, 'acknowledge')).status).toBe(403);
  await setRole('member');
  expect((await act(own, 'acknowledge')).json).toEqual({ by: 'Anna' });
  expect(await alarmOf(sent.id)).toMatchObject({ acknowledged: { by: 'Anna' } });
  const { json: unused } = await linkOf(anna.id);
  expect((await call('DELETE', `/api/members/${anna.id}`)).status).toBe(204);
  expect(await devices()).toMatchObject([{ name: 'of nobody' }]);
  expect((await device('device', { secret: added.secret })).status).toBe(404);
  expect((await device('link', { secret: unused.link.split('#')[1] })).status).toBe(410);
});

test('devices learn that an alarm is acknowledged, open again and ended, on the same notification', async () => {
  await add('Pixel 8');
  await onPanelsToo();
  const { json: sent } = await send();
  await eventually(() => expect(service.pushed).toHaveLength(1));
  const told = async (method: string, path: string, json?: unknown) => {
    const before = service.pushed.length;
    await call(method, `/api/alarms/${sent.id}/${path}`, json);
    await eventually(() => expect(service.pushed).toHaveLength(before + 1));
    return lastPayload();
  };
  const tag = lastPayload()?.tag;
  expect(await told('POST', 'acknowledge', { note: 'on my way' })).toMatchObject({
    ...{ tag, isOver: true, body: expect.stringContaining('on my way') },
  });
  expect(await told('DELETE', 'acknowledge')).toMatchObject({
    ...{ tag, isOver: false, stays: true, actions: ['acknowledge'] },
    body: expect.stringMatching(/^Open again/),
  });
  const secret = String(lastPayload()?.secret);
  expect(await told('POST', 'clear')).toMatchObject({ tag, isOver: true, actions: [] });
  expect((await act(secret, 'acknowledge')).status).toBe(409);
});

test('the setting of the channel says what its devices may do; a device that was removed may do nothing', async () => {
  const { json: changed } = await call('PATCH', `/api/channels/${channel}`, {
    settings: { actions: 'shelve', updates: 'none' },
  });
  expect(changed.settings).toEqual({ actions: 'shelve', updates: 'none' });
  const { id } = await add('Pixel 8');
  await onPanelsToo();
  const { json: sent } = await send();
  await eventually(() => expect(service.pushed).toHaveLength(1));
  const { actions, secret } = service.pushed[0]?.payload ?? {};
  expect(actions).toEqual(['acknowledge', 'shelve']);
  expect((await act(String(secret), 'shelve')).json).toEqual({ by: 'device Pixel 8' });
  const { state, shelved } = await alarmOf(sent.id);
  expect([state, shelved.by]).toEqual(['shelved', 'device Pixel 8']);
  const shelvedMs = Date.parse(shelved.until) - Date.parse(shelved.at);
  expect(shelvedMs).toBe(3_600_000);
  expect((await act(String(secret), 'shelve')).json).toEqual({ by: 'device Pixel 8' });
  const audited = (await call('GET', '/api/audit')).json.entries;
  expect(audited).toContainEqual(
    expect.objectContaining({ action: 'alarm.shelve', by: 'device Pixel 8', subject: sent.id }),
  );
  await call('PATCH', `/api/channels/${channel}`, { settings: { actions: 'none' } });
  expect((await act(String(secret), 'acknowledge')).status).toBe(403);
  await call('DELETE', `/api/channels/${channel}/devices/${id}`);
  expect((await act(String(secret), 'acknowledge')).status).toBe(404);
});

test('what is on no panel is no alarm, and has no buttons', async () => {
  await add('Pixel 8');
  await route();
  await send();
  await eventually(() => expect(service.pushed).toHaveLength(1));
  expect(lastPayload()).toMatchObject({ actions: [], secret: '' });
});
