import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { rateLimited } from '#core/errors.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { eventually } from '#test/support/eventually.ts';
import type { ListenerIntake, OpenPort } from './intake.ts';
import { SyslogReceiver } from './syslog.ts';

let attempts: string[];
let stored: string[];
let counted: string[];
let mayStore: (title: string) => boolean | Promise<boolean>;
let listener: OpenPort;
let socket: Socket;

beforeEach(async () => {
  attempts = [];
  stored = [];
  counted = [];
  const intake: ListenerIntake = {
    findSender: async () => ({ id: 'a' }) as Sender,
    admit: async () => undefined,
    accept: async (_sender, _source, { title }) => {
      attempts.push(title);
      if (!(await mayStore(title))) throw rateLimited(0.01);
      stored.push(title);
      return 'an-id';
    },
    count: (_listener, result) => counted.push(result),
  };
  const log = { info: () => undefined, warn: () => undefined };
  const receiver = new SyslogReceiver(intake, { token: 't', allow: ['127.0.0.0/8'], least: 'debug' }, log);
  listener = await receiver.listenTcp({ host: '127.0.0.1', port: 0 });
  socket = connect(listener.port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
});
afterEach(async () => {
  socket.destroy();
  await listener.close();
});

const lines = (count: number) => Array.from({ length: count }, (_, i) => `m${i}`);

it('what is refused is tried again before what follows it', async () => {
  let isOpen = false;
  mayStore = () => isOpen;
  socket.write(`${lines(5_000).join('\n')}\n`);
  await eventually(async () => expect(attempts.length).toBeGreaterThan(100));
  expect(new Set(attempts).size).toBeLessThanOrEqual(32);
  isOpen = true;
  await eventually(async () => expect(stored.length).toBe(5_000));
  expect(stored).toEqual(lines(5_000));
});

it('what comes before a message that is too long is stored', async () => {
  mayStore = () => true;
  socket.write('<13>a\n<13>b\n999999 <');
  await once(socket.resume(), 'close');
  expect(stored).toEqual(['a', 'b']);
  expect(counted.toSorted()).toEqual(['dropped', 'stored', 'stored']);
});

it('closing waits until what was read is stored', async () => {
  let open = (_is: boolean) => undefined as unknown;
  const gate = new Promise<boolean>((resolve) => {
    open = resolve;
  });
  mayStore = () => gate;
  socket.write('<13>a\n');
  await eventually(async () => expect(attempts).toEqual(['a']));
  const closed = listener.close().then(() => [...stored]);
  open(true);
  expect(await closed).toEqual(['a']);
});
