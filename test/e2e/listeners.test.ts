/** Syslog and SMTP, sent by the programs that people have: logger, openssl, curl. */
import { execFile, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Certificate } from '#listeners/certificate.ts';
import type { ListenerIntake, ReplyIntake } from '#listeners/intake.ts';
import { listenSmtp } from '#listeners/smtp.ts';
import { SyslogReceiver } from '#listeners/syslog.ts';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';
import { missingPackage, runs, skipReason } from '../support/skip-reason.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'belfry-listeners-'));
const [cert, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
let server: TestServer;
let key: string;
let token: string;
/** Sends one mail with curl; answers what the server said last. */
const mail = async (port: number, args: readonly string[], text = 'Subject: Disk\r\n\r\n91 % full\r\n') => {
  const file = join(folder, `mail-${Math.random()}`);
  writeFileSync(file, text);
  const all = [
    '-sS',
    '--url',
    `smtp://127.0.0.1:${port}`,
    '--mail-from',
    'nas@example.org',
    '-T',
    file,
    ...args,
  ];
  return run('curl', all).then(
    () => 'sent',
    (error: { stderr: string }) => error.stderr.trim(),
  );
};
const to = ['--mail-rcpt', 'alerts@belfry'];

beforeAll(async () => {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const made = ['req', '-x509', ...curve, '-nodes', '-subj', '/CN=localhost', '-days', '2'];
  spawnSync('openssl', [...made, '-keyout', keyFile, '-out', cert]);
  const first = await TestServer.start({}, folder);
  token = await first.token({ name: 'nas' });
  key = await first.key();
  await first.stop({ keep: true });
  server = await TestServer.start(
    {
      BELFRY_SYSLOG_UDP: '127.0.0.1:0',
      BELFRY_SYSLOG_TCP: '127.0.0.1:0',
      BELFRY_SYSLOG_TLS: '127.0.0.1:0',
      BELFRY_SYSLOG_TOKEN: token,
      BELFRY_SMTP: '127.0.0.1:0',
      BELFRY_TLS_CERT_FILE: cert,
      BELFRY_TLS_KEY_FILE: keyFile,
      BELFRY_METRICS_TOKEN: 'metrics',
      BELFRY_RATE_AUTH: '0.001:3',
    },
    folder,
  );
});
afterAll(() => server?.stop());

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what was stored
const history = async (): Promise<any[]> =>
  (await server.call('GET', '/api/history?limit=200', { token: key })).json.notifications;
const titles = async () => (await history()).map(({ title }) => title);
const stored = (title: string) =>
  eventually(async () => {
    const found = (await history()).find((each) => each.title === title);
    expect([title, found]).toEqual([title, expect.anything()]);
    return found;
  });
const portOf = (name: string) => server.running.ports[name] ?? 0;
const counted = async (listener: string, result: string) => {
  const text = (await server.call('GET', '/metrics', { token: 'metrics' })).text;
  const line = `belfry_listener_messages_total{listener="${listener}",result="${result}"} `;
  return Number(text.split(line)[1]?.split('\n', 1)[0] ?? 0);
};
const open = async (port: number, text?: string, localAddress = '127.0.0.1'): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
  await once(socket, 'connect');
  if (text !== undefined) socket.write(text);
  return socket;
};

