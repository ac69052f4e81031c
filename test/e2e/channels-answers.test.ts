/** What people do in other systems about alarms, as it comes back: a matrix of systems and events. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ChannelDelivery } from '#contract/channels/channel.ts';
import {
  pagerdutyWebhook,
  type SignedRequest,
  slackPress,
  telegramPress,
} from '../support/answering-systems.ts';
import { createAnswersLab } from '../support/answers-lab.ts';
import { eventually } from '../support/eventually.ts';
import { limitMs } from '../support/patience.ts';
import { Receiver } from '../support/receiver.ts';
import { TestServer } from '../support/server.ts';

const secret = 'a-secret-of-some-length';
let receiver: Receiver;
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_OUTBOUND_ALLOW: '127.0.0.1' });
});
afterAll(() => server.stop());
beforeEach(async () => {
  // One for each test: what the test before has queued must not come to it.
  receiver = await Receiver.start();
  // As Telegram answers: https://core.telegram.org/bots/api#making-requests
  receiver.answer = () => ({ body: JSON.stringify({ ok: true, result: { message_id: 17 } }) });
});

afterEach(() => receiver.close());

const lab = createAnswersLab('answers', () => server);
const { call, channel, alarmOf } = lab;
const routeTo = (...channels: string[]) => call('POST', '/api/rules', { name: 'out', then: { channels } });
const alarm = (over: object = {}) => lab.alarm({ key: 'disk/1', ...over });
const answer = (id: string, { headers, body }: SignedRequest, name = lab.tenant) =>
  server.call('POST', `/api/answers/${name}/${id}`, { headers, body });
const eventsOf = async (id: string): Promise<ChannelDelivery['event'][]> =>
  (await call('GET', `/api/channels/${id}/deliveries`)).json.deliveries
    .map(({ event }: ChannelDelivery) => event)
    .toReversed();
const requestsTo = (path: string) => receiver.received.filter((each) => each.path.startsWith(path));

interface System {
  readonly kind: 'pagerduty' | 'slack' | 'telegram';
  readonly path: string;
  readonly setup: () => object;
  readonly person: string;
  readonly events: readonly string[];
  /** What it sends when somebody does this about the alarm of the message that it got. */
  readonly send: (event: string, over?: { person?: string; at?: number }) => SignedRequest;
}

const buttons: Readonly<Record<string, number>> = { acknowledged: 0, shelved: 1 };
const slackButtons = () =>
  requestsTo('/services')[0]?.json.attachments[0].blocks.find(
    ({ type }: { type: string }) => type === 'actions',
  )?.elements;
const telegramButtons = () => requestsTo('/bot')[0]?.json.reply_markup?.inline_keyboard[0];
const webhooks: Readonly<Record<string, string>> = {
  acknowledged: 'incident.acknowledged',
  unacknowledged: 'incident.unacknowledged',
  ended: 'incident.resolved',
};

const systems: readonly System[] = [
  {
    ...{ kind: 'pagerduty', path: '/v2/enqueue', person: 'Ann Example (PagerDuty)' },
    setup: () => ({
      settings: { url: receiver.url, updates: 'all' },
      secrets: { routingKey: 'r', webhookSecret: secret },
    }),
    events: ['acknowledged', 'unacknowledged', 'ended'],
    send: (event, over) => pagerdutyWebhook(secret, webhooks[event] ?? '', { key: 'disk/1', ...over }),
  },
  {
    ...{ kind: 'slack', path: '/services/x', person: 'ann.example (Slack)' },
    setup: () => ({
      settings: { updates: 'all' },
      secrets: { url: `${receiver.url}/services/x`, signingSecret: secret },
    }),
    events: ['acknowledged', 'shelved'],
    send: (event, over) =>
      slackPress(secret, slackButtons()[buttons[event] ?? 0], { url: `${receiver.url}/actions/x`, ...over }),
  },
  {
    ...{ kind: 'telegram', path: '/bot1:x/', person: 'Ann Example (Telegram)' },
    setup: () => ({
      settings: { url: receiver.url, chat: '-100', updates: 'all' },
      secrets: { token: '1:x', webhookSecret: secret },
    }),
    events: ['acknowledged', 'shelved'],
    send: (event, { person } = {}) =>
      telegramPress(secret, telegramButtons()[buttons[event] ?? 0].callback_data, {
        ...{ chat: -100, ...(person && { person }) },
      }),
  },
];

