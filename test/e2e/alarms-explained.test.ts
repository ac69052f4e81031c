/** Why an alarm is on no panel: explanations, details and the list say by which alarm and rule it is suppressed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { coreSwitch } from '../support/core-switch.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let tenants = 0;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

async function begin() {
  tenants += 1;
  const tenant = `explained-${tenants}`;
  const lab = await coreSwitch(server, tenant);
  const call = async (method: string, path: string, json?: object, token = lab.key) =>
    (await server.call(method, path, { token, ...(json && { json }) })).json;
  const [rule] = (await call('GET', '/api/rules')).rules;
  const explain = (notification: unknown, over: object = {}) =>
    call('POST', '/api/rules/explain', { notification, ...over });
  return { ...lab, tenant, call, explain, rule: { id: rule.id, name: rule.name }, spec: rule };
}

const host = { title: 'Host unreachable', level: 'error', labels: { site: 'plant 2' } };
const title = 'Core switch down';

test('a trial notification is explained with what stands now: its cause, and the rule', async () => {
  const { explain, switchDown, clear, rule, call } = await begin();
  expect(await explain(host)).toMatchObject({ suppressed: false, suppressedBy: null });
  const cause = await switchDown();
  expect(await explain(host)).toMatchObject({
    suppressed: true,
    suppressedBy: { id: cause, title, rule },
    muted: false,
    channels: [],
    rules: [
      {
        ...{ id: rule.id, outcome: 'failed', suppresses: true },
        reason: expect.stringContaining(`; it suppresses this one while the alarm "${title}" stands`),
      },
    ],
  });
  const elsewhere = { ...host, labels: { site: 'plant 1' } };
  expect(await explain(elsewhere)).toMatchObject({ suppressed: false, suppressedBy: null });
  expect((await explain(elsewhere)).rules[0]).not.toHaveProperty('suppresses');
  // The end of an alarm is not suppressed, unless the alarm is.
  expect(await explain({ ...host, key: 'host', level: 'success' })).toMatchObject({ suppressed: false });
  await clear(cause);
  expect(await explain(host)).toMatchObject({ suppressed: false });
  expect((await call('GET', '/api/alarms')).alarms).toEqual([]);
});

test('a cause does not suppress itself, and a draft counts with the rules that it keeps', async () => {
  const { explain, call, switchDown, spec } = await begin();
  const { id, when, then } = spec;
  const all = { ...then, suppress: { when: {}, equal: ['label:site'] } };
  await call('PATCH', `/api/rules/${id}`, { then: all });
  const cause = await switchDown();
  expect(await explain(host, { rules: [{ id, name: 'draft', when, then: all }] })).toMatchObject({
    suppressedBy: { id: cause, rule: { id, name: 'draft' } },
  });
  expect(await explain(host, { rules: [{ name: 'new', when, then: all }] })).toMatchObject({
    suppressed: false,
  });
  expect(await explain(cause)).toMatchObject({ suppressed: false });
  expect(await explain(cause, { rules: [{ id, name: 'draft', when, then: all }] })).toMatchObject({
    suppressed: false,
  });
});

test('a suppressed alarm is explained, by its id too; a token hears nothing of other alarms', async () => {
  const { explain, switchDown, hostDown, call, rule, token } = await begin();
  const cause = await switchDown();
  const id = await hostDown('host-1');
  const suppressedBy = { id: cause, title, rule };
  expect(await explain(id)).toMatchObject({ suppressed: true, suppressedBy });
  const detail = await call('GET', `/api/notifications/${id}`);
  expect(detail).toMatchObject({ suppressedBy, trace: [{ id: rule.id, suppresses: true }] });
  const ofToken = await call('GET', `/api/notifications/${id}`, undefined, token);
  expect(ofToken.suppressedBy).toBeNull();
  expect(ofToken.trace[0]).not.toHaveProperty('suppresses');
});

test('once its cause has ended, it was suppressed when it came, also by a rule that is gone', async () => {
  const { explain, switchDown, hostDown, call, rule, clear } = await begin();
  const channel = await call('POST', '/api/channels', {
    ...{ name: 'chat', kind: 'ntfy', settings: { url: 'http://127.0.0.1:9', topic: 'chat' } },
  });
  const then = { channels: ['chat'] };
  await call('POST', '/api/rules', { name: 'all to the chat', when: {}, then });
  const cause = await switchDown();
  const id = await hostDown('host-1');
  const suppressedBy = { id: cause, title, rule };
  expect(await explain(id)).toMatchObject({ suppressed: true, suppressedBy, channels: [] });
  await clear(cause);
  await expect
    .poll(() => explain(id))
    .toMatchObject({ suppressed: false, suppressedBy, channels: [{ id: channel.id }] });
  const [trace] = (await explain(id)).rules;
  expect(trace.reason).toContain(`; it suppressed this one when it came, by the alarm "${title}"`);
  await call('DELETE', `/api/rules/${rule.id}`);
  expect(await explain(id)).toMatchObject({ suppressed: false, suppressedBy });
  expect((await call('GET', `/api/notifications/${id}`)).trace[0]).toMatchObject({
    ...{ id: rule.id, suppresses: true },
    reason: expect.stringContaining('it suppressed this one when it came'),
  });
});

test('of two rules that suppress it, the one that still exists is named', async () => {
  const { explain, switchDown, hostDown, call, rule, spec } = await begin();
  await call('PATCH', `/api/rules/${rule.id}`, { continue: true });
  const second = await call('POST', '/api/rules', { name: 'second', when: spec.when, then: spec.then });
  await switchDown();
  const id = await hostDown('host-1');
  expect(await explain(id)).toMatchObject({ suppressedBy: { rule } });
  await call('DELETE', `/api/rules/${rule.id}`);
  expect(await explain(id)).toMatchObject({
    suppressedBy: { rule: { id: second.id, name: 'second' } },
    rules: [{ id: second.id, suppresses: true }],
  });
});

test('a trial repeat keeps what people did about its alarm, and a trial end the cause of its alarm', async () => {
  const { explain, switchDown, call, token, rule } = await begin();
  const cause = await switchDown();
  const keyed = { ...host, key: 'host' };
  const send = async (over: object) =>
    (await server.notify(token, { message: 'm', ttl: 0, ...over })).json.id as string;
  const id = await send({ ...keyed, labels: { site: 'plant 1' } });
  expect(await explain(keyed)).toMatchObject({ suppressed: true });
  await call('POST', `/api/alarms/${id}/acknowledge`, {});
  expect(await explain(keyed)).toMatchObject({ suppressed: false });
  expect(await explain({ ...keyed, level: 'critical' })).toMatchObject({ suppressed: true });
  await call('POST', `/api/alarms/${id}/shelve`, { forMs: 60_000 });
  expect(await explain(keyed)).toMatchObject({ suppressed: false });
  await send({ ...host, key: 'other' });
  expect(await explain({ ...host, key: 'other', level: 'success' })).toMatchObject({
    ...{ suppressed: true, suppressedBy: { id: cause, rule } },
  });
});

test('what people see of an alarm begins with what suppressed it when it came, once', async () => {
  const { switchDown, call, clear, token } = await begin();
  const cause = await switchDown();
  const send = async () =>
    (await server.notify(token, { ...host, message: 'm', ttl: 0, key: 'host' })).json.id as string;
  const first = await send();
  const repeat = await send();
  const events = async () => (await call('GET', `/api/alarms/${repeat}`)).events;
  const { receivedAt } = await call('GET', `/api/notifications/${first}`);
  const suppress = { event: 'suppress', id: first, at: receivedAt, by: cause, note: title, until: null };
  expect(await events()).toEqual([suppress]);
  await clear(cause);
  await expect.poll(events).toMatchObject([{ event: 'unsuppress', id: repeat }, suppress]);
  await switchDown();
  await expect
    .poll(events)
    .toMatchObject([{ event: 'suppress', id: repeat }, { event: 'unsuppress' }, suppress]);
  await send();
  expect(await events()).toHaveLength(3);
});

test('the list says what to do and what is sent next, as the details do', async () => {
  const { call, token } = await begin();
  const then = { instructions: 'Call Ada', escalate: [{ afterMs: 3_600_000, setLevel: 'critical' }] };
  const rule = await call('POST', '/api/rules', { name: 'on call', when: { host: ['db-1'] }, then });
  const runbook = 'https://wiki.example.org/db';
  const given = { ...host, message: 'm', ttl: 0 };
  const { json } = await server.notify(token, { ...given, host: 'db-1', labels: { runbook_url: runbook } });
  await server.notify(token, given);
  const { alarms } = await call('GET', '/api/alarms');
  const ref = { id: rule.id, name: 'on call' };
  expect(alarms[1]).toMatchObject({
    ...{ id: json.id, runbook, instructions: [{ rule: ref, text: 'Call Ada' }] },
    escalation: { next: { step: 1, steps: 1, rule: ref, unless: 'acknowledged' }, from: null, to: null },
  });
  const {
    suppressedAlarms: _s,
    notifications: _n,
    events: _e,
    ...detail
  } = await call(...(['GET', `/api/alarms/${json.id}`] as const));
  expect(detail).toEqual(alarms[1]);
  expect(alarms[0]).toMatchObject({
    ...{ runbook: null, instructions: [], escalation: { next: null, from: null, to: null } },
  });
});

test('of causes in a row, only the first counts what it suppresses', async () => {
  const { call, switchDown, hostDown } = await begin();
  const suppress = { when: { host: ['far-*'] }, equal: ['label:site'] };
  await call('POST', '/api/rules', { name: 'routers', when: { host: ['router'] }, then: { suppress } });
  const core = await switchDown();
  const [router, far] = [await hostDown('router'), await hostDown('far-1')];
  const states = async (query = '') =>
    (await call('GET', `/api/alarms${query}`)).alarms.map(
      ({ id, suppresses }: { id: string; suppresses: number }) => [id, suppresses],
    );
  expect(await states()).toEqual([[core, 2]]);
  expect(await states('?state=suppressed')).toEqual([
    [far, 0],
    [router, 0],
  ]);
});