describe('syslog', () => {
  it.each([
    ['over UDP as RFC 5424', 'syslog-udp', ['-d', '--rfc5424=notq']],
    ['over UDP as RFC 3164', 'syslog-udp', ['-d', '--rfc3164']],
    ['over TCP with line feeds', 'syslog-tcp', ['-T', '--rfc5424=notq']],
    ['over TCP with lengths', 'syslog-tcp', ['-T', '--rfc5424=notq', '--octet-count']],
  ])('of logger is stored: %s', async (what, listener, args) => {
    const target = ['-n', '127.0.0.1', '-P', String(portOf(listener)), '-t', 'backup', '-p', 'user.err'];
    await run('logger', [...target, ...args, what]);
    expect(await stored(`backup: ${what}`)).toMatchObject({
      message: what,
      level: 'error',
      token: { name: 'nas' },
      host: expect.any(String),
      sourceIp: '127.0.0.1',
    });
  });

  it('over TLS is stored, also behind what fails as TLS', async () => {
    const port = portOf('syslog-tls');
    const plain = await open(port, '<11>not encrypted\n');
    await once(plain, 'close');
    const half = await open(port, '\x16\x03\x01');
    const client = execFile('openssl', ['s_client', '-quiet', '-connect', `127.0.0.1:${port}`]);
    client.stdin?.write('<10>1 - db-01 raid - - - over TLS\n');
    expect(await stored('raid: over TLS')).toMatchObject({ level: 'critical', host: 'db-01' });
    client.kill();
    half.destroy();
    expect(await titles()).not.toContain('not encrypted');
  });

  it('below the least severity, blank or too long is not stored; a connection that breaks the framing is closed', async () => {
    const port = portOf('syslog-tcp');
    const socket = await open(port, '<14>info\n<15>debug\n\n\0<9> \n<13>after all of these\n');
    await stored('after all of these');
    expect(await titles()).not.toContain('info');
    socket.destroy();
    for (const text of ['999999 <', 'x'.repeat(70_000)]) {
      const broken = await open(port, text);
      await once(broken, 'close');
    }
    expect(await counted('syslog-tcp', 'dropped')).toBe(2);
    const udp = createSocket('udp4');
    for (const text of ['', '\0', '<13>'])
      await new Promise((done) => udp.send(text, portOf('syslog-udp'), '127.0.0.1', done));
    await new Promise((done) => udp.send('<13>datagram', portOf('syslog-udp'), '127.0.0.1', done));
    await stored('datagram');
    udp.close();
  });

  it('from a network that may not send is refused', async () => {
    const strict = await TestServer.start({
      BELFRY_SYSLOG_TCP: '127.0.0.1:0',
      BELFRY_SYSLOG_UDP: '127.0.0.1:0',
      BELFRY_SYSLOG_TOKEN: 'none',
      BELFRY_SYSLOG_ALLOW: '10.0.0.0/8',
      BELFRY_METRICS_TOKEN: 'metrics',
    });
    try {
      const refused = await open(strict.running.ports['syslog-tcp'] ?? 0, '<11>x\n');
      await once(refused, 'close');
      const udp = createSocket('udp4');
      udp.send('<11>x', strict.running.ports['syslog-udp'] ?? 0, '127.0.0.1');
      await eventually(async () => {
        const { text } = await strict.call('GET', '/metrics', { token: 'metrics' });
        for (const name of ['syslog-tcp', 'syslog-udp'])
          expect(text).toContain(`belfry_listener_messages_total{listener="${name}",result="refused"} 1`);
      });
      udp.close();
    } finally {
      await strict.stop();
    }
  });

  it('is not held up by more than a thousand connections of one address that send nothing', async () => {
    const port = portOf('syslog-tcp');
    const idle = await Promise.all(
      Array.from({ length: 1_100 }, () => open(port, undefined, '127.0.0.3').catch(() => undefined)),
    );
    const one = await open(port, '<11>in between\n');
    await stored('in between');
    for (const socket of [...idle, one]) socket?.destroy();
  });

  it('of a sender that is too fast waits, and is stored whole and in order', async () => {
    const lines = Array.from({ length: 150 }, (_, i) => `<13>fast: ${i}\n`).join('');
    const socket = await open(portOf('syslog-tcp'), lines);
    await stored('fast: 149');
    // What its sender sent before it left is stored as well, also without a line end.
    await new Promise<void>((done) => socket.end('<13>fast: last', done));
    await stored('fast: last');
    const fast = (await titles()).filter((title) => title.startsWith('fast: ')).toReversed();
    expect(fast.slice(-101)).toEqual([
      ...Array.from({ length: 100 }, (_, i) => `fast: ${i + 50}`),
      'fast: last',
    ]);
  });
});

const guide = readFileSync(join(import.meta.dirname, '../../docs/listeners.md'), 'utf8');
const commandsWith = (word: string) =>
  [...guide.matchAll(/^```sh\n(.*?)^```$/gms)]
    .map(([, text = '']) => text)
    .filter((text) => text.includes(word));

it('the commands of the guide for syslog are taken', async () => {
  const [commands = ''] = commandsWith('logger ');
  const lines = commands.trim().split('\n');
  expect(lines.length).toBe(2);
  for (const line of lines) {
    const port = portOf(line.includes(' -d ') ? 'syslog-udp' : 'syslog-tcp');
    await run('sh', ['-c', line.replace('5514', String(port))]);
  }
  for (const host of ['db-01', 'db-02']) await stored(`backup: Backup of ${host} failed`);
});