/** A channel of the system, and a webhook that gets everything, with one alarm. */
async function world({ kind, setup, path }: System) {
  const own = await channel('own', { kind, ...setup() });
  const other = await channel('other', {
    ...{ kind: 'webhook', settings: { url: `${receiver.url}/hook`, updates: 'all' } },
  });
  await routeTo('own', 'other');
  const id = await alarm();
  await eventually(() => expect([requestsTo(path).length, requestsTo('/hook').length]).toEqual([1, 1]));
  return { own, other, id };
}

test.each(systems)(
  'what somebody does in $kind holds within two seconds, names the person, and goes to the other channels alone',
  async (system) => {
    const { own, other, id } = await world(system);
    for (const [i, event] of system.events.entries()) {
      expect(await answer(own, system.send(event))).toMatchObject({ status: 200 });
      await eventually(
        () =>
          expect(requestsTo('/hook')[i + 1]?.json).toMatchObject({
            ...{ type: `alarm.${event}`, data: { by: system.person, notification: { id } } },
          }),
        { timeout: limitMs(2_000) },
      );
    }
    const { events } = (await call('GET', `/api/alarms/${id}`)).json;
    expect(events.map(({ by }: { by: string }) => by)).toEqual(system.events.map(() => system.person));
    // The next one of the same channel comes after what would have gone back.
    await alarm({ key: 'next' });
    await eventually(async () => expect(await eventsOf(own)).toEqual([null, null]));
    expect(await eventsOf(other)).toEqual([null, ...system.events, null]);
  },
);

test.each(systems)('the same from $kind once more changes nothing', async (system) => {
  const { own, other, id } = await world(system);
  const [first = ''] = system.events;
  const sent = system.send(first);
  for (let i = 0; i < 2; i++) expect((await answer(own, sent)).status).toBe(200);
  await call('DELETE', `/api/alarms/${id}/acknowledge`);
  // Telegram sends no time: there, each press counts.
  if (system.kind !== 'telegram') expect((await answer(own, sent)).status).toBe(200);
  expect(await alarmOf(id)).toMatchObject({ acknowledged: null });
  expect(await eventsOf(other)).toEqual([null, 'acknowledged', 'unacknowledged']);
});

const unsigned: readonly (readonly [string, (request: SignedRequest) => SignedRequest])[] = [
  ['without a signature', ({ body }) => ({ headers: { 'content-type': 'application/json' }, body })],
  [
    'with a body that was changed',
    ({ headers, body }) => ({
      headers: { ...headers, 'x-telegram-bot-api-secret-token': `${secret}.` },
      body: `${body} `,
    }),
  ],
];
const old = 6 * 60_000;
test.each(systems)('what was not signed for the channel by $kind is refused, all alike', async (system) => {
  const { own, other, id } = await world(system);
  const [first = ''] = system.events;
  const good = system.send(first);
  const strange = await server.key('admin', `${lab.tenant}-2`);
  expect(strange).toBeTruthy();
  const tries: readonly (readonly [string, SignedRequest, string?])[] = [
    ...unsigned.map(([, forge]) => [own, forge(good)] as const),
    // Of a system that says when: too old, although it is signed.
    ...(system.kind === 'slack' ? [[own, system.send(first, { at: Date.now() - old })] as const] : []),
    // A channel of another kind, none at all, and one of another tenant.
    ...[[other, good] as const, [id, good] as const, ['x', good] as const, ['%00', good] as const],
    ...[[own, good, `${lab.tenant}-2`] as const, [own, good, 'nobody'] as const, [own, good, '%00'] as const],
  ];
  const refusals = new Set<string>();
  for (const [channelId, request, name] of tries) {
    const { status, json } = await answer(channelId, request, name);
    refusals.add(JSON.stringify([status, json]));
  }
  const error = 'the signature is not valid, or no channel takes answers at this address';
  expect([...refusals].map((each) => JSON.parse(each))).toMatchObject([[404, { error }]]);
  expect(await alarmOf(id)).toMatchObject({ state: 'open' });
  expect(await answer(own, good)).toMatchObject({ status: 200 });
  expect(await alarmOf(id)).toMatchObject({ state: 'acknowledged' });
});

test.each(systems)('a name of $kind is one line, and nothing in it hides the system', async (system) => {
  const { own, id } = await world(system);
  const person = `\u202ebelfry:Eve\r\n\0<b>*_@here ${'x'.repeat(9_999)}`;
  expect((await answer(own, system.send('acknowledged', { person }))).status).toBe(200);
  const by = (await alarmOf(id)).acknowledged?.by ?? '';
  expect(by).toMatch(/^belfry:Eve <b>\*_@here x+… \((?:PagerDuty|Slack|Telegram)\)$/);
  expect([...by].length).toBeLessThan(100);
  await eventually(() => expect(requestsTo('/hook')[1]?.json.data).toMatchObject({ by }));
});

