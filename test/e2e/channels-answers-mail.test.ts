/** A reply to the mail of a channel acts on its alarm. The mails go over SMTP in both directions. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { HistoryNotification } from '#contract/history/notification.ts';
import { createAnswersLab } from '../support/answers-lab.ts';
import { Cli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { limitMs } from '../support/patience.ts';
import { TestServer } from '../support/server.ts';

const mails: string[] = [];
const smtp = new SMTPServer({
  ...{ authOptional: true, disabledCommands: ['STARTTLS'] },
  onData(stream, _session, done) {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => {
      mails.push(
        Buffer.concat(parts)
          .toString('utf8')
          .replaceAll(/\r\n[ \t]+/g, ' '),
      );
      done();
    });
  },
});
let server: TestServer;
beforeAll(async () => {
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', () => resolve()));
  server = await TestServer.start({
    ...{ BELFRY_SMTP: '127.0.0.1:0', BELFRY_SMTP_REPLY_TO: 'belfry@alarms.example.org' },
    BELFRY_SMTP_URL: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
    BELFRY_SMTP_FROM: 'belfry@example.org',
  });
});
afterAll(async () => {
  await server.stop();
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
});
beforeEach(() => {
  mails.length = 0;
});

const lab = createAnswersLab('replies', () => server);
const { call, notificationOf: found } = lab;
const settings = (over: object = {}) => ({ to: 'ops@example.org', replies: 'on', updates: 'all', ...over });
const channel = (over: object = {}) => lab.usedChannel('mail', { kind: 'email', settings: settings(over) });
const replyToOf = (mail: string | undefined) => /^Reply-To: <?([^\s<>]+)>?\s*$/im.exec(mail ?? '')?.[1] ?? '';
/** An alarm, and the address to which its mail is replied. */
const alarm = async (over: object = {}): Promise<{ id: string; address: string }> => {
  const before = mails.length;
  const id = await lab.alarm(over);
  await eventually(() => expect(mails.length).toBe(before + 1));
  return { id, address: replyToOf(mails.at(-1)) };
};
const from = '"Ann Example" <ann@example.org>';
/** What the listener answers. */
const reply = async (to: string | readonly string[], text: string, over: object = {}): Promise<string> => {
  const transport = createTransport({
    ...{ host: '127.0.0.1', port: server.running.ports.smtp ?? 0, ignoreTLS: true },
  });
  try {
    const mail = { from, to: [to].flat(), subject: 'Re: [error] Disk full', text, ...over };
    return (await transport.sendMail(mail)).response;
  } catch (error) {
    return (error as { response?: string }).response ?? String(error);
  } finally {
    transport.close();
  }
};
const within = { timeout: limitMs(2_000) };

test('a reply acknowledges, with the name of the person and the text as the note, and is not sent back', async () => {
  await channel();
  const { id, address } = await alarm();
  expect(address).toMatch(/^belfry\+[a-z2-7]{55}@alarms\.example\.org$/);
  expect(mails[0]).toContain('X-Auto-Response-Suppress: OOF, AutoReply');
  const quoted =
    'On Mon, 30 Nov 2026 at 10:00, Belfry <belfry@example.org> wrote:\n> [error] Disk full\n> clear';
  expect(await reply(address, `I am on my way.\n\n${quoted}\n`)).toContain('done');
  await eventually(
    async () =>
      expect(await found(id)).toMatchObject({
        acknowledged: { by: 'Ann Example (mail)', note: 'I am on my way.' },
      }),
    within,
  );
  expect(await reply(address.toUpperCase(), 'ack')).toContain('250');
  // A later event is the next mail: none of the reply was before it.
  await call('POST', `/api/alarms/${id}/clear`, { note: 'replaced' });
  await eventually(() => expect(mails).toHaveLength(2));
  expect(mails[1]).toContain('Cleared by');
});

