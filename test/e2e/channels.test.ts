import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Channel, ChannelDelivery } from '#contract/channels/channel.ts';
import {
  mapPatternFields,
  type OptionalText,
  optionalTextNames,
  searchedFields,
  sentFields,
} from '#contract/history/fields.ts';
import { eventually } from '../support/eventually.ts';
import { type Received, Receiver } from '../support/receiver.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let receiver: Receiver;
let tenant: string;
let key: string;
let token: string;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_OUTBOUND_ALLOW: '127.0.0.1' });
  receiver = await Receiver.start();
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});
beforeEach(async () => {
  tenant = `t${randomUUID()}`;
  [key, token] = [await server.key('admin', tenant), await server.token({ tenant })];
  receiver.received.length = 0;
  receiver.replies.length = 0;
  receiver.answer = undefined;
});

const call = (method: string, path: string, json?: unknown, as = key) =>
  server.call(method, path, { token: as, ...(json !== undefined && { json }) });
const webhook = (name = 'hook', path = '/hook', more: object = {}) =>
  receiver.webhook(call, { name, path, ...more });
const ruleTo = (channels: string[], more: object = {}) =>
  call('POST', '/api/rules', { name: `to ${channels}`, then: { channels, panels: 'none' }, ...more });
const channelOf = async (id: string): Promise<Channel> =>
  (await call('GET', '/api/channels')).json.channels.find((each: Channel) => each.id === id);
const deliveriesOf = async (id: string): Promise<ChannelDelivery[]> =>
  (await call('GET', `/api/channels/${id}/deliveries`)).json.deliveries;
const titles = (path = '/hook') =>
  receiver.received.filter((each) => each.path === path).map(({ json }) => json.data.title);

