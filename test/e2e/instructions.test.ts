import { afterAll, beforeAll, expect, test } from 'vitest';
import { Receiver } from '../support/receiver.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_OUTBOUND_ALLOW: '127.0.0.1' });
  receiver = await Receiver.start();
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const url = 'https://wiki.example.org/disk';
const text = 'Call <b>the plant</b>.\nThen wait.';

async function newTenant() {
  const { token, call, send } = await server.newTenant();
  const { stream } = await server.panel(token, 'wall');
  const rule = async (name: string, json: object) =>
    (await call('POST', '/api/rules', { name, continue: true, ...json })).json.id as string;
  const received = async (id: string) => (await stream.next(({ data }) => data?.id === id)).data;
  const alarm = async (id: string) => (await call('GET', `/api/alarms/${id}`)).json;
  return { token, call, send, stream, rule, received, alarm };
}

test('an alarm has its instructions, its runbook and its next escalation, as its notification has them', async () => {
  const { call, send, rule, alarm } = await newTenant();
  const plant = await rule('plant', { when: { host: ['plant'] }, then: { instructions: text } });
  await rule('up', { then: { escalate: [{ afterMs: 3_600_000 }] } });
  const id = await send({ host: 'plant', key: 'k', level: 'error', labels: { runbook_url: url } });
  const detail = await alarm(id);
  const notification = (await call('GET', `/api/notifications/${id}`)).json;
  expect(detail).toMatchObject({
    instructions: [{ rule: { id: plant, name: 'plant' }, text }],
    ...{
      runbook: url,
      escalation: { next: { step: 1, steps: 1, rule: { name: 'up' } }, from: null, to: null },
    },
  });
  expect(detail.instructions).toEqual(notification.instructions);
  expect(detail.escalation).toEqual(notification.escalation);
  const { alarms } = (await call('GET', '/api/alarms')).json;
  for (const field of ['instructions', 'runbook', 'escalation'])
    expect(alarms[0][field]).toEqual(detail[field]);
  const other = await send({ labels: { runbook_url: 'javascript:alert(1)' } });
  expect(await alarm(other)).toMatchObject({ instructions: [], runbook: null });
});

test('a panel gets the instructions with the notification, live and in the live set, as the rules are then', async () => {
  const { token, call, send, stream, rule, received } = await newTenant();
  const plant = await rule('plant', { when: { host: ['plant'] }, then: { instructions: text } });
  await rule('all', { then: { instructions: 'Write it down.' } });
  const id = await send({ host: 'plant' });
  expect((await received(id)).instructions).toBe(`${text}\n\nWrite it down.`);
  expect((await received(await send({ host: 'x' }))).instructions).toBe('Write it down.');
  for (const { id: each } of (await call('GET', '/api/rules')).json.rules)
    if (each !== plant) await call('DELETE', `/api/rules/${each}`);
  expect(await received(await send({ host: 'y' }))).not.toHaveProperty('instructions');
  stream.close();
  const { stream: later } = await server.panel(token, 'wall');
  const began = await later.next(({ data }) => data?.id === id);
  expect(began.data.instructions).toBe(text);
  later.close();
});

test('an escalation has the instructions of what it sends again, although its level matches other rules', async () => {
  const { call, send, stream, rule } = await newTenant();
  await rule('errors', {
    when: { level: ['error'] },
    then: { instructions: text, escalate: [{ afterMs: 1_000, setLevel: 'critical' }] },
  });
  await rule('critical', { when: { level: ['critical'] }, then: { instructions: 'Wake everybody.' } });
  await send({ level: 'error', key: 'k' });
  const { data } = await stream.next((each) => each.data?.escalated?.times === 1);
  expect(data).toMatchObject({ level: 'critical', instructions: `${text}\n\nWake everybody.` });
  const { instructions } = (await call('GET', `/api/notifications/${data.id}`)).json;
  expect(instructions.map(({ text: each }: { text: string }) => each)).toEqual([text, 'Wake everybody.']);
  stream.close();
});

test('a channel sends the instructions that the rules have when it delivers', async () => {
  const { call, send, rule, stream } = await newTenant();
  await receiver.webhook(call);
  const id = await rule('to hook', { then: { channels: ['hook'], instructions: 'Old.' } });
  receiver.replies.push({ status: 500 });
  await send({ title: 'first' });
  await expect.poll(() => receiver.received).toHaveLength(1);
  await call('PATCH', `/api/rules/${id}`, { then: { channels: ['hook'], instructions: text } });
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(2);
  expect(receiver.received.map(({ json }) => json.data.instructions)).toEqual(['Old.', text]);
  stream.close();
});