test('what PagerDuty says that it got from Belfry, or did itself, is nobody’s answer', async () => {
  const { own, id } = await world(systems[0] as System);
  for (const agent of ['inbound_integration_reference', null])
    for (const type of ['incident.acknowledged', 'incident.resolved'])
      expect((await answer(own, pagerdutyWebhook(secret, type, { key: 'disk/1', agent }))).status).toBe(200);
  for (const type of ['pagey.ping', 'incident.triggered', 'service.updated', '__proto__'])
    expect((await answer(own, pagerdutyWebhook(secret, type, { key: 'disk/1' }))).status).toBe(200);
  expect((await answer(own, pagerdutyWebhook(secret, 'incident.resolved', { key: 'other' }))).status).toBe(
    200,
  );
  expect(await alarmOf(id)).toMatchObject({ state: 'open' });
});

test('an acknowledgement that has timed out in PagerDuty is over here, too', async () => {
  const pagerduty = systems[0] as System;
  const { own, id } = await world(pagerduty);
  await answer(own, pagerduty.send('acknowledged'));
  expect(await alarmOf(id)).toMatchObject({ state: 'acknowledged' });
  const over = pagerdutyWebhook(secret, 'incident.unacknowledged', { key: 'disk/1', agent: null });
  expect((await answer(own, over)).status).toBe(200);
  const { state, events } = await alarmOf(id);
  expect(state).toBe('open');
  expect(events.map(({ by }: { by: string }) => by).toSorted()).toEqual([
    'Ann Example (PagerDuty)',
    'PagerDuty',
  ]);
});

test('what PagerDuty sends late, about an earlier alarm of the key, does not end the one that stands', async () => {
  const { own, id } = await world(systems[0] as System);
  const late = pagerdutyWebhook(secret, 'incident.resolved', { key: 'disk/1', stoodMs: 3_600_000 });
  await call('POST', `/api/alarms/${id}/clear`, {});
  const next = await alarm();
  expect((await answer(own, late)).status).toBe(200);
  expect(await alarmOf(next)).toMatchObject({ state: 'open' });
});

test('signed nonsense changes nothing, and is answered', async () => {
  const { own, id } = await world(systems[2] as System);
  const headers = { 'x-telegram-bot-api-secret-token': secret };
  const noText = '{"toString":1,"valueOf":1}';
  const noIds = `{"callback_query":{"id":${noText},"message":{"message_id":${noText},"chat":{"id":${noText}}}}}`;
  for (const body of [
    '',
    '{',
    'null',
    '[]',
    '{"callback_query":7}',
    '{"callback_query":{"data":{}}}',
    '\0',
    noIds,
  ])
    expect((await answer(own, { headers, body })).status).toBe(200);
  expect((await answer(own, { headers, body: 'x'.repeat(70_000) })).status).toBe(413);
  const data = telegramButtons()[0].callback_data;
  // Another chat, and a button of a channel or notification that there is not.
  const presses = [
    telegramPress(secret, data, { chat: -101 }),
    telegramPress(secret, data.replace(/\.[^.]+\./, `.${'A'.repeat(22)}.`), { chat: -100 }),
    telegramPress(secret, data.replace(/[^.]+$/, 'A'.repeat(22)), { chat: -100 }),
    telegramPress(secret, data.replace('acknowledge', 'constructor'), { chat: -100 }),
  ];
  for (const press of presses) expect((await answer(own, press)).status).toBe(200);
  expect(await alarmOf(id)).toMatchObject({ state: 'open' });
});

test('the message on Telegram says who did it, the press gets an answer, and the buttons come back with the alarm', async () => {
  const { own, id } = await world(systems[2] as System);
  const { json } = await answer(own, (systems[2] as System).send('acknowledged'));
  expect(json).toEqual({ method: 'answerCallbackQuery', callback_query_id: 'q1', text: 'Done.' });
  const edits = () => requestsTo('/bot1:x/editMessageText').map(({ json: edit }) => edit);
  await eventually(() =>
    expect(edits()).toMatchObject([
      {
        chat_id: '-100',
        message_id: 17,
        text: expect.stringMatching(/^Acknowledged by Ann Example \(Telegram\)/),
      },
    ]),
  );
  expect(edits()[0]).not.toHaveProperty('reply_markup');
  expect(
    (await answer(own, telegramPress(secret, telegramButtons()[0].callback_data, { chat: -100 }))).json.text,
  ).toBe('Nothing was changed: Ann Example (Telegram) has acknowledged it already.');
  await call('DELETE', `/api/alarms/${id}/acknowledge`);
  await eventually(() => expect(edits()[1]?.reply_markup).toEqual({ inline_keyboard: [telegramButtons()] }));
});

