import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { generate, type Packet, parser } from 'mqtt-packet';
import { expect, test } from 'vitest';
import type { ChannelKind } from '#contract/channels/channel-fields.ts';
import { noTexts } from '#contract/history/fields.ts';
import { createOutbound, type OutboundRequest } from '#outbound/outbound.ts';
import { createMask } from './delivery-answer.ts';
import { sendMail } from './kinds/email.ts';
import type { Brokers } from './kinds/mqtt.ts';
import type { ChannelSetup, OutgoingNotification } from './message.ts';
import { secretsOfMail, send } from './send.ts';

const notification: OutgoingNotification = {
  ...{ id: 'n', tenant: 't', receivedAt: 0, title: 'Disk full', message: '満'.repeat(16_384) },
  ...{
    level: 'error',
    rank: 40,
    ...noTexts,
    instructions: null,
    alarm: 'a',
    state: 'open',
    host: '満'.repeat(255),
    key: '満'.repeat(255),
    ttl: 0,
  },
};

/** What a kind sends, and what it makes of an answer. */
async function exchange(kind: ChannelKind, setup: Partial<ChannelSetup>, status = 200, answer = '') {
  const sent: OutboundRequest[] = [];
  const outbound = {
    ...createOutbound([]),
    request: async (request: OutboundRequest) => {
      sent.push(request);
      return { status, headers: {}, body: answer };
    },
  };
  const brokers = { idleMs: 0, kept: new Map() };
  const options = { outbound, brokers, mail: undefined, now: () => 0, signal: AbortSignal.any([]) };
  const result = await send(kind, { settings: {}, secrets: {}, ...setup }, notification, options);
  return { ...result, url: sent[0]?.url, body: sent[0]?.body ?? '' };
}

test('the Apprise API: an unknown key is tried again, a partial failure is not', async () => {
  const setup = { settings: { url: 'https://apprise.example.org/notify/ops' } };
  expect(await exchange('apprise', setup)).toMatchObject({ outcome: 'delivered' });
  expect(await exchange('apprise', setup, 204)).toMatchObject({
    ...{ outcome: 'retry', answer: 'there is no configuration with this key' },
  });
  expect(await exchange('apprise', setup, 424)).toMatchObject({ outcome: 'failed', answer: 'answered 424' });
});

test('messages fit into what ntfy and Teams take, in bytes', async () => {
  const ntfy = await exchange('ntfy', { settings: { url: 'https://ntfy.example.org/x', topic: 'x' } });
  expect(ntfy.url).toBe('https://ntfy.example.org/');
  expect(Buffer.byteLength(JSON.parse(ntfy.body).message)).toBeLessThanOrEqual(4_096);
  expect(JSON.parse(ntfy.body).message).toMatch(/^満+…\n\nerror · [満 ·]+…$/);
  const teams = await exchange('teams', { secrets: { url: 'https://teams.example.org' } });
  expect(Buffer.byteLength(teams.body)).toBeLessThan(28_000);
});

test('a webhook without its key sends nothing', async () => {
  const result = await exchange('webhook', { settings: { url: 'https://example.org' } });
  expect(result).toMatchObject({ outcome: 'retry', url: undefined });
});

const slackPath = '/services/T00000000/B00000001/abcDEF123456ghi';
const slackUrl = `https://hooks.slack.com${slackPath}`;
const teamsUrl =
  'https://prod-1.logic.azure.com/workflows/0a1b2c3d4e5f/triggers/manual?sp=%2Ftriggers%2Fmanual%2Frun&sig=aB3-x_9%2Bz1%2FqQ%3D';
const hook = { url: 'https://example.org/hooks/ops-4711?code=s3cr3t' };
const signingKey = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

test.each<[ChannelKind, Partial<ChannelSetup>, string, string]>([
  ['slack', { secrets: { url: slackUrl } }, `Cannot POST ${slackPath}`, 'Cannot POST /…/…/…/…'],
  [
    'slack',
    { secrets: { url: slackUrl } },
    JSON.stringify({ path: slackPath }).replaceAll('/', '\\/'),
    String.raw`{"path":"\/…\/…\/…\/…"}`,
  ],
  ['slack', { secrets: { url: slackUrl } }, `see ${slackUrl.toUpperCase()}`, 'see …'],
  [
    'teams',
    { secrets: { url: teamsUrl } },
    'no signature aB3-x_9+z1/qQ=; sig=aB3-x_9%2Bz1%2FqQ%3D; workflow 0a1b2c3d4e5f',
    'no signature …; sig=…; workflow …',
  ],
  [
    'webhook',
    { settings: hook, secrets: { signingKey, authorization: 'Bearer a1b2+c3/d4==' } },
    `no hook ops-4711, code s3cr3t, Bearer a1b2+c3/d4==, (a1b2+c3/d4==), next=%2Fhooks%2Fops-4711, ${signingKey.slice(6)}`,
    'no hook …, code …, …, (…), next=%2F…%2F…, …',
  ],
  [
    'webhook',
    { settings: hook, secrets: { signingKey, authorization: `Basic ${btoa('belfry:pass word')}` } },
    'user belfry with pass word is unknown at example.org',
    'user … with … … is unknown at example.org',
  ],
  [
    'alertmanager',
    { settings: { url: 'https://example.org/am', user: 'u-1' }, secrets: { password: 'pass word' } },
    `no Basic ${btoa('u-1:pass word')} at /am/api/v2/alerts, ${btoa('u-1:pass word')}, pass word`,
    'no … at /am/api/v2/alerts, …, …',
  ],
  [
    'alertmanager',
    { settings: { url: 'https://example.org' }, secrets: { token: 'a1b2+c3/d4==' } },
    'unknown: Bearer a1b2+c3/d4==',
    'unknown: …',
  ],
  [
    'apprise',
    { settings: { url: 'https://example.org/notify' }, secrets: { urls: 'tgram://123456:ABCdef/789' } },
    'tgram://123456:ABCdef/789 and 123456:ABCdef failed',
    '… and …:… failed',
  ],
  [
    'telegram',
    { settings: { chat: '1' }, secrets: { token: '123456:ABCdef' } },
    '/bot123456:ABCdef/sendMessage',
    '/bot…/sendMessage',
  ],
])('no part of a secret is in the record of an answer: %s', async (kind, setup, body, line) => {
  expect((await exchange(kind, setup, 404, body)).answer).toBe(`answered 404: ${line}`);
});

