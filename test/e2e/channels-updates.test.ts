/** What happens to an alarm, as each kind of channel is told: a matrix of systems and events. */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ChannelDelivery } from '#contract/channels/channel.ts';
import type { AlarmEvent, ChannelKind } from '#contract/channels/channel-fields.ts';
import { eventually } from '../support/eventually.ts';
import { Mosquitto, missingMosquitto } from '../support/mosquitto.ts';
import { limitMs } from '../support/patience.ts';
import { Receiver } from '../support/receiver.ts';
import { TestServer } from '../support/server.ts';
import { skipReason } from '../support/skip-reason.ts';

const mails: string[] = [];
const smtp = new SMTPServer({
  ...{ authOptional: true, disabledCommands: ['STARTTLS'] },
  onData(stream, _session, done) {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => {
      mails.push(Buffer.concat(parts).toString('utf8'));
      done();
    });
  },
});
let receiver: Receiver;
let server: TestServer;
let tenant: string;
let key: string;
let token: string;
beforeAll(async () => {
  receiver = await Receiver.start();
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', () => resolve()));
  server = await TestServer.start({
    BELFRY_OUTBOUND_ALLOW: '127.0.0.1',
    BELFRY_SMTP_URL: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
    BELFRY_SMTP_FROM: 'belfry@example.org',
  });
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
});
let tenants = 0;
beforeEach(async () => {
  tenants += 1;
  tenant = `updates-${tenants}`;
  [key, token] = [await server.key('admin', tenant), await server.token({ tenant })];
  receiver.received.length = 0;
  // As Telegram and Discord answer: https://core.telegram.org/bots/api#making-requests, …/resources/message#message-object
  receiver.answer = ({ path }) => ({
    body: JSON.stringify(path.startsWith('/bot') ? { ok: true, result: { message_id: 17 } } : { id: '42' }),
  });
});

const call = (method: string, path: string, json?: unknown) =>
  server.call(method, path, { token: key, ...(json !== undefined && { json }) });
const channel = async (given: object): Promise<string> => {
  const { json, text } = await call('POST', '/api/channels', { name: 'out', ...given });
  if (!json.id) throw new Error(text);
  await call('POST', '/api/rules', { name: 'out', then: { channels: ['out'] } });
  return json.id;
};
const alarm = async (over: object = {}): Promise<string> =>
  (
    await server.notify(token, {
      title: 'Disk full',
      message: '93 %',
      level: 'error',
      key: 'disk/1',
      ...over,
    })
  ).json.id;
const deliveriesOf = async (id: string): Promise<ChannelDelivery[]> =>
  (await call('GET', `/api/channels/${id}/deliveries`)).json.deliveries;

const actions: readonly (readonly [AlarmEvent, (id: string) => Promise<unknown>])[] = [
  ['acknowledged', (id) => call('POST', `/api/alarms/${id}/acknowledge`, { note: 'on my way', forMs: 0 })],
  ['unacknowledged', (id) => call('DELETE', `/api/alarms/${id}/acknowledge`)],
  ['shelved', (id) => call('POST', `/api/alarms/${id}/shelve`, { forMs: 3_600_000 })],
  ['unshelved', (id) => call('DELETE', `/api/alarms/${id}/shelve`)],
  ['ended', (id) => call('POST', `/api/alarms/${id}/clear`, { note: 'replaced the disk' })],
];
/** What a person reads. */
const sentences: Readonly<Record<AlarmEvent, RegExp>> = {
  acknowledged: /Acknowledged by .+: on my way/,
  unacknowledged: /Open again: acknowledgement taken back by /,
  shelved: /Shelved by .+ until 20\d\d-\d\d-\d\d \d\d:\d\d UTC/,
  unshelved: /Open again: taken off the shelf by /,
  ended: /Cleared by .+: replaced the disk/,
};

interface System {
  readonly kind: ChannelKind;
  readonly setup: () => object;
  /** Beside the method and the path; undefined: nothing is sent. */
  readonly expected: (event: AlarmEvent, id: string) => object | undefined;
}

