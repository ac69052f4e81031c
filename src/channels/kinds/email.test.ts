import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import type { ChannelRecord, Delivery } from '#core/channels/channels.ts';
import type { HistoryRecord, LogPage } from '#core/log/log.ts';
import { createOutbound } from '#outbound/outbound.ts';
import { eventually } from '#test/support/eventually.ts';
import { Dispatcher, type DispatcherOptions } from '../dispatcher.ts';
import { MailBudget, sendMail } from './email.ts';

let server: Server;
afterEach(() => void server.close());

/** A mail server that keeps what it has taken, and can fall silent at a command or at the end of a mail. */
async function mailServer() {
  const taken: string[] = [];
  const state: { silentAt?: (mail: string) => boolean; isSilent: boolean } = { isSilent: false };
  server = createServer((socket: Socket) => {
    let text = '';
    let isMail = false;
    const answer = (line: string) => socket.write(`${line}\r\n`);
    socket.on('error', () => undefined);
    socket.on('data', (part) => {
      text += part.toString('utf8');
      for (;;) {
        const end = text.indexOf(isMail ? '\r\n.\r\n' : '\r\n');
        if (end < 0) return;
        const piece = text.slice(0, end);
        text = text.slice(end + (isMail ? 5 : 2));
        if (isMail) taken.push(piece);
        if (state.silentAt?.(isMail ? piece : piece.toUpperCase())) {
          state.isSilent = true;
          return;
        }
        const begins = !isMail && piece.toUpperCase() === 'DATA';
        isMail = begins;
        answer(begins ? '354 go on' : '250 ok');
      }
    });
    answer('220 x');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const mail = { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, from: 'a@example.org' };
  return { taken, state, mail };
}

/** A queue that outlives its dispatchers, as the database does. */
function queueOf(titles: string[]) {
  const pending = [...titles];
  const next = async (): Promise<Delivery | undefined> =>
    pending[0] === undefined
      ? undefined
      : {
          ...{ channel: 'c', position: titles.length - pending.length, notification: pending[0] },
          ...{ state: 'pending', attempts: 0, queuedAt: 0, finishedAt: null, answer: null },
          ...{ event: null, reference: null },
        };
  const queue = {
    waiting: async () => (pending.length > 0 ? [{ tenant: 1, id: 'c', readyAt: 0 }] : []),
    claim: async () => true,
    release: async () => undefined,
    next,
    finish: async () => {
      pending.shift();
      return pending.length > 0;
    },
  };
  return { pending, queue: queue as unknown as DispatcherOptions['queue'] };
}

test.each([
  ['before the mail', (text: string) => text === 'DATA', ['1', '2', '3']],
  [
    'after the mail and before its 250',
    (text: string) => text.includes('Subject: [info] 2'),
    ['1', '2', '2', '3'],
  ],
])('a server that ends %s sends it again, with the same id and in order', async (_, silentAt, expected) => {
  const { taken, state, mail } = await mailServer();
  const { pending, queue } = queueOf(['1', '2', '3']);
  const start = () => {
    const dispatcher = new Dispatcher({
      queue,
      channels: {
        find: async () =>
          ({ id: 'c', enabled: true, updatedAt: 1, health: { failures: 0 } }) as ChannelRecord,
      },
      history: {
        find: async (_tenant, id) => ({ id, title: id }) as HistoryRecord,
        readAfter: async () => ({}) as LogPage,
      },
      send: (_channel, { id, title }, signal) =>
        sendMail(
          { settings: { to: 'b@example.org' }, secrets: {} },
          {
            ...{ id, title, tenant: 't', receivedAt: 0, message: 'm', level: 'info', rank: 20, ttl: 0 },
            ...{ ...noTexts, instructions: null, key: 'k', alarm: 'k', state: 'open' },
          },
          { outbound: createOutbound([]), mail, signal },
        ),
      now: () => 0,
      onFinished: () => undefined,
      onError: (error) => {
        throw error;
      },
    });
    dispatcher.wake();
    return dispatcher;
  };
  // The second one: the server has taken the first by then.
  state.silentAt = (text) => taken.length > 0 && silentAt(text);
  const first = start();
  await eventually(() => expect(state.isSilent).toBe(true));
  // Nothing is recorded of what is cut off, as if the process had been killed.
  await first.stop(0);
  expect(pending).toEqual(['2', '3']);
  delete state.silentAt;
  const second = start();
  await eventually(() => expect(pending).toEqual([]));
  await second.stop(0);
  const headers = taken.map((text) => /^Message-ID: <(.*)@/im.exec(text)?.[1]);
  expect(headers).toEqual(expected);
});

const minuteMs = 60_000;
const ofTenant = (tenant: number, id = 'a') => ({ tenant, id });

test('a tenant has so many mails an hour, a recipient is one, and others have their own', () => {
  const budget = new MailBudget(60);
  expect(budget.take(ofTenant(1), 50, 0)).toBe(0);
  expect(budget.take(ofTenant(1), 10, 0)).toBe(0);
  expect(budget.take(ofTenant(1), 5, 0)).toBe(5 * minuteMs);
  expect(budget.take(ofTenant(2), 60, 0)).toBe(0);
  // What waits is counted once; a clock that is set back gives nothing.
  expect(budget.take(ofTenant(1), 5, 4 * minuteMs)).toBe(minuteMs);
  expect(budget.take(ofTenant(1), 5, 5 * minuteMs)).toBe(0);
  expect(budget.take(ofTenant(1), 1, 0)).toBe(minuteMs);
  // A mail to more than an hour's worth takes all of it.
  expect(budget.take(ofTenant(3), 90, 0)).toBe(0);
  expect(budget.take(ofTenant(3), 90, 59 * minuteMs)).toBe(minuteMs);
});

test('a mail to many has its turn while another channel sends without end', () => {
  const budget = new MailBudget(60);
  expect(budget.take(ofTenant(1, 'one'), 60, 0)).toBe(0);
  let sentAt: number | undefined;
  for (let now = 0; now <= 60 * minuteMs && sentAt === undefined; now += minuteMs) {
    budget.take(ofTenant(1, 'one'), 1, now);
    // It comes late each time.
    if (now % (10 * minuteMs) === 0 && budget.take(ofTenant(1, 'many'), 50, now) === 0) sentAt = now;
  }
  expect(sentAt).toBe(60 * minuteMs);
});

test('a clock that is set back far holds up nothing for long, and other recipients are another mail', () => {
  const budget = new MailBudget(60);
  budget.take(ofTenant(1), 60, 1_000_000 * minuteMs);
  expect(budget.take(ofTenant(1), 2, 1_000_000 * minuteMs)).toBe(2 * minuteMs);
  expect(budget.take(ofTenant(1), 2, 0)).toBe(2 * minuteMs);
  expect(budget.take(ofTenant(1), 2, 2 * minuteMs)).toBe(0);
  expect(budget.take(ofTenant(1), 2, 2 * minuteMs)).toBe(2 * minuteMs);
  expect(budget.take(ofTenant(1), 3, 2 * minuteMs)).toBe(5 * minuteMs);
});