test('a long answer is read to a bound, and not to the middle of a secret', async () => {
  const setup = { secrets: { url: slackUrl } };
  const body = `${' '.repeat(4_090)}abcDEF123456ghi`;
  expect((await exchange('slack', setup, 404, body)).answer).toBe('answered 404');
  const cut = await exchange('slack', setup, 404, `${'x'.repeat(159)}😀`);
  expect(cut.answer).toBe(`answered 404: ${'x'.repeat(159)}`);
});

test('an attempt to mail ends with its time and with its signal, however long the server talks', async () => {
  const talks: NodeJS.Timeout[] = [];
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.write('220 x\r\n');
    talks.push(setInterval(() => socket.write('250-x\r\n'), 5));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const mail = { url: `smtp://127.0.0.1:${port}`, from: 'a@example.org' };
  const setup = { settings: { to: 'b@example.org' }, secrets: {} };
  const options = { outbound: createOutbound([]), mail };
  const short = { ...options, signal: AbortSignal.any([]), timeoutMs: 200 };
  expect(await sendMail(setup, notification, short)).toEqual({
    ...{ outcome: 'retry', answer: 'no answer within 0.2 s' },
  });
  const stopping = new AbortController();
  const sent = sendMail(setup, notification, { ...options, signal: stopping.signal });
  setTimeout(() => stopping.abort(new Error('the server stops')), 100);
  expect(await sent).toEqual({ outcome: 'retry', answer: 'the server stops' });
  for (const each of talks) clearInterval(each);
  server.close();
});

test('what a mail server repeats of a sign-in is masked', () => {
  const mask = createMask(secretsOfMail(URL.parse('smtp://anna:four%20wooden@mail.example.org')));
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  expect(mask(`535 wrong: AUTH PLAIN ${base64('\0anna\0four wooden')}`)).toBe('535 wrong: AUTH PLAIN …');
  expect(mask(`535 ${base64('four wooden')} four wooden is wrong`)).toBe('535 … … is wrong');
});

/** Sends over a broker that answers so. */
function withBroker(answer: (packet: Packet) => Packet | undefined, idleMs: number) {
  const sockets: Socket[] = [];
  const brokers: Brokers = { idleMs, kept: new Map() };
  const outbound = {
    ...createOutbound([]),
    connect: async () => {
      const [client, broker] = duplexPair();
      const packets = parser({ protocolVersion: 5 }).on('packet', (packet) => {
        const reply = answer(packet);
        if (reply) broker.write(generate(reply, { protocolVersion: 5 }));
      });
      broker.on('data', (bytes) => packets.parse(bytes));
      sockets.push(client as Socket);
      return client as Socket;
    },
  };
  const options = { outbound, brokers, mail: undefined, now: () => 0, signal: AbortSignal.any([]) };
  const setup = {
    settings: { url: 'mqtt://x', topic: 'x', qos: '0', user: 'u' },
    secrets: { password: 'se:cret' },
  };
  return { sockets, brokers, publish: () => send('mqtt', setup, notification, options) };
}

test('what a broker says is one line that can be stored, without the password', async () => {
  const { publish } = withBroker(
    () => ({
      ...{ cmd: 'connack', sessionPresent: false, reasonCode: 135 },
      properties: { reasonString: 'no\0\u0007 se:cret\nfor you' },
    }),
    60_000,
  );
  expect(await publish()).toEqual({
    outcome: 'retry',
    answer: 'the broker refused it: not authorized (no … for you)',
  });
});

test('a connection to a broker that ended by itself leaves the next one alone', async () => {
  const { sockets, brokers, publish } = withBroker(
    ({ cmd }) => (cmd === 'connect' ? { cmd: 'connack', sessionPresent: false, reasonCode: 0 } : undefined),
    200,
  );
  await publish();
  const ended = once(sockets[0] as Socket, 'close');
  sockets[0]?.destroy();
  await ended;
  expect(brokers.kept.size).toBe(0);
  // Longer idle than the first was to be.
  Object.assign(brokers, { idleMs: 60_000 });
  await publish();
  expect(sockets).toHaveLength(2);
  await sleep(400);
  expect(brokers.kept.size).toBe(1);
  for (const { connection } of await Promise.all(brokers.kept.values())) connection.destroy(new Error('end'));
});