const text = (event: AlarmEvent) => expect.stringMatching(sentences[event]);
const systems: readonly System[] = [
  {
    kind: 'webhook',
    setup: () => ({ settings: { url: `${receiver.url}/hook`, updates: 'all' } }),
    expected: (event, id) => ({
      ...{ method: 'POST', path: '/hook' },
      headers: { 'webhook-id': expect.stringMatching(new RegExp(`^${id}-\\d+$`)) },
      json: {
        ...{ type: `alarm.${event}`, timestamp: expect.any(String) },
        data: {
          ...{ at: expect.any(String), by: expect.any(String) },
          note: event === 'acknowledged' ? 'on my way' : event === 'ended' ? 'replaced the disk' : null,
          until: event === 'shelved' ? expect.stringMatching(/^20/) : null,
          notification: { id, title: 'Disk full', key: 'disk/1', tenant },
        },
      },
    }),
  },
  {
    kind: 'pagerduty',
    setup: () => ({ settings: { url: receiver.url }, secrets: { routingKey: 'r' } }),
    expected: (event) =>
      event.startsWith('un')
        ? undefined
        : {
            ...{ method: 'POST', path: '/v2/enqueue' },
            json: {
              ...{ routing_key: 'r', dedup_key: 'disk/1' },
              event_action: event === 'ended' ? 'resolve' : 'acknowledge',
            },
          },
  },
  {
    kind: 'alertmanager',
    setup: () => ({ settings: { url: `${receiver.url}/am`, silences: 'off' }, secrets: { token: 'a' } }),
    expected: (event) => ({
      ...{ method: 'POST', path: '/am/api/v2/alerts', headers: { authorization: 'Bearer a' } },
      json: [
        {
          labels: { alertname: 'Belfry', tenant, alarm: 'disk/1' },
          ...(event !== 'ended' && { annotations: { summary: 'Disk full', state: text(event) } }),
        },
      ],
    }),
  },
  {
    kind: 'ntfy',
    setup: () => ({ settings: { url: receiver.url, topic: 'alerts', updates: 'all' } }),
    expected: (event, id) => ({
      ...{ method: 'POST', path: '/' },
      json: { topic: 'alerts', sequence_id: id, title: 'Disk full', message: text(event), priority: 2 },
    }),
  },
  {
    kind: 'gotify',
    setup: () => ({ settings: { url: receiver.url, updates: 'all' }, secrets: { token: 'a' } }),
    expected: (event) => ({
      ...{ method: 'POST', path: '/message' },
      json: { title: 'Disk full', message: text(event), priority: 1 },
    }),
  },
  {
    kind: 'slack',
    setup: () => ({ settings: { updates: 'all' }, secrets: { url: `${receiver.url}/services/x` } }),
    expected: (event) => ({ method: 'POST', path: '/services/x', json: { text: text(event) } }),
  },
  {
    kind: 'teams',
    setup: () => ({ settings: { updates: 'all' }, secrets: { url: `${receiver.url}/workflows/x` } }),
    expected: (event) => ({
      ...{ method: 'POST', path: '/workflows/x' },
      json: { attachments: [{ content: { body: [{ text: 'Disk full' }, { text: text(event) }] } }] },
    }),
  },
  {
    kind: 'discord',
    setup: () => ({ secrets: { url: `${receiver.url}/api/webhooks/1/x?thread_id=2` } }),
    expected: (event) => ({
      ...{ method: 'PATCH', path: '/api/webhooks/1/x/messages/42?thread_id=2' },
      json: { content: text(event), embeds: [{ title: 'Disk full' }] },
    }),
  },
  {
    kind: 'telegram',
    setup: () => ({ settings: { url: receiver.url, chat: '-1', updates: 'all' }, secrets: { token: '1:x' } }),
    expected: (event) => ({
      ...{ method: 'POST', path: '/bot1:x/editMessageText' },
      json: { chat_id: '-1', message_id: 17, text: text(event) },
    }),
  },
  {
    kind: 'apprise',
    setup: () => ({ settings: { url: `${receiver.url}/notify/ops`, updates: 'all' } }),
    expected: (event) => ({
      ...{ method: 'POST', path: '/notify/ops' },
      json: { title: 'Disk full', body: text(event), type: event === 'ended' ? 'success' : 'info' },
    }),
  },
];

