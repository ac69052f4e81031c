import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { ChannelKind } from '#contract/channel-fields.ts';
import { createOutbound, type OutboundRequest } from '#outbound/outbound.ts';
import { sendMail } from './email.ts';
import type { ChannelSetup, OutgoingNotification } from './message.ts';
import { send } from './send.ts';

const notification: OutgoingNotification = {
  ...{ id: 'n', tenant: 't', receivedAt: 0, title: 'Disk full', message: '満'.repeat(16_384) },
  ...{ level: 'error', rank: 40, ip: null, host: '満'.repeat(255), key: '満'.repeat(255), url: null, ttl: 0 },
};

/** What a kind sends, and what it makes of an answer. */
async function exchange(kind: ChannelKind, setup: Partial<ChannelSetup>, status = 200) {
  const sent: OutboundRequest[] = [];
  const outbound = {
    ...createOutbound([]),
    request: async (request: OutboundRequest) => {
      sent.push(request);
      return { status, headers: {}, body: '' };
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