test('a notification goes to the channels of its rules, signed; its record says so', async () => {
  const { id, signingKey } = await webhook();
  expect(signingKey).toMatch(/^whsec_/);
  expect((await ruleTo(['hook'])).json.then.channels).toEqual([id]);
  const sent = await server.notify(token, {
    title: 'Disk full',
    message: 'db-1',
    host: 'db-1',
    key: 'disk',
    level: 'error',
  });
  await eventually(async () => expect(await deliveriesOf(id)).toMatchObject([{ state: 'delivered' }]));
  const { headers, body, json } = receiver.received[0] as Received;
  expect(json).toEqual({
    type: 'notification.created',
    timestamp: expect.any(String),
    data: {
      ...{ id: sent.json.id, tenant, title: 'Disk full', message: 'db-1', level: 'error', rank: 40 },
      ...{ host: 'db-1', key: 'disk', ip: null, url: null, labels: {}, receivedAt: json.timestamp },
      instructions: null,
    },
  });
  // As the specification has it, without our code.
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const mac = createHmac('sha256', Buffer.from(signingKey.slice(6), 'base64'))
    .update(content)
    .digest('base64');
  expect(headers).toMatchObject({ 'webhook-id': sent.json.id, 'webhook-signature': `v1,${mac}` });
  expect(Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp']))).toBeLessThan(300);
  const detail = await call('GET', `/api/notifications/${sent.json.id}`);
  expect(detail.json.channels).toMatchObject([
    { channel: { id, name: 'hook' }, state: 'delivered', attempts: 1, answer: 'answered 200: ok' },
  ]);
  expect(await channelOf(id)).toMatchObject({ secrets: ['signingKey'], state: { pending: 0, failures: 0 } });
  const metrics = await server.call('GET', '/tenant-metrics', { token });
  expect(metrics.text).toContain('belfry_channel_deliveries_total{outcome="delivered"} 1');
  expect(metrics.text).toContain('belfry_channel_deliveries_pending 0');
});

/** A text for each field that has one, as headers have it. */
const texts: Readonly<Record<OptionalText, string>> = {
  ip: '10.0.0.5',
  host: 'db-1',
  key: 'disk',
  url: 'https://example.org/d',
  labels: 'env=prod',
};
/** The same as JSON has it, and every answer. */
const given = { ...texts, labels: { env: 'prod' } };
const asHeaders = Object.fromEntries(optionalTextNames.map((name) => [sentFields[name].header, texts[name]]));

test.each([
  ['as JSON', given, {}],
  ['in headers', {}, asHeaders],
])(
  'a text in every field, %s, reaches rules, panels, history, exports and channels',
  async (_, json, headers) => {
    await webhook();
    const when = {
      ...mapPatternFields((field) => [`${texts[field].slice(0, -1)}?`]),
      labels: { env: ['pro?'] },
    };
    await call('POST', '/api/rules', { name: 'all', when, then: { channels: ['hook'] } });
    const { stream } = await server.panel(token, 'wall');
    const { id } = (await server.notify(token, { title: 't', message: 'm', ...json }, headers)).json;
    expect((await stream.next(({ data }) => data.id === id)).data).toMatchObject(given);
    stream.close();
    expect((await call('GET', `/api/notifications/${id}`)).json).toMatchObject({
      ...given,
      rules: [{ name: 'all' }],
    });
    for (const field of searchedFields) {
      const text = texts[field === 'label' ? 'labels' : field];
      const { notifications } = (await call('GET', `/api/history?q=${field}:${text}`)).json;
      expect(notifications).toMatchObject([{ id, ...given }]);
    }
    const exported = async (format: string) =>
      (await call('GET', `/api/history/export?format=${format}`)).text;
    expect(JSON.parse(await exported('ndjson'))).toMatchObject({ id, ...given });
    const [names = '', values = ''] = (await exported('csv')).split('\r\n');
    const cells = values.split(',');
    const row = Object.fromEntries(names.split(',').map((name, i) => [name, cells[i]]));
    expect(row).toMatchObject({ ...texts, labels: '"{""env"":""prod""}"' });
    await eventually(() => expect(receiver.received).toMatchObject([{ json: { data: { id, ...given } } }]));
  },
);

test('explain names the channels; a muted, a throttled and an unmatched notification goes to none', async () => {
  const { id } = await webhook();
  const then = { channels: [id], throttle: { by: ['host'], perMs: 60_000 } };
  await ruleTo([id], { name: 'muted', when: { host: ['quiet'] }, then: { channels: [id], mute: true } });
  await ruleTo([id], { when: { host: ['loud'] }, then });
  for (const host of ['quiet', 'loud', 'other', 'loud'])
    await server.notify(token, { title: host, message: 'm', host });
  const explain = async (host: string) =>
    (await call('POST', '/api/rules/explain', { notification: { host } })).json;
  expect((await explain('loud')).channels).toEqual([{ id, name: 'hook' }]);
  expect((await explain('loud')).rules[1].reason).toContain('adds one channel');
  expect((await explain('quiet')).channels).toEqual([]);
  await server.notify(token, { title: 'last', message: 'm', host: 'loud' });
  await eventually(() => expect(titles()).toEqual(['loud']));
  expect((await deliveriesOf(id)).map(({ title }) => title)).toEqual(['loud']);
});

test('a resolve goes to the channels that had the alert, once, also if the alert has left the panels', async () => {
  const [{ id }] = [await webhook(), await webhook('other', '/other'), await webhook('all', '/all')];
  await ruleTo(['hook'], { when: { minLevel: 'error' }, then: { channels: ['hook'] }, continue: true });
  await ruleTo(['all'], { when: { host: ['db-1'] }, then: { channels: ['all'] }, continue: true });
  const send = async (title: string, level: string, more: object = {}) =>
    (await server.notify(token, { title, message: 'm', level, key: 'disk', host: 'db-1', ...more })).json.id;
  await send('heartbeat', 'success');
  const alert = await send('full', 'critical');
  await send('nearly full', 'warning');
  await call('POST', `/api/notifications/${alert}/clear`);
  await send('other disk is fine', 'success', { key: 'other' });
  const resolve = await send('fine', 'success');
  await send('still fine', 'success');
  await send('full again', 'error');
  await send('last', 'error', { key: 'last' });
  const all = [
    'heartbeat',
    'full',
    'nearly full',
    'other disk is fine',
    'fine',
    'still fine',
    'full again',
    'last',
  ];
  await eventually(() => expect(titles('/all')).toEqual(all));
  await eventually(() => expect(titles()).toEqual(['full', 'fine', 'full again', 'last']));
  expect(titles('/other')).toEqual([]);
  const { channels } = (await call('GET', `/api/notifications/${resolve}`)).json;
  expect(channels.map((each: { channel: { name: string } }) => each.channel.name).sort()).toEqual([
    'all',
    'hook',
  ]);
  await call('PATCH', `/api/channels/${id}`, { enabled: false });
  await send('fine at last', 'success');
  await eventually(() => expect(titles('/all')).toContain('fine at last'));
  expect((await deliveriesOf(id)).map(({ title }) => title)).not.toContain('fine at last');
});

test('the end of an alert goes to its channel, also if a throttle counts it on another card; once after many repeats', async () => {
  await webhook();
  const then = { channels: ['hook'], panels: 'all', throttle: { by: ['host'], perMs: 3_000 } };
  await ruleTo([], { name: 'one host', then });
  const send = (title: string, level: string, key: string) =>
    server.notify(token, { title, message: 'm', level, key, host: 'h' });
  await send('A down', 'error', 'a');
  await new Promise((resolve) => setTimeout(resolve, 3_100));
  await send('B down', 'error', 'b');
  await send('B down again', 'error', 'b');
  expect((await send('A up', 'success', 'a')).status).toBe(200);
  await send('B up', 'success', 'b');
  await eventually(() => expect(titles()).toEqual(['A down', 'B down', 'A up', 'B up']));
  await ruleTo(['hook'], { name: 'first', when: { key: ['k'], minLevel: 'error' } });
  await call('PUT', '/api/rules/order', {
    ids: (await call('GET', '/api/rules')).json.rules.map(({ id }: { id: string }) => id).toReversed(),
  });
  for (let i = 0; i < 5; i += 1) await send(`repeat ${i}`, 'error', 'k');
  await send('over', 'success', 'k');
  await eventually(() =>
    expect(titles().slice(4)).toEqual([0, 1, 2, 3, 4].map((i) => `repeat ${i}`).concat('over')),
  );
});

test('the message of an escalation begins with the cause, and ends with how long nobody acknowledged it', async () => {
  const { id } = await webhook();
  await ruleTo([], { name: 'on call', then: { channels: [id], escalate: [{ afterMs: 1_000 }] } });
  await server.notify(token, { title: 'Disk full', message: '/var', level: 'error', key: 'disk' });
  await eventually(() => expect(titles()).toEqual(['Disk full', 'Disk full']));
  expect(receiver.received.at(-1)?.json.data.message).toMatch(
    /^Nobody acknowledged this within \d+ s\.\n\n\/var$/,
  );
});

test('a resolve that is muted goes to no channel; the next one does', async () => {
  await webhook();
  await ruleTo(['hook'], { when: { minLevel: 'error' }, then: { channels: ['hook'] } });
  await ruleTo([], { name: 'quiet', when: { host: ['quiet'] }, then: { mute: true } });
  const send = (title: string, level: string, more: object = {}) =>
    server.notify(token, { title, message: 'm', level, key: 'k', ...more });
  await send('full', 'error');
  await send('muted', 'success', { host: 'quiet' });
  await send('fine', 'success');
  await eventually(() => expect(titles()).toEqual(['full', 'fine']));
});

test('a receiver that fails gets them again, in order, and what it refuses fails alone', async () => {
  const { id } = await webhook();
  await ruleTo([id]);
  receiver.replies.push(
    { status: 503, headers: { 'retry-after': '0' } },
    {},
    { status: 400, body: 'no such field' },
  );
  for (const title of ['a', 'b', 'c']) await server.notify(token, { title, message: 'm' });
  await eventually(() => expect(titles()).toEqual(['a', 'a', 'b', 'c']));
  await eventually(async () =>
    expect(await deliveriesOf(id)).toMatchObject([
      { title: 'c', state: 'delivered', attempts: 1 },
      { title: 'b', state: 'failed', attempts: 1, answer: 'answered 400: no such field' },
      { title: 'a', state: 'delivered', attempts: 2 },
    ]),
  );
});

test('while a channel rests it says since when and why; Retry-After counts, and a change of it ends the rest', async () => {
  const { id } = await webhook();
  const other = await webhook('other', '/other');
  await ruleTo([id, 'other']);
  receiver.answer = ({ path }) =>
    path === '/hook' ? { status: 429, headers: { 'retry-after': '1800' } } : {};
  for (const title of ['a', 'b']) await server.notify(token, { title, message: 'm' });
  await eventually(async () =>
    expect((await channelOf(id)).state).toMatchObject({ pending: 2, failures: 1 }),
  );
  const { state } = await channelOf(id);
  expect(Date.parse(state.retryAt as string) - Date.now()).toBeGreaterThan(1_500_000);
  expect(state).toMatchObject({ lastError: 'answered 429: ok', failingSince: expect.any(String) });
  await eventually(() => expect(titles('/other')).toEqual(['a', 'b']));
  expect(titles()).toEqual(['a']);
  receiver.answer = undefined;
  const settings = { url: `${receiver.url}/mended` };
  expect((await call('PATCH', `/api/channels/${id}`, { settings })).json.settings).toEqual(settings);
  await eventually(() => expect(titles('/mended')).toEqual(['a', 'b']));
  await eventually(async () =>
    expect((await channelOf(id)).state).toMatchObject({ pending: 0, failures: 0 }),
  );
  expect((await channelOf(other.id)).state.failures).toBe(0);
});

test('a disabled channel takes nothing; a deleted one stays in its rules without effect, as a deleted panel does', async () => {
  const { id } = await webhook();
  const rule = (await ruleTo([id])).json;
  await call('PATCH', `/api/channels/${id}`, { enabled: false });
  await server.notify(token, { title: 'while disabled', message: 'm' });
  await call('PATCH', `/api/channels/${id}`, { enabled: true });
  await server.notify(token, { title: 'enabled', message: 'm' });
  await eventually(() => expect(titles()).toEqual(['enabled']));
  expect((await call('DELETE', `/api/channels/${id}`)).status).toBe(204);
  const sent = await server.notify(token, { title: 'deleted', message: 'm' });
  expect(sent.status).toBe(200);
  expect((await call('GET', `/api/notifications/${sent.json.id}`)).json.channels).toEqual([]);
  expect((await call('GET', '/api/rules')).json.rules).toMatchObject([{ then: { channels: [id] } }]);
  const saved = await call('PATCH', `/api/rules/${rule.id}`, { note: 'x' });
  expect([saved.status, saved.json.error]).toEqual([400, expect.stringContaining('then.channels[0]')]);
  expect(titles()).toEqual(['enabled']);
});

test('a test is answered at once, with what the receiver said', async () => {
  const { id } = await webhook();
  expect((await call('POST', `/api/channels/${id}/test`)).json).toMatchObject({
    ok: true,
    answer: 'answered 200: ok',
  });
  receiver.replies.push({ status: 302, headers: { location: 'http://169.254.169.254/' } });
  expect((await call('POST', `/api/channels/${id}/test`)).json).toMatchObject({
    ok: false,
    answer: expect.stringContaining('redirects are not followed; use the final URL'),
  });
  expect(receiver.received).toHaveLength(2);
  for (const url of [
    'http://10.0.0.1/',
    'http://[::ffff:169.254.169.254]/',
    'http://localhost:1/',
    'http://0x7f000002/',
  ]) {
    await call('PATCH', `/api/channels/${id}`, { settings: { url } });
    const { json } = await call('POST', `/api/channels/${id}/test`);
    const isLocal = url.includes('localhost');
    expect([url, json.ok, json.answer]).toEqual([
      url,
      false,
      // What the name localhost resolves to is allowed here in part.
      isLocal ? expect.any(String) : expect.stringContaining('BELFRY_OUTBOUND_ALLOW'),
    ]);
  }
});

test('secrets are never answered, nor found in the database', async () => {
  const signingKey = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const authorization = 'Bearer very-secret';
  const { id, ...created } = await webhook('hook', '/hook', { secrets: { signingKey, authorization } });
  expect(created.signingKey).toBeUndefined();
  await call('PATCH', `/api/channels/${id}`, { secrets: { authorization: 'Bearer other-secret' } });
  await call('POST', `/api/channels/${id}/test`);
  expect(receiver.received[0]?.headers.authorization).toBe('Bearer other-secret');
  expect(
    (await call('PATCH', `/api/channels/${id}`, { secrets: { authorization: null } })).json.secrets,
  ).toEqual(['signingKey']);
  const answers = await Promise.all(
    ['/api/channels', '/api/audit', `/api/channels/${id}/deliveries`].map((path) => call('GET', path)),
  );
  const { channels } = server.running.directory;
  const record = await channels.find(await server.tenant(tenant), id);
  for (const text of [...answers.map((answer) => answer.text), JSON.stringify(record)])
    expect(text).not.toMatch(/-secret|BwcHBwcH/);
});

test('a secret cannot be guessed: each channel allows ten comparisons, and then ten a minute', async () => {
  const secrets = { authorization: 'Bearer very-secret' };
  const [one, other] = [await webhook('one', '/1', { secrets }), await webhook('other', '/2', { secrets })];
  const compare = (id: string, authorization: string, as = key) =>
    call('POST', `/api/channels/${id}/compare-secrets`, { secrets: { authorization } }, as);
  expect((await compare(one.id, secrets.authorization)).json).toEqual({ differing: [] });
  // All keys of the tenant together; a slow machine gets a few more.
  const second = await server.key('admin', tenant);
  let answer = await compare(one.id, 'guess');
  let guesses = 1;
  for (; answer.status === 200 && guesses < 30; guesses += 1) {
    expect(answer.json).toEqual({ differing: ['authorization'] });
    answer = await compare(one.id, `guess ${guesses}`, guesses % 2 === 0 ? key : second);
  }
  expect([answer.status, answer.json]).toEqual([429, { error: 'rate limit exceeded' }]);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(guesses).toBeGreaterThanOrEqual(10);
  expect(guesses).toBeLessThan(20);
  expect((await compare(other.id, secrets.authorization)).json).toEqual({ differing: [] });
});

test('a viewer sees where a channel sends to, and not what it takes to send there', async () => {
  const { id } = await webhook('hook', '/hooks/key');
  const settings = { url: 'https://ntfy.sh', topic: 'hidden' };
  await call('POST', '/api/channels', { name: 'ntfy', kind: 'ntfy', settings });
  const viewer = await server.key('viewer', tenant);
  const { json } = await call('GET', '/api/channels', undefined, viewer);
  expect(json.channels.map((each: Channel) => each.settings)).toEqual([
    { url: receiver.url },
    { url: 'https://ntfy.sh', topic: '…' },
  ]);
  receiver.answer = ({ path }) => ({ status: 400, body: `Cannot POST ${path}` });
  await ruleTo([id]);
  const sent = await server.notify(token, { title: 'a', message: 'm' });
  const answer = 'answered 400: Cannot POST /…/…';
  await eventually(async () => expect(await deliveriesOf(id)).toMatchObject([{ state: 'failed', answer }]));
  expect((await channelOf(id)).state.lastError).toBe(answer);
  const [list, deliveries, notification] = await Promise.all(
    ['/api/channels', `/api/channels/${id}/deliveries`, `/api/notifications/${sent.json.id}`].map((path) =>
      call('GET', path, undefined, viewer),
    ),
  );
  expect(list?.json.channels[0].state).toMatchObject({ failingSince: expect.any(String), lastError: null });
  expect(deliveries?.json.deliveries).toMatchObject([{ state: 'failed', answer: null }]);
  expect(notification?.json.channels).toMatchObject([{ state: 'failed', answer: null }]);
});

test('secrets follow no new address; a signing key that is removed is made anew', async () => {
  const made = await webhook('hook', '/hook', { secrets: { authorization: 'Bearer very-secret' } });
  const settings = { url: `${receiver.url}/elsewhere` };
  const patch = (body: object) => call('PATCH', `/api/channels/${made.id}`, body);
  const refused = await patch({ settings });
  expect([refused.status, refused.json.error]).toEqual([
    400,
    expect.stringContaining('secrets.authorization: enter it again, because url changes'),
  ]);
  expect((await patch({ settings, secrets: { authorization: 'Bearer new' } })).status).toBe(200);
  const { signingKey } = (await patch({ secrets: { signingKey: null } })).json;
  expect(signingKey).toMatch(/^whsec_/);
  expect(signingKey).not.toBe(made.signingKey);
  expect((await patch({ name: 'renamed' })).json.signingKey).toBeUndefined();
  await call('POST', `/api/channels/${made.id}/test`);
  const [{ headers, body, path }] = receiver.received as [Received];
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.from(signingKey.slice(6), 'base64');
  const mac = createHmac('sha256', key).update(content).digest('base64');
  expect([path, headers.authorization]).toEqual(['/elsewhere', 'Bearer new']);
  expect(headers['webhook-signature']).toBe(`v1,${mac}`);
});

test.each([
  [{ kind: 'webhook' }, 'settings.url: is required'],
  [{ kind: 'webhook', settings: { url: 'ftp://example.org' } }, 'settings.url: must be an absolute URL'],
  [
    { kind: 'webhook', settings: { url: 'https://a:b@example.org' } },
    'settings.url: must not contain a user',
  ],
  [{ kind: 'slack', settings: { url: 'https://example.org' } }, 'settings.url: belongs in secrets'],
  [
    { kind: 'push', settings: { uri: 'https://example.org' } },
    'settings.uri: this kind has actions, updates',
  ],
  [{ kind: 'slack', settings: { uri: 'https://example.org' } }, 'settings.uri: this kind has updates'],
  [
    { kind: 'mqtt', settings: { url: 'mqtt://x.example.org', topic: 't', stateTopic: 's' } },
    'settings.stateTopic: must be a topic with {alarm}',
  ],
  [{ kind: 'ntfy', settings: { topic: 'x', tpoic: 'y' } }, 'settings.tpoic: this kind has url, topic'],
  [
    { kind: 'webhook', settings: { url: 'https://example.org' }, secrets: { signingKey: 'short' } },
    'secrets.signingKey: ',
  ],
  [
    { kind: 'gotify', settings: { url: 'https://example.org' }, secrets: { token: 'a\nb' } },
    'secrets.token: must be one line',
  ],
  [{ kind: 'email', settings: { to: 'a@example.org' } }, 'settings.server: is required: the operator'],
  [{ kind: 'ntfy', settings: { topic: 'a/b' } }, 'settings.topic: must be 1 to 64 letters'],
  [{ kind: 'ntfy', settings: { topic: 'x', url: 'https://ntfy.sh/x' } }, 'settings.url: must be the server'],
  [{ kind: 'email', settings: { to: 'nobody' } }, 'settings.to: must be email addresses'],
])('what cannot work is refused: %j', async (given, error) => {
  const { status, json } = await call('POST', '/api/channels', { name: 'x', ...given });
  expect([status, json.error]).toEqual([400, expect.stringContaining(error)]);
});