test.each(systems)('$kind is told each event within two seconds', async ({ kind, setup, expected }) => {
  const out = await channel({ kind, ...setup() });
  const id = await alarm();
  await eventually(() => expect(receiver.received).toHaveLength(1));
  for (const [event, act] of actions) {
    await eventually(async () => expect((await deliveriesOf(out))[0]?.state).toBe('delivered'));
    receiver.received.length = 0;
    expect(await act(id)).toMatchObject({ status: 200 });
    const wanted = expected(event, id);
    if (!wanted) continue;
    await eventually(() => expect(receiver.received).toMatchObject([wanted]), { timeout: limitMs(2_000) });
  }
  const told = actions.map(([event]) => event).filter((event) => expected(event, id));
  await eventually(async () =>
    expect((await deliveriesOf(out)).map(({ event, state, title }) => [event, state, title])).toEqual(
      [null, ...told].toReversed().map((event) => [event, 'delivered', 'Disk full']),
    ),
  );
  const { channels } = (await call('GET', `/api/notifications/${id}`)).json;
  expect(channels.map(({ event }: ChannelDelivery) => event)).toEqual([null, ...told]);
});

test('email answers its mail with each event within two seconds, in the thread of the key', async () => {
  const out = await channel({ kind: 'email', settings: { to: 'ops@example.org', updates: 'all' } });
  mails.length = 0;
  const id = await alarm();
  await eventually(() => expect(mails).toHaveLength(1));
  const header = (name: string, mail = mails.at(-1) ?? '') =>
    new RegExp(`^${name}: (.*(?:\r?\n .*)*)`, 'im').exec(mail)?.[1]?.replaceAll(/\s+/g, ' ');
  const thread = header('References');
  const ids = new Set<unknown>();
  for (const [event, act] of actions) {
    mails.length = 0;
    await act(id);
    await eventually(() => expect(mails).toHaveLength(1), { timeout: limitMs(2_000) });
    expect(mails[0]?.replaceAll(/=\r?\n/g, '')).toMatch(sentences[event]);
    expect([header('Subject'), header('In-Reply-To'), header('References')]).toEqual([
      ...['Re: [error] Disk full', `<${id}@example.org>`, `${thread} <${id}@example.org>`],
    ]);
    ids.add(header('Message-ID'));
  }
  expect(ids.size).toBe(actions.length);
  await eventually(async () =>
    expect((await deliveriesOf(out)).every(({ state }) => state === 'delivered')).toBe(true),
  );
});