test('the message in Slack says who did it in the place of the buttons, and others learn that it is done', async () => {
  const slack = systems[1] as System;
  const { own } = await world(slack);
  const again = slack.send('acknowledged', { person: 'bob' });
  await answer(own, slack.send('acknowledged'));
  const answers = () => requestsTo('/actions/x').map(({ json }) => json);
  await eventually(() => expect(answers()).toMatchObject([{ replace_original: true }]));
  const [{ blocks }] = answers()[0].attachments;
  expect(blocks[0].text.text).toMatch(/^Acknowledged by ann\.example \(Slack\)/);
  expect(blocks.some(({ type }: { type: string }) => type === 'actions')).toBe(false);
  await answer(own, again);
  await eventually(() =>
    expect(answers()[1]).toEqual({
      ...{ response_type: 'ephemeral', replace_original: false },
      text: 'Nothing was changed: ann.example (Slack) has acknowledged it already.',
    }),
  );
  // Only where the channel sends anyway.
  const elsewhere = slackPress(secret, slackButtons()[1], { url: 'http://127.0.0.2:1/x' });
  expect((await answer(own, elsewhere)).status).toBe(200);
});

test('channels of one Slack app have one address, and each button acts for its own channel', async () => {
  const { kind, setup } = systems[1] as System;
  const [addressed, second] = [
    await channel('addressed', { kind, ...setup() }),
    await channel('second', { kind, ...setup() }),
  ];
  await routeTo('second', 'addressed');
  const id = await alarm();
  await eventually(() => expect(requestsTo('/services')).toHaveLength(2));
  const ids = requestsTo('/services').map(({ json }) => json.attachments[0].blocks.at(-1).elements[0]);
  for (const [i, button] of ids.entries()) {
    const pressed = slackPress(secret, button, { url: `${receiver.url}/actions/x` });
    expect((await answer(addressed, pressed)).status).toBe(200);
    expect(await alarmOf(id)).toMatchObject({ state: 'acknowledged' });
    await call('DELETE', `/api/alarms/${id}/acknowledge`);
    // Each of them learns what was done in the other one.
    await eventually(async () => {
      const got = [...(await eventsOf(addressed)), ...(await eventsOf(second))];
      expect(got.filter((event) => event === 'acknowledged')).toHaveLength(i + 1);
    });
  }
  for (const each of [addressed, second])
    expect((await eventsOf(each)).filter((event) => event === 'acknowledged')).toHaveLength(1);
});

test('without its secret a channel has no buttons and takes no answers, and a test has none', async () => {
  const settings = { url: receiver.url, chat: '-100' };
  const own = await channel('own', { kind: 'telegram', settings, secrets: { token: '1:x' } });
  await routeTo('own');
  await alarm();
  await eventually(() => expect(requestsTo('/bot')).toHaveLength(1));
  expect(requestsTo('/bot')[0]?.json).not.toHaveProperty('reply_markup');
  const data = `acknowledge.${'A'.repeat(22)}.${'A'.repeat(22)}`;
  expect((await answer(own, telegramPress('', data, { chat: -100 }))).status).toBe(404);
  const short = await call('PATCH', `/api/channels/${own}`, { secrets: { webhookSecret: 'short' } });
  expect(short).toMatchObject({
    status: 400,
    json: { error: expect.stringContaining('secrets.webhookSecret') },
  });
  await call('PATCH', `/api/channels/${own}`, { secrets: { webhookSecret: secret } });
  await call('POST', `/api/channels/${own}/test`);
  await eventually(() => expect(requestsTo('/bot')).toHaveLength(2));
  expect(requestsTo('/bot')[1]?.json).not.toHaveProperty('reply_markup');
});

test('a disabled channel answers nothing', async () => {
  const pagerduty = systems[0] as System;
  const { own, id } = await world(pagerduty);
  await call('PATCH', `/api/channels/${own}`, { enabled: false });
  expect((await answer(own, pagerduty.send('ended'))).status).toBe(200);
  expect(await alarmOf(id)).toMatchObject({ state: 'open' });
});

test('a secret that Belfry never sends stays when the address changes', async () => {
  const own = await channel('own', { kind: 'pagerduty', ...(systems[0] as System).setup() });
  const settings = { url: `${receiver.url}/eu` };
  const changed = await call('PATCH', `/api/channels/${own}`, { settings, secrets: { routingKey: 's' } });
  expect(changed).toMatchObject({ status: 200, json: { secrets: ['routingKey', 'webhookSecret'] } });
  expect(changed.text).not.toContain(secret);
});