test.each([
  ['shelve', (one: HistoryNotification) => one.state === 'shelved'],
  ['zurückstellen', (one: HistoryNotification) => one.state === 'shelved'],
  ['clear', (one: HistoryNotification) => one.cleared?.by === 'Ann Example (mail)'],
  ['erledigt: neue Platte', (one: HistoryNotification) => one.cleared?.by === 'Ann Example (mail)'],
] as const)('the first word says what to do: %s', async (text, isDone) => {
  await channel();
  const { id, address } = await alarm();
  expect(await reply(address, text)).toContain('done');
  const one = await found(id);
  expect(isDone(one), JSON.stringify(one)).toBe(true);
});

test('an alarm without a key, and one that was repeated, are acknowledged too', async () => {
  await channel();
  const none = await alarm({ key: undefined });
  const first = await alarm();
  const second = await alarm();
  for (const { address } of [none, first]) expect(await reply(address, '')).toContain('done');
  for (const { id } of [none, second]) expect((await found(id)).acknowledged).not.toBeNull();
});

test('replies of programs, and of this server itself, do nothing and are not refused', async () => {
  await channel();
  const { id, address } = await alarm();
  for (const over of [
    { headers: { 'auto-submitted': 'auto-replied' } },
    { headers: { precedence: 'bulk' } },
    { subject: 'Automatische Antwort: Disk full' },
    { envelope: { from: '', to: address } },
  ])
    expect(await reply(address, 'clear', over)).toContain('ignored');
  expect(await reply(address, '', { raw: mails[0] as string, envelope: { from, to: address } })).toContain(
    'ignored',
  );
  expect(await found(id)).toMatchObject({ acknowledged: null, cleared: null });
});

test('a changed address, two recipients, and an alarm that has ended are refused', async () => {
  await channel();
  const { id, address } = await alarm();
  const other = await alarm({ key: 'other' });
  const at = address.indexOf('+') + 12;
  const changed = `${address.slice(0, at)}${address[at] === 'a' ? 'b' : 'a'}${address.slice(at + 1)}`;
  for (const each of [
    changed,
    'belfry@alarms.example.org',
    'belfry+@alarms.example.org',
    `belfry+${id}@x.org`,
  ])
    expect(await reply(each, 'ack')).toMatch(/^530/);
  // One recipient is taken and the other is to be sent again.
  const two = createTransport({ host: '127.0.0.1', port: server.running.ports.smtp ?? 0, ignoreTLS: true });
  const { rejected } = await two.sendMail({ from, to: [address, other.address], text: 'ack' });
  two.close();
  expect(rejected).toEqual([other.address]);
  expect((await found(id)).acknowledged).not.toBeNull();
  expect((await found(other.id)).acknowledged).toBeNull();
  await call('POST', `/api/alarms/${id}/clear`, {});
  expect(await reply(address, 'ack')).toMatch(/^554.*ended/);
});

test('a channel that takes no replies, is disabled or deleted, and one of another tenant', async () => {
  const out = await channel();
  const { id, address } = await alarm();
  for (const [off, on] of [
    [{ settings: settings({ replies: 'off' }) }, { settings: settings() }],
    [{ enabled: false }, { enabled: true }],
  ]) {
    await call('PATCH', `/api/channels/${out}`, off);
    expect(await reply(address, 'ack')).toMatch(/^554/);
    await call('PATCH', `/api/channels/${out}`, on);
  }
  expect((await found(id)).acknowledged).toBeNull();
  await call('PATCH', `/api/channels/${out}`, { settings: settings({ replies: 'off' }) });
  expect((await alarm({ key: 'other' })).address).toBe('');
  await call('DELETE', `/api/channels/${out}`);
  expect(await reply(address, 'ack')).toMatch(/^554/);
  expect((await found(id)).acknowledged).toBeNull();
});