const missing = skipReason(missingMosquitto());
describe.skipIf(missing !== undefined)(missing ?? 'with Mosquitto', () => {
  test('a lamp reads the state of an alarm from its topic, within two seconds and also when it comes later', async () => {
    const broker = await Mosquitto.start();
    onTestFinished(() => broker.stop());
    const url = `mqtt://127.0.0.1:${broker.port}`;
    const settings = { url, user: 'belfry', topic: 'out', stateTopic: 'alarms/{tenant}/{alarm}' };
    await channel({ kind: 'mqtt', settings, secrets: { password: 'se:cret' } });
    const lamp = await broker.subscribe('alarms/#', '%r %t %p');
    onTestFinished(() => lamp.stop());
    const id = await alarm();
    const states = () => lamp.lines().map((line) => JSON.parse(line.slice(line.indexOf('{'))));
    await eventually(() => expect(states()).toMatchObject([{ state: 'open', notification: { id } }]));
    // The slash of the key is no level of the topic.
    expect(lamp.lines()[0]).toMatch(new RegExp(`^0 alarms/${tenant}/disk_1-[0-9a-f]{8} `));
    const after = ['acknowledged', 'open', 'shelved', 'open', 'ended'];
    for (const [i, [, act]] of actions.entries()) {
      await act(id);
      await eventually(() => expect(states()[i + 1]).toMatchObject({ state: after[i] }), {
        timeout: limitMs(2_000),
      });
    }
    expect(states()[1]).toMatchObject({
      note: 'on my way',
      by: expect.any(String),
      until: null,
      expiresAt: null,
    });
    await alarm();
    await eventually(() => expect(states().at(-1)).toMatchObject({ state: 'open' }));
    await alarm({ level: 'success', title: 'fine' });
    await eventually(() => expect(states().at(-1)).toMatchObject({ state: 'ended' }));
    // The broker forgets what panels no longer show.
    await alarm({ key: 'short', ttl: 1_500 });
    const expiresAt = expect.stringMatching(/^20/);
    await eventually(() =>
      expect(states().at(-1)).toMatchObject({ notification: { key: 'short' }, expiresAt }),
    );
    await eventually(async () => {
      const later = await broker.subscribe('alarms/#', '%r %p');
      try {
        await broker.publish('alarms/end', 'end');
        await eventually(() => expect(later.lines().at(-1)).toBe('0 end'));
        expect(later.lines()).toEqual([expect.stringMatching(/^1 \{"state":"ended"/), '0 end']);
      } finally {
        later.stop();
      }
    });
  });
});

test('an acknowledgement that ends by itself is said to be over', async () => {
  await channel({ kind: 'webhook', settings: { url: `${receiver.url}/hook`, updates: 'all' } });
  const id = await alarm();
  await call('POST', `/api/alarms/${id}/acknowledge`, { forMs: 1_000 });
  await eventually(() =>
    expect(receiver.received.map(({ json }) => [json.type, json.data.by])).toEqual([
      ['notification.created', undefined],
      ['alarm.acknowledged', expect.any(String)],
      ['alarm.unacknowledged', null],
    ]),
  );
  expect(receiver.received[1]?.json.data.until).toEqual(expect.any(String));
});

test('a webhook of before the upgrade gets its notifications alone, and the setting must be one of three', async () => {
  const out = await channel({ kind: 'webhook', settings: { url: `${receiver.url}/hook` } });
  const id = await alarm();
  for (const [, act] of actions) await act(id);
  await alarm({ title: 'next' });
  await eventually(() => expect(receiver.received).toHaveLength(2));
  expect(receiver.received.map(({ json }) => json.type)).toEqual([
    'notification.created',
    'notification.created',
  ]);
  const { status, json } = await call('PATCH', `/api/channels/${out}`, {
    settings: { url: `${receiver.url}/hook`, updates: 'some' },
  });
  expect([status, json.error]).toEqual([
    400,
    expect.stringContaining('settings.updates: must be none or ends or all'),
  ]);
});

test('a message that cannot be changed any more fails alone, and the channel goes on', async () => {
  const settings = { url: receiver.url, chat: '-1', updates: 'all' };
  const out = await channel({ kind: 'telegram', settings, secrets: { token: '1:x' } });
  receiver.answer = ({ path }) =>
    path.endsWith('/sendMessage')
      ? { body: JSON.stringify({ ok: true, result: { message_id: 17 } }) }
      : { status: 400, body: 'message to edit not found' };
  const id = await alarm();
  await call('POST', `/api/alarms/${id}/acknowledge`, {});
  await alarm({ key: 'other' });
  await eventually(async () =>
    expect((await deliveriesOf(out)).map(({ state }) => state)).toEqual(['delivered', 'failed', 'delivered']),
  );
  const { channels } = (await call('GET', '/api/channels')).json;
  expect(channels[0].state).toMatchObject({ failures: 0, failingSince: null });
});

test('a message that somebody has deleted on Discord fails alone, and the channel goes on', async () => {
  const out = await channel({ kind: 'discord', secrets: { url: `${receiver.url}/api/webhooks/1/x` } });
  receiver.answer = ({ method }) =>
    method === 'POST'
      ? { body: JSON.stringify({ id: '42' }) }
      : { status: 404, body: JSON.stringify({ message: 'Unknown Message', code: 10_008 }) };
  const id = await alarm();
  await call('POST', `/api/alarms/${id}/acknowledge`, {});
  await alarm({ key: 'other' });
  await eventually(async () =>
    expect((await deliveriesOf(out)).map(({ state }) => state)).toEqual(['delivered', 'failed', 'delivered']),
  );
});

test('a message on Telegram that already says what happened has been delivered', async () => {
  const settings = { url: receiver.url, chat: '-1', updates: 'all' };
  const out = await channel({ kind: 'telegram', settings, secrets: { token: '1:x' } });
  receiver.answer = ({ path }) =>
    path.endsWith('/sendMessage')
      ? { body: JSON.stringify({ ok: true, result: { message_id: 17 } }) }
      : { status: 400, body: 'Bad Request: message is not modified' };
  const id = await alarm();
  await call('POST', `/api/alarms/${id}/acknowledge`, {});
  await eventually(async () =>
    expect((await deliveriesOf(out)).map(({ state }) => state)).toEqual(['delivered', 'delivered']),
  );
});

test('an alarm that Belfry raised and takes off itself has ended, by nobody', async () => {
  await channel({ kind: 'webhook', settings: { url: `${receiver.url}/hook`, updates: 'ends' } });
  await alarm({ key: 'backup', level: 'info', expectEvery: '1s' });
  await eventually(() => expect(receiver.received).toHaveLength(2));
  expect((await call('DELETE', '/api/expectations?key=backup')).status).toBe(204);
  await eventually(() =>
    expect(receiver.received[2]?.json).toMatchObject({ type: 'alarm.ended', data: { by: null } }),
  );
});
