import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { rateLimited } from '#core/errors.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { openAndEnd, openSilent } from '#test/support/connections.ts';
import { eventually } from '#test/support/eventually.ts';
import { Certificate } from './certificate.ts';
import type { ListenerIntake, OpenPort } from './intake.ts';
import { SyslogReceiver } from './syslog.ts';

let attempts: string[];
let stored: string[];
let counted: string[];
let mayStore: (title: string) => boolean | Promise<boolean>;
let listener: OpenPort;
let tlsListener: OpenPort;
let certificate: Certificate;
let socket: Socket;

const log = { info: () => undefined, warn: () => undefined };
const folder = mkdtempSync(join(tmpdir(), 'belfry-syslog-'));
beforeAll(async () => {
  const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const out = ['-keyout', files.keyFile, '-out', files.certFile];
  spawnSync('openssl', ['req', '-x509', ...curve, '-subj', '/CN=localhost', ...out]);
  certificate = await Certificate.read(files, log);
});
afterAll(() => rmSync(folder, { recursive: true }));

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
  const receiver = new SyslogReceiver(intake, { token: 't', allow: ['127.0.0.0/8'], least: 'debug' }, log);
  listener = await receiver.listenTcp({ host: '127.0.0.1', port: 0 });
  tlsListener = await receiver.listenTls({ host: '127.0.0.1', port: 0 }, certificate);
  socket = connect(listener.port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
});
afterEach(async () => {
  socket.destroy();
  await Promise.all([listener.close(), tlsListener.close()]);
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

const kinds = [
  ['TCP', () => listener.port, connect],
  ['TLS', () => tlsListener.port, (options: object) => connectTls({ ...options, rejectUnauthorized: false })],
] as const;

it.each(kinds)(
  'over %s, connections that end are freed, and silent ones hold up their own address only',
  async (_, port, dial) => {
    mayStore = () => true;
    await openAndEnd(port());
    const send = (text: string, localAddress: string) =>
      dial({ port: port(), host: '127.0.0.1', localAddress })
        .on('error', () => undefined)
        .end(text);
    send('<13>after those that ended', '127.0.0.1');
    await eventually(() => expect(stored).toContain('after those that ended'));
    const silent = await openSilent(port());
    send('<13>from another address', '127.0.0.2');
    await eventually(() => expect(stored).toContain('from another address'));
    for (const each of silent) each.destroy();
    await eventually(() => {
      send('<13>after the silent ones', '127.0.0.1');
      expect(stored).toContain('after the silent ones');
    });
  },
);

it.each(kinds)(
  'over %s, messages whose sender has left are stored in order, as soon as they can be',
  async (_, port, dial) => {
    let isOpen = false;
    mayStore = () => isOpen;
    dial({ port: port(), host: '127.0.0.1' }).end('<13>a\n<13>b');
    await eventually(() => expect(attempts.length).toBeGreaterThan(20));
    // The last one ends with the connection, and waits for those before it.
    expect(new Set(attempts)).toEqual(new Set(['a']));
    isOpen = true;
    await eventually(() => expect(stored).toEqual(['a', 'b']));
  },
);