test('replies without end are slowed down, and those to other alarms are not', async () => {
  await channel();
  const [one, other] = [await alarm(), await alarm({ key: 'other' })];
  const answers: string[] = [];
  while (!answers.at(-1)?.startsWith('451') && answers.length < 30)
    answers.push(await reply(one.address, 'shelve'));
  expect(answers.at(-1)).toMatch(/^451/);
  expect(answers[5]).toContain('done');
  expect(await reply(other.address, 'ack')).toContain('done');
});

test('hostile replies hold as plain text', async () => {
  await channel();
  const { id, address } = await alarm();
  const name = '"belfry:cron \u202e<b>\u0007" <x@example.org>';
  expect(await reply(address, `<script>\u0000${'x'.repeat(100_000)}`, { from: name })).toContain('done');
  const { acknowledged } = await found(id);
  expect(acknowledged?.by).toMatch(/^belfry:cron .*\(mail\)$/);
  expect(acknowledged?.by).not.toMatch(/\p{C}/u);
  expect(acknowledged?.note?.length).toBeLessThanOrEqual(500);
});

test('a server without an address for replies refuses channels that take them; one from before still sends', async () => {
  const port = (smtp.server.address() as AddressInfo).port;
  const folder = mkdtempSync(join(tmpdir(), 'belfry-replies-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = { BELFRY_SMTP_URL: `smtp://127.0.0.1:${port}`, BELFRY_SMTP_FROM: 'belfry@example.org' };
  const replies = { BELFRY_SMTP: '127.0.0.1:0', BELFRY_SMTP_REPLY_TO: 'belfry@alarms.example.org' };
  const given = { name: 'mail', kind: 'email', settings: settings() };
  const before = await TestServer.start({ ...env, ...replies }, folder);
  const [own, sender] = [await before.key('admin'), await before.token()];
  const { json: made } = await before.call('POST', '/api/channels', { token: own, json: given });
  await before.call('POST', '/api/rules', { token: own, json: { name: 'r', then: { channels: ['mail'] } } });
  await before.stop({ keep: true });

  const after = await TestServer.start(env, folder);
  onTestFinished(() => after.stop());
  const save = (method: string, path: string, json: object) => after.call(method, path, { token: own, json });
  const refusal = {
    status: 400,
    json: { error: expect.stringMatching(/^settings\.replies: .*BELFRY_SMTP_REPLY_TO/) },
  };
  expect(await save('POST', '/api/channels', { ...given, name: 'second' })).toMatchObject(refusal);
  const path = `/api/channels/${made.id}`;
  expect(await save('PATCH', path, { settings: settings({ to: 'night@example.org' }) })).toMatchObject(
    refusal,
  );
  expect((await save('PATCH', path, { enabled: true, name: 'mail' })).status).toBe(200);
  await after.notify(sender, { title: 'Disk full', message: '93 %', level: 'error' });
  await eventually(() => expect(mails).toHaveLength(1));
  expect(replyToOf(mails[0])).toBe('');
  expect((await save('PATCH', path, { settings: settings({ replies: 'off' }) })).status).toBe(200);
});

test('a configuration file with replies gets the same refusal', async () => {
  const env = { BELFRY_SMTP_URL: 'smtp://127.0.0.1:9', BELFRY_SMTP_FROM: 'belfry@example.org' };
  const plain = await TestServer.start(env);
  const cli = new Cli();
  onTestFinished(async () => {
    await plain.stop();
    await cli.remove();
  });
  const path = join(cli.folder, 'belfry.yaml');
  writeFileSync(
    path,
    'version: 1\nchannels: [{ name: mail, kind: email, settings: { to: a@example.org, replies: on } }]\n',
  );
  const applied = await cli.run(['apply', path], {
    env: { BELFRY_URL: plain.url, BELFRY_TOKEN: await plain.key('admin') },
  });
  expect(applied.code).not.toBe(0);
  expect(applied.stderr).toContain('BELFRY_SMTP_REPLY_TO');
});
