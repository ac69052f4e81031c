import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';

interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

const mails: Mail[] = [];
/** The next mail is refused with this code. */
let refusal: number | undefined;
let smtp: SMTPServer;
let server: TestServer;
let key: string;
beforeAll(async () => {
  smtp = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS'] },
    onMailFrom(_address, _session, done) {
      const code = refusal;
      refusal = undefined;
      done(code === undefined ? null : Object.assign(new Error('not today'), { responseCode: code }));
    },
    onRcptTo({ address }, _session, done) {
      const isFull = address.startsWith('full@');
      done(isFull ? Object.assign(new Error('mailbox is full'), { responseCode: 452 }) : null);
    },
    onData(stream, { envelope: { mailFrom, rcptTo } }, done) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const from = mailFrom === false ? '' : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        mails.push({ from, to, text: Buffer.concat(parts).toString('utf8') });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', () => resolve()));
  const { port } = smtp.server.address() as AddressInfo;
  // The operator's own server is reached although its address is an internal one; a channel's is not.
  server = await TestServer.start({
    BELFRY_SMTP_URL: `smtp://127.0.0.1:${port}`,
    BELFRY_SMTP_FROM: 'belfry@example.org',
    BELFRY_BASE_URL: 'https://belfry.example.org',
  });
  key = await server.key('admin');
});
afterAll(async () => {
  await server.stop();
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
});

const call = async (method: string, path: string, json?: unknown) =>
  (await server.call(method, path, { token: key, ...(json !== undefined && { json }) })).json;

test('a channel sends mails by the server of the installation, in order, with one id for each notification', async () => {
  const settings = { to: 'Ops@example.org, night@example.org' };
  const { id } = await call('POST', '/api/channels', { name: 'mail', kind: 'email', settings });
  await call('POST', '/api/rules', { name: 'mail', then: { channels: ['mail'] } });
  const token = await server.token();
  refusal = 450;
  const first = await server.notify(token, {
    title: 'Plätze\u2028frei',
    message: 'ein\nzwei',
    key: 'k',
    level: 'error',
  });
  await server.notify(token, { title: 'second', message: 'm', key: 'k' });
  await eventually(() => expect(mails).toHaveLength(2));
  const [mail] = mails;
  expect(mail).toMatchObject({ from: 'belfry@example.org', to: ['ops@example.org', 'night@example.org'] });
  expect(mail?.text).toMatch(new RegExp(`^Message-ID: <${first.json.id}@example.org>`, 'im'));
  expect(mail?.text).toMatch(/^Subject: =\?UTF-8\?/m);
  expect(mail?.text).toMatch(/^Auto-Submitted: auto-generated/im);
  // Without the line breaks of quoted-printable.
  expect(mail?.text.replaceAll(/=\r?\n/g, '')).toContain(
    `Open in Belfry: https://belfry.example.org/t/default/alarms?id=3D${first.json.id}`,
  );
  const threads = mails.map(({ text }) => /^References: (.*)$/m.exec(text)?.[1]);
  expect(threads[0]).toBe(threads[1]);
  refusal = 550;
  await server.notify(token, { title: 'refused', message: 'm' });
  await eventually(async () =>
    expect((await call('GET', `/api/channels/${id}/deliveries`)).deliveries).toMatchObject([
      { title: 'refused', state: 'failed', answer: expect.stringContaining('not today') },
      { title: 'second', state: 'delivered' },
      { state: 'delivered', attempts: 2 },
    ]),
  );
});

test('what only some addresses get is not repeated, and the answer names the others', async () => {
  const settings = { to: 'ops@example.org, full@example.org' };
  const { id } = await call('POST', '/api/channels', { name: 'some', kind: 'email', settings });
  const { ok, answer } = await call('POST', `/api/channels/${id}/test`);
  expect([ok, answer]).toEqual([true, expect.stringContaining('; not to full@example.org: 452')]);
});

test('a server of its own must be a public one, and a password does not travel in the clear', async () => {
  const own = { to: 'ops@example.org', from: 'a@example.org', server: 'smtp://127.0.0.1:25' };
  const { id } = await call('POST', '/api/channels', { name: 'own', kind: 'email', settings: own });
  expect(await call('POST', `/api/channels/${id}/test`)).toMatchObject({
    ...{ ok: false, answer: expect.stringContaining('BELFRY_OUTBOUND_ALLOW') },
  });
});