it('a renewed certificate is taken without a restart, and one that cannot be used is not', async () => {
  const files = { certFile: join(folder, 'renewed.crt'), keyFile: join(folder, 'renewed.key') };
  const make = (name: string, part: 'both' | 'certificate') => {
    const keyOut = part === 'both' ? files.keyFile : join(folder, 'other.key');
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    spawnSync('openssl', [
      'req',
      '-x509',
      ...curve,
      '-subj',
      `/CN=${name}`,
      '-keyout',
      keyOut,
      '-out',
      files.certFile,
    ]);
  };
  make('first', 'both');
  const lines: string[] = [];
  const log = {
    info: (text: string) => lines.push(text),
    warn: (_: object, text: string) => lines.push(text),
  };
  const certificate = await Certificate.read(files, log, 20);
  const intake: ListenerIntake & ReplyIntake = {
    readReplyAddress: () => undefined,
    takeReply: async () => 'not-found',
    findSender: async () => undefined,
    admit: async () => undefined,
    accept: async () => '',
    count: () => undefined,
  };
  const at = { host: '127.0.0.1', port: 0 };
  const options = { token: '', allow: ['127.0.0.1'], least: 'notice' } as const;
  const syslog = await new SyslogReceiver(intake, options, log).listenTls(at, certificate);
  const smtp = await listenSmtp({ ...at, allow: ['127.0.0.1'] }, { intake, log, certificate });
  const namesOf = (port: number, ...args: string[]) => {
    const all = ['s_client', ...args, '-connect', `127.0.0.1:${port}`];
    return run('sh', ['-c', `openssl ${all.join(' ')} </dev/null 2>/dev/null | grep ^subject`]).then(
      ({ stdout }) => stdout.trim(),
    );
  };
  const both = async () => [await namesOf(syslog.port), await namesOf(smtp.port, '-starttls', 'smtp')];
  try {
    make('half', 'certificate');
    await eventually(() => expect(lines.join()).toContain('cannot be used'));
    expect(await both()).toEqual(['subject=CN = first', 'subject=CN = first']);
    make('second', 'both');
    await eventually(() => expect(lines.join()).toContain('was renewed'));
    expect(await both()).toEqual(['subject=CN = second', 'subject=CN = second']);
  } finally {
    await Promise.all([syslog.close(), smtp.close()]);
  }
});

