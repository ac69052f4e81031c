import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openGotify } from '#test/support/gotify-client.ts';
import { TestServer } from '#test/support/server.ts';
import { isMessage, phoneWorld, titled } from './phones-world.ts';

const base = 'https://belfry.example.org';
let server: TestServer;
let plain: TestServer;
beforeAll(async () => {
  [server, plain] = await Promise.all([TestServer.start({ BELFRY_BASE_URL: base }), TestServer.start()]);
});
afterAll(() => Promise.all([server.stop(), plain.stop()]));

const runbook = 'https://wiki.example.org/disk?a="b"';
const alarm = {
  ...{ title: 'Disk full', message: 'db1 97 %', level: 'error', host: 'db1', key: 'disk' },
  ...{ url: 'https://grafana.example.org/d', labels: { env: 'prod', runbook_url: runbook } },
};

/** A tenant whose rule says what to do, with a phone that follows the topic `ada`. */
async function world(of = server) {
  const given = await phoneWorld(of);
  const { open, call, tenant } = given;
  const instruct = (instructions: string) =>
    call('POST', '/api/rules', { name: 'plant', when: { host: ['db1'] }, then: { instructions } });
  const stream = await open('ada/json?since=none');
  await stream.next(({ event }) => event === 'open');
  const { id } = (await given.panels())[0];
  const set = (display: object) => call('PATCH', `/api/panels/${id}`, { display });
  const page = async (notification: string) => `${base}/t/${tenant}/alarms?id=${notification}`;
  return { ...given, instruct, stream, set, page };
}

test('a message of ntfy says what to do, opens the alarm, and has the runbook beside the buttons', async () => {
  const { instruct, stream, set, send, poll, page } = await world();
  await instruct('Call the plant.\nThen wait.');
  await set({ actions: 'shelve' });
  const id = await send(alarm);
  const message = await stream.next(isMessage);
  expect(message).toMatchObject({
    ...{ title: 'Disk full', message: 'db1 97 %\n\nInstructions:\nCall the plant.\nThen wait.' },
    ...{ click: await page(id), tags: ['rotating_light', 'error', 'db1', 'env=prod'] },
  });
  expect(message.actions).toEqual([
    expect.objectContaining({ id: 'acknowledge' }),
    expect.objectContaining({ id: 'shelve' }),
    { id: 'runbook', action: 'view', label: 'Runbook', clear: false, url: runbook },
  ]);
  const [button] = message.actions ?? [];
  const path = new URL(button?.url ?? '').pathname;
  expect((await fetch(server.url + path, { method: 'POST' })).status).toBe(200);
  // A filter compares the text without the instructions.
  await send({ ...alarm, title: 'second', key: 'second' });
  expect(await poll('ada/json?poll=1&since=all&message=db1')).toEqual([]);
  const found = await poll('ada/json?poll=1&since=all&message=db1+97+%25');
  expect(found.filter(isMessage)).toMatchObject([{ title: 'second' }]);
});

test('in quiet hours and without buttons, the runbook is there as well', async () => {
  const { stream, set, send } = await world();
  await set({ quietFrom: '00:00', quietUntil: '00:00' });
  await send(alarm);
  const quiet = await stream.next(titled('Disk full'));
  expect([quiet.priority, quiet.actions?.map(({ id }) => id)]).toEqual([2, ['acknowledge', 'runbook']]);
  await set({ actions: 'none' });
  await send({ ...alarm, title: 'second', key: 'b' });
  const second = await stream.next(titled('second'));
  expect([second.priority, second.actions?.map(({ id }) => id)]).toEqual([4, ['runbook']]);
  await send({ ...alarm, title: 'third', key: 'c', labels: { runbook_url: 'javascript:alert(1)' } });
  expect((await stream.next(titled('third'))).actions).toBeUndefined();
});

test('without a public URL, a tap opens the url of the notification', async () => {
  const { stream, send } = await world(plain);
  await send(alarm);
  expect(await stream.next(isMessage)).toMatchObject({ click: alarm.url, message: alarm.message });
});

test('message and instructions that are too long are both cut', async () => {
  const { instruct, stream, send } = await world();
  await instruct('ü'.repeat(4_000));
  await send({ ...alarm, message: 'm'.repeat(9_000) });
  const text = (await stream.next(isMessage)).message ?? '';
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096);
  expect(text).toMatch(/^m{1000,}…\n\nInstructions:\nü{500,}…$/);
});

test('a message of Gotify says what to do, with the runbook below it', async () => {
  const { instruct, phone, send, page } = await world();
  await instruct('Call the plant.');
  const stream = await openGotify(server.url, phone);
  onTestFinished(() => stream.close());
  const text = `db1 97 %\n\nInstructions:\nCall the plant.\n\nRunbook: ${runbook}`;
  const id = await send(alarm);
  const sent = await stream.next(({ title }) => title === 'Disk full');
  expect(sent).toMatchObject({
    message: text,
    extras: { 'client::notification': { click: { url: await page(id) } } },
  });
  const { json } = await server.call('GET', '/gotify/message', { headers: { 'x-gotify-key': phone } });
  expect(json.messages).toEqual([sent]);
});

test('a filter holds for what is taken off, too', async () => {
  const { open, poll, send, call } = await world();
  const only = 'title=disk&tags=db1&priority=4';
  const stream = await open(`ada/json?since=none&${only}`);
  await stream.next(({ event }) => event === 'open');
  const ids: string[] = [];
  const about = [
    { title: 'disk', host: 'db2' },
    { title: 'disk', level: 'critical' },
    { title: 'other' },
    { title: 'disk' },
  ];
  for (const [i, each] of about.entries())
    ids.push(await send({ ...alarm, key: `k${i}`, labels: {}, ...each }));
  const message = await stream.next(isMessage);
  for (const id of ids) await call('POST', `/api/alarms/${id}/clear`, {});
  await stream.next(({ event }) => event === 'message_clear');
  expect(stream.events.filter(({ event }) => event === 'message_clear')).toMatchObject([
    { sequence_id: message.sequence_id },
  ]);
  const polled = await poll(`ada/json?poll=1&since=${message.id}&${only}`);
  expect(polled).toMatchObject([{ event: 'message_clear', sequence_id: message.sequence_id }]);
});
