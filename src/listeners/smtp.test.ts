import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Answered } from '#core/channels/answers.ts';
import { rateLimited, unavailable } from '#core/errors.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { openAndEnd, openSilent } from '#test/support/connections.ts';
import { eventually } from '#test/support/eventually.ts';
import type { ListenerIntake, OpenPort, ReplyIntake } from './intake.ts';
import { listenSmtp } from './smtp.ts';

let good: Set<string>;
let onReply: () => Answered;
let isLimited: boolean;
let stored: string[];
let listener: OpenPort;
const sockets: Socket[] = [];

beforeEach(async () => {
  good = new Set(['bfy_a', 'bfy_b']);
  isLimited = false;
  stored = [];
  const intake: ListenerIntake & ReplyIntake = {
    findSender: async (token) => (good.has(token) ? ({ id: token } as Sender) : undefined),
    admit: async () => {
      if (isLimited) throw rateLimited(9);
    },
    accept: async ({ id }, _source, { title }) => {
      stored.push(`${id}: ${title}`);
      return 'an-id';
    },
    count: () => undefined,
    readReplyAddress: (address) =>
      address.startsWith('reply+') ? { tenant: 1, notification: 'n', channelHash: 'c' } : undefined,
    takeReply: async () => onReply(),
  };
  const log = { info: () => undefined, warn: () => undefined };
  listener = await listenSmtp({ host: '127.0.0.1', port: 0, allow: ['127.0.0.0/8'] }, { intake, log });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener.close();
});

/** Sends one command, or a mail, and gives the code of its answer. */
const dial = async (localAddress = '127.0.0.1') => {
  const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress }).on(
    'error',
    () => undefined,
  );
  sockets.push(socket);
  const answer = async () => {
    for (let text = ''; ; ) {
      const [bytes] = await once(socket, 'data');
      text += String(bytes);
      const last = /^(\d{3}) [^\n]*\n$/m.exec(text);
      if (last) return last[1];
    }
  };
  const greeting = await answer();
  const send = (text: string) => {
    socket.write(`${text}\r\n`);
    return answer();
  };
  return { greeting, send };
};
const signIn = (token: string) => `AUTH PLAIN ${Buffer.from(`\0x\0${token}`).toString('base64')}`;
const mail = 'Subject: Disk\r\n\r\nfull\r\n.';

it('a mail for two tokens is not acknowledged for one that does not get it', async () => {
  const { send } = await dial();
  await send('EHLO x');
  await send('MAIL FROM:<nas@example.org>');
  expect(await send('RCPT TO:<bfy_a@belfry>')).toBe('250');
  expect(await send('RCPT TO:<bfy_a@example.org>')).toBe('250');
  expect(await send('RCPT TO:<bfy_b@belfry>')).toBe('452');
  expect(await send('DATA')).toBe('354');
  expect(await send(mail)).toBe('250');
  await send('MAIL FROM:<nas@example.org>');
  expect(await send('RCPT TO:<bfy_b@belfry>')).toBe('250');
  expect(await send('DATA')).toBe('354');
  expect(await send(mail)).toBe('250');
  expect(stored).toEqual(['bfy_a: Disk', 'bfy_b: Disk']);
});

it('a token that is revoked stores nothing more, on connections that are open as well', async () => {
  const { send } = await dial();
  await send('EHLO x');
  expect(await send(signIn('bfy_a'))).toBe('235');
  for (const [code, isGood] of [
    ['250', true],
    ['530', false],
  ] as const) {
    if (!isGood) good.delete('bfy_a');
    await send('MAIL FROM:<nas@example.org>');
    expect(await send('RCPT TO:<alerts@belfry>')).toBe('250');
    expect(await send('DATA')).toBe('354');
    expect(await send(mail)).toBe(code);
  }
  expect(stored).toEqual(['bfy_a: Disk']);
});

it('commands of devices are accepted: no name, no brackets, no domain', async () => {
  const { send } = await dial();
  expect(await send('HELO')).toBe('250');
  for (const from of ['a@b.c', '<ups>', 'ups', '<>', ' <a@my_host> SIZE=10']) {
    expect([from, await send(`MAIL FROM:${from}`)]).toEqual([from, '250']);
    expect(await send('RCPT TO:bfy_a')).toBe('250');
    expect(await send('RSET')).toBe('250');
  }
  expect(await send('MAIL FROM:')).toBe('501');
});

it('a reply that cannot be stored now comes again, and one that never can is refused', async () => {
  const { send } = await dial();
  await send('EHLO x');
  const failing = (error: Error) => () => {
    throw error;
  };
  for (const [code, answer] of [
    ['250', (): Answered => 'done'],
    ['250', (): Answered => ({ kind: 'already', why: 'Zoë\r\n has acknowledged it already' })],
    ['554', (): Answered => ({ kind: 'nothing', why: 'it has ended' })],
    ['554', (): Answered => 'not-found'],
    ['451', failing(unavailable('the store is full'))],
    ['451', failing(rateLimited(9))],
    ['451', failing(new Error('connection terminated'))],
  ] as const) {
    onReply = answer;
    await send('MAIL FROM:<ann@example.org>');
    expect(await send('RCPT TO:<reply+x@belfry>')).toBe('250');
    expect(await send('RCPT TO:<bfy_a@belfry>')).toBe('452');
    expect(await send('DATA')).toBe('354');
    expect(await send(mail)).toBe(code);
  }
  // The next mail on the connection is a notification again.
  await send('MAIL FROM:<nas@example.org>');
  expect(await send('RCPT TO:<bfy_a@belfry>')).toBe('250');
  expect(await send('RCPT TO:<reply+x@belfry>')).toBe('452');
  expect(await send('DATA')).toBe('354');
  expect(await send(mail)).toBe('250');
  expect(stored).toEqual(['bfy_a: Disk']);
});

it('a sender beyond its rate limit is refused before its mail is read', async () => {
  const { send } = await dial();
  await send('EHLO x');
  isLimited = true;
  await send('MAIL FROM:<nas@example.org>');
  expect(await send('RCPT TO:<bfy_a@belfry>')).toBe('451');
  expect(await send(signIn('bfy_a'))).toBe('451');
});

it('one address does not hold all connections', async () => {
  const all = await Promise.all(Array.from({ length: 25 }, () => dial()));
  const greetings = all.map(({ greeting }) => greeting);
  expect(greetings.filter((code) => code === '220').length).toBe(20);
  expect(greetings.filter((code) => code === '421').length).toBe(5);
});

it('connections that end are freed, and silent ones hold up their own address only', async () => {
  await openAndEnd(listener.port);
  expect((await dial()).greeting).toBe('220');
  sockets.push(...(await openSilent(listener.port)));
  await eventually(async () => expect((await dial('127.0.0.2')).greeting).toBe('220'));
  expect((await dial()).greeting).toBe('421');
  for (const socket of sockets.splice(0)) socket.destroy();
  await eventually(async () => expect((await dial()).greeting).toBe('220'));
});