describe('mail', () => {
  const user = (password: string) => ['--user', `nas:${password}`];
  const tls = ['--ssl-reqd', '--insecure'];

  it('with the token as its password is stored', async () => {
    const text = [
      'From: NAS <nas@example.org>',
      'Subject: =?utf-8?B?UGxhdHRlIHZvbGw6IDkxwqAl?=',
      'X-Priority: 1',
      'Message-ID: <1@nas>',
      'Content-Type: multipart/alternative; boundary=b',
      '',
      '--b',
      'Content-Type: text/html',
      '',
      '<p>in <b>HTML</b></p>',
      '--b--',
      '',
    ].join('\r\n');
    expect(await mail(portOf('smtp'), [...tls, ...user(token), ...to], text)).toBe('sent');
    const found = await stored('Platte voll: 91\u00a0%');
    expect(found).toMatchObject({
      message: 'in HTML',
      level: 'error',
      ip: '127.0.0.1',
      token: { name: 'nas' },
    });
    const before = (await history()).length;
    expect(await mail(portOf('smtp'), [...tls, ...user(token), ...to], text)).toBe('sent');
    expect((await history()).length).toBe(before);
  });

  const missing = skipReason(
    missingPackage('swaks', () => runs(['--version'], 'swaks')) ??
      missingPackage('libnet-ssleay-perl', () => runs(['-MNet::SSLeay', '-e', '1'], 'perl')),
  );
  it.skipIf(missing !== undefined)(
    missing ?? 'of swaks, over STARTTLS and with AUTH, is stored',
    async () => {
      const to = ['--server', '127.0.0.1', '--port', String(portOf('smtp')), '--to', 'ops@belfry', '--tls'];
      const text = ['--h-Subject', 'of swaks', '--h-X-Key', 'swaks', '--body', 'text'];
      for (const method of ['PLAIN', 'LOGIN']) {
        const login = ['--auth', method, '--auth-user', 'nas', '--auth-password', token];
        const { stdout } = await run('swaks', [...to, ...login, ...text, '--from', 'nas@example.org']);
        expect(stdout).toMatch(/<~ {2}250 .*stored as/);
      }
      expect(await stored('of swaks')).toMatchObject({ message: 'text', key: 'swaks' });
    },
  );

  it('with the token as the name of its recipient is stored', async () => {
    const rcpt = ['--mail-rcpt', `${token}@belfry`];
    expect(await mail(portOf('smtp'), [...tls, ...rcpt], 'Subject: by recipient\r\n\r\ntext\r\n')).toBe(
      'sent',
    );
    expect(await stored('by recipient')).toMatchObject({ message: 'text', level: 'info' });
  });

  it('that nobody signed, or that is too large, is refused and not stored; a wrong password counts', async () => {
    const before = (await history()).length;
    const port = portOf('smtp');
    expect(await mail(port, [...tls, ...to])).toContain('530');
    expect(await mail(port, [...tls, '--mail-rcpt', 'bfy_x@belfry'])).toContain('530');
    // A certificate is there, so the token does not travel without it.
    expect(await mail(port, [...user(token), ...to])).not.toBe('sent');
    expect(await mail(port, ['--verbose', '--mail-rcpt', `${token}@belfry`])).toContain(
      '530 issue STARTTLS first',
    );
    const large = `Subject: large\r\n\r\n${'x'.repeat(78)}\r\n`.padEnd(
      25 * 1024 * 1024 + 100,
      `${'x'.repeat(70)}\r\n`,
    );
    expect(await mail(port, [...tls, ...user(token), ...to], large)).toMatch(/552|Message size|size/i);
    const wrong = [];
    for (let i = 0; i < 4; i++) wrong.push(await mail(port, [...tls, ...user('wrong'), ...to]));
    expect(wrong.every((answer) => answer !== 'sent')).toBe(true);
    expect((await history()).length).toBe(before);
    // Whose token was good before is not locked out by the failures of others.
    expect(await mail(port, [...tls, ...user(token), ...to], 'Subject: still\r\n\r\nx\r\n')).toBe('sent');
  });

  it('of a suspended tenant is refused for good, as is its syslog; both say why, and go on once it is resumed', async () => {
    const { tenants } = server.running.directory;
    const set = async (state: 'active' | 'suspended') =>
      tenants.setState(await server.tenant(), state, 'test', Date.now());
    onTestFinished(async () => void (await set('active')));
    await set('suspended');
    for (const rcpt of [
      [...user(token), ...to],
      ['--mail-rcpt', `${token}@belfry`],
    ])
      await eventually(async () =>
        expect(await mail(portOf('smtp'), [...tls, '--verbose', ...rcpt])).toContain(
          '554 the tenant is suspended',
        ),
      );
    const refused = await counted('syslog-tcp', 'refused');
    const socket = await open(portOf('syslog-tcp'), '<11>while suspended\n');
    await eventually(async () => expect(await counted('syslog-tcp', 'refused')).toBe(refused + 1));
    await set('active');
    await eventually(async () =>
      expect(await mail(portOf('smtp'), [...tls, ...user(token), ...to])).toBe('sent'),
    );
    socket.end('<11>once resumed\n');
    await stored('once resumed');
    expect(await titles()).not.toContain('while suspended');
  });

  it('without a certificate takes the token in the clear, as devices send it; odd commands are answered', async () => {
    const plain = await TestServer.start({ BELFRY_SMTP: '127.0.0.1:0' });
    try {
      const own = await plain.token();
      const port = plain.running.ports.smtp ?? 0;
      expect(await mail(port, ['--user', `x:${own}`, ...to])).toBe('sent');
      const [command = ''] = commandsWith('curl ');
      const env = { ...process.env, BELFRY_TOKEN: own };
      await run('sh', ['-c', command.replace('2525', String(port))], { env });
      const all = await plain.call('GET', '/api/history', { token: await plain.key() });
      expect(
        all.json.notifications.map(({ title, level }: Record<string, string>) => [title, level]),
      ).toEqual([
        ['Disk almost full', 'error'],
        ['Disk', 'info'],
      ]);
      const strict = await TestServer.start({ BELFRY_SMTP: '127.0.0.1:0', BELFRY_SMTP_ALLOW: '10.0.0.0/8' });
      expect(await mail(strict.running.ports.smtp ?? 0, ['--user', `x:${own}`, ...to])).toContain('554');
      await strict.stop();
      const socket = await open(port);
      let answer = '';
      socket.on('data', (bytes) => {
        // Who talks before the greeting is sent away.
        if (answer === '') socket.write(`EHLO x\r\n${'X'.repeat(2_000)}\r\nDATA\r\nQUIT\r\n`);
        answer += String(bytes);
      });
      await once(socket, 'close');
      expect(answer).toMatch(/^220 /);
      expect(answer).toMatch(/\r\n50[0-9] /);
    } finally {
      await plain.stop();
    }
  });
});
