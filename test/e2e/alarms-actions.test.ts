/** What people do about alarms, by the calls for one, the older calls, and those for many. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { coreSwitch } from '../support/core-switch.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let tenant = '';
let token: string;
let key: string;
let tenants = 0;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  tenants += 1;
  tenant = `actions-${tenants}`;
  [token, key] = [await server.token({ tenant }), await server.key('member', tenant)];
});

const hour = 3_600_000;
const send = async (over: object = {}) =>
  (await server.notify(token, { title: 't', message: 'm', level: 'error', ttl: 0, ...over })).json
    .id as string;
const call = (method: string, path: string, json?: object, as = key) =>
  server.call(method, path, { token: as, ...(json && { json }) });
const act = (json: object) => call('POST', '/api/alarms/actions', json);

test('the older call acknowledges as the newer one: for a time, in the place of somebody else, with another note', async () => {
  const id = await send();
  const acknowledge = async (json: object | undefined, as = key) =>
    (await call('POST', `/api/notifications/${id}/acknowledge`, json, as)).json;
  const first = await acknowledge({ note: 'mine', forMs: hour });
  expect(first).toMatchObject({ ok: true, id, first: true, acknowledged: { note: 'mine' } });
  expect(Date.parse(first.acknowledged.until) - Date.parse(first.acknowledged.at)).toBe(hour);
  expect(await acknowledge({}, token)).toMatchObject({ first: false, acknowledged: first.acknowledged });
  // A repeated call that says nothing new.
  expect(await acknowledge(undefined)).toEqual({ ...first, first: false });
  expect(await acknowledge({ note: 'soon' })).toMatchObject({ first: true, acknowledged: { note: 'soon' } });
  expect(await acknowledge({ take: true, forMs: 0 }, token)).toMatchObject({
    ...{ first: true, acknowledged: { by: 'token token', note: null, until: null } },
  });
  expect((await call('POST', `/api/notifications/${id}/acknowledge`, { forMs: 1 })).status).toBe(400);
});

test('the older call clears with a note', async () => {
  const id = await send();
  const path = `/api/notifications/${id}/clear`;
  expect((await call('POST', path, { note: 'x'.repeat(501) })).status).toBe(400);
  expect((await call('POST', path, { note: 'repaired' })).json).toEqual({ ok: true, id, cleared: true });
  expect((await call('GET', `/api/alarms/${id}`)).json.events).toMatchObject([
    { event: 'clear', note: 'repaired' },
  ]);
  expect((await call('POST', `/api/notifications/${await send()}/clear`)).json.cleared).toBe(true);
});

test('what has ended can be acknowledged, one or many: history says who saw it, and nothing opens', async () => {
  const [one, other] = [await send(), await send()];
  expect((await act({ action: 'clear', ids: [one, other] })).json).toEqual({ done: 2, failed: [] });
  expect((await call('POST', `/api/alarms/${one}/acknowledge`, { note: 'seen' })).json).toMatchObject({
    ...{ id: one, first: true, acknowledged: { note: 'seen', until: null } },
  });
  expect((await act({ action: 'acknowledge', ids: [other] })).json).toEqual({ done: 1, failed: [] });
  expect((await call('GET', '/api/alarms')).json.alarms).toEqual([]);
  const { json } = await call('GET', '/api/history?q=is:acknowledged');
  expect(json.notifications.map(({ id }: { id: string }) => id)).toEqual([other, one]);
});

test('a time is refused where it has no meaning', async () => {
  const id = await send();
  for (const [action, over] of [
    ['clear', { forMs: hour }],
    ['unshelve', { untilMs: Date.now() + hour }],
    ['unacknowledge', { forMs: hour }],
    ['assign', { forMs: hour, userId: null }],
  ] as const) {
    const { status, json } = await act({ action, ids: [id], ...over });
    expect([status, json.error]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^(forMs|untilMs): .*not for ${action}$`)),
    ]);
  }
  expect((await call('GET', '/api/alarms')).json.counts.open).toBe(1);
});

test('what cannot be acknowledged says why: shelved, or suppressed', async () => {
  const { switchDown, hostDown, key: admin } = await coreSwitch(server, tenant);
  await switchDown();
  const [aside, suppressed] = [await send(), await hostDown('host-1')];
  await call('POST', `/api/alarms/${aside}/shelve`, { forMs: hour });
  const refused = async (id: string) =>
    (await call('POST', `/api/alarms/${id}/acknowledge`, {}, admin)).json.error;
  const reasons = [
    'it is shelved: unshelve it first',
    'it is suppressed by another alarm, and comes back when that has ended',
  ];
  expect(await refused(aside)).toBe(`it is on no panel: ${reasons[0]}`);
  expect(await refused(suppressed)).toBe(`it is on no panel: ${reasons[1]}`);
  expect((await act({ action: 'acknowledge', ids: [aside, suppressed] })).json.failed).toEqual([
    { id: aside, error: reasons[0] },
    { id: suppressed, error: reasons[1] },
  ]);
});
