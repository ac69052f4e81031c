import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { makePerson } from '../support/person.ts';
import { Receiver } from '../support/receiver.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let tenant = '';
let token: string;
let key: string;
let tenants = 0;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_OUTBOUND_ALLOW: '127.0.0.1' });
});
afterAll(() => server.stop());
beforeEach(async () => {
  tenants += 1;
  tenant = `alarms-${tenants}`;
  [token, key] = [await server.token({ tenant }), await server.key('member', tenant)];
});

const minute = 60_000;
const send = async (over: object = {}) =>
  (await server.notify(token, { title: 't', message: 'm', level: 'error', ttl: 0, ...over })).json
    .id as string;
const call = (method: string, path: string, json?: object, as = key) =>
  server.call(method, `/api/alarms${path}`, { token: as, ...(json && { json }) });
const list = async (query = '') => (await call('GET', query)).json;
const idsOf = (page: { alarms: { id: string }[] }) => page.alarms.map(({ id }) => id);
const later = () => new Promise((resolve) => setTimeout(resolve, 5));

test('the list has what stands, the worst first, then what began last, and counts by state', async () => {
  expect(await list()).toEqual({
    ...{ alarms: [], counts: { open: 0, acknowledged: 0, shelved: 0, suppressed: 0 }, nextCursor: null },
  });
  const first = await send({ key: 'disk', host: 'db-01', labels: { site: 'plant 1' } });
  await later();
  const critical = await send({ level: 'critical' });
  await later();
  const newer = await send();
  await later();
  const repeat = await send({ key: 'disk', host: 'db-01', labels: { site: 'plant 1' }, level: 'warning' });
  const page = await list();
  expect(idsOf(page)).toEqual([critical, newer, repeat]);
  expect(page.counts).toEqual({ open: 3, acknowledged: 0, shelved: 0, suppressed: 0 });
  const [, , disk] = page.alarms;
  const detail = (await call('GET', `/${first}`)).json;
  expect(disk).toMatchObject({
    ...{ id: repeat, host: 'db-01', labels: { site: 'plant 1' }, level: 'warning', highestLevel: 'error' },
    ...{ state: 'open', count: 2, acknowledged: null, shelved: null, shownOn: [] },
    since: detail.notifications[1].receivedAt,
  });
  expect(detail).toMatchObject({ ...disk, notifications: [{ id: repeat }, { id: first }], events: [] });
  expect(idsOf(await list('?q=label:site%3Dplant*'))).toEqual([repeat]);
  const rest = await list('?limit=2');
  expect(idsOf(rest)).toEqual([critical, newer]);
  expect(idsOf(await list(`?limit=2&cursor=${rest.nextCursor}`))).toEqual([repeat]);
});

test('acknowledging can be changed, taken over and taken back, and panels hear of each', async () => {
  const { stream } = await server.panel(token, `Wall ${tenant}`);
  const id = await send();
  const at = (event: string) => stream.next((each) => each.event === event && each.data.id === id);
  const acknowledge = (json: object, as = key) => call('POST', `/${id}/acknowledge`, json, as);
  const { json } = await acknowledge({ note: ' on my way ', forMs: 60 * minute });
  expect(json).toMatchObject({
    ok: true,
    id,
    first: true,
    acknowledged: { by: 'key key', note: 'on my way' },
  });
  const until = Date.parse(json.acknowledged.until) - Date.parse(json.acknowledged.at);
  expect(until).toBe(60 * minute);
  expect((await at('acknowledge')).data).toMatchObject(json.acknowledged);
  expect((await acknowledge({}, token)).json).toMatchObject({
    first: false,
    acknowledged: json.acknowledged,
  });
  expect((await acknowledge({ take: true }, token)).json).toMatchObject({
    ...{ first: true, acknowledged: { by: expect.stringContaining('token'), note: null, until: null } },
  });
  await at('acknowledge');
  expect((await list('?state=acknowledged')).alarms).toMatchObject([{ id, state: 'acknowledged' }]);
  expect((await call('DELETE', `/${id}/acknowledge`)).json).toEqual({ ok: true, id, changed: true });
  expect((await at('unacknowledge')).data).toMatchObject({ by: 'key key' });
  expect((await call('DELETE', `/${id}/acknowledge`)).json).toEqual({ ok: true, id, changed: false });
  expect(idsOf(await list('?state=open'))).toEqual([id]);
  const { events } = (await call('GET', `/${id}`)).json;
  expect(events.map(({ event }: { event: string }) => event)).toEqual([
    ...['unacknowledge', 'acknowledge', 'acknowledge'],
  ]);
  stream.close();
});

test('an acknowledgement and a shelf end by themselves: the alarm is open again', async () => {
  const { stream } = await server.panel(token, `Wall ${tenant}`);
  const throttle = { by: ['title'], perMs: 60_000 };
  const json = { name: 'once', when: { title: { contains: 'aside' } }, then: { throttle } };
  await server.call('POST', '/api/rules', { token: await server.key('admin', tenant), json });
  const [seen, aside] = [await send({ title: 'seen' }), await send({ title: 'aside', ttl: 600_000 })];
  await send({ title: 'aside' });
  await call('POST', `/${seen}/acknowledge`, { forMs: 1_000 });
  const shelve = (forMs: number) => call('POST', `/${aside}/shelve`, { forMs, note: 'tomorrow' });
  await shelve(600_000);
  expect((await stream.next(({ event }) => event === 'shelve')).data).toMatchObject({
    ...{ id: aside, by: 'key key', note: 'tomorrow' },
  });
  const page = await list('?state=shelved');
  expect(page).toMatchObject({ alarms: [{ id: aside, state: 'shelved', shelved: { note: 'tomorrow' } }] });
  const history = await server.call('GET', '/api/history?q=is:shelved', { token: key });
  expect(history.json.notifications).toMatchObject([{ id: aside, state: 'shelved' }]);
  // Who starts now does not get it.
  const { stream: late } = await server.panel(token, `Late ${tenant}`);
  await late.next(({ event }) => event === 'heartbeat');
  expect(late.messages.filter(({ data }) => data?.id === aside)).toEqual([]);
  await shelve(1_000);
  const returned = await stream.next(({ event }) => event === 'unshelve');
  expect(returned.data).toMatchObject({
    id: aside,
    by: 'belfry',
    notification: { id: aside, title: 'aside', count: 1 },
  });
  expect(returned.data.notification.remainingMs).toBeGreaterThan(590_000);
  await stream.next(({ event, data }) => event === 'unacknowledge' && data.id === seen);
  expect((await list('?state=open')).counts).toEqual({ open: 2, acknowledged: 0, shelved: 0, suppressed: 0 });
  for (const each of [stream, late]) each.close();
});

test('an acknowledgement without a time ends after that of the level or the rule: every way of acknowledging', async () => {
  const admin = await server.key('admin', tenant);
  const change = (method: string, path: string, json: object) =>
    server.call(method, `/api${path}`, { token: admin, json });
  const put = await change('PUT', '/levels/error', { acknowledgeForMs: 60 * minute });
  expect(put.json).toMatchObject({ acknowledgeForMs: 60 * minute });
  await change('POST', '/rules', {
    name: 'quick',
    when: { host: ['quick'] },
    then: { acknowledgeForMs: minute },
  });
  const explained = await change('POST', '/rules/explain', { notification: { title: 't', host: 'quick' } });
  expect(explained.json).toMatchObject({
    acknowledgeForMs: minute,
    rules: [{ reason: 'ends acknowledgements after 60 s; stops here' }],
  });
  const one = await send();
  const of = ({ at, until }: { at: string; until: string | null }) =>
    until === null ? null : Date.parse(until) - Date.parse(at);
  const acknowledge = async (json: object, path = `/api/alarms/${one}/acknowledge`) =>
    of((await server.call('POST', path, { token: key, json })).json.acknowledged);
  expect(await acknowledge({})).toBe(60 * minute);
  expect(await acknowledge({ forMs: 1_000 })).toBe(1_000);
  expect(await acknowledge({ forMs: 0 })).toBeNull();
  expect(await acknowledge({}, `/api/notifications/${await send()}/acknowledge`)).toBe(60 * minute);
  const many = [await send({ host: 'quick' }), await send(), await send({ level: 'critical' })];
  expect((await call('POST', '/actions', { action: 'acknowledge', ids: many })).json.done).toBe(3);
  const times = many.map(async (id) => of((await call('GET', `/${id}`)).json.acknowledged));
  expect(await Promise.all(times)).toEqual([minute, 60 * minute, null]);
  for (const acknowledgeForMs of [-1, 1, 59_999, 400 * 24 * 60 * minute, 1.5, 'x']) {
    expect((await change('PUT', '/levels/error', { acknowledgeForMs })).status).toBe(400);
    const { json } = await change('POST', '/rules', { name: 'x', then: { acknowledgeForMs } });
    expect(json.error).toMatch(/^then\.acknowledgeForMs/);
  }
});

test('an alarm whose acknowledgement ended by the time of its level is open again', async () => {
  const { directory } = server.running;
  const { id: of } = (await directory.tenants.findByName(tenant)) as { id: number };
  // Shorter than the API allows.
  await directory.levels.put(of, 'error', { acknowledgeForMs: 1_000 }, 'test', 1);
  const { stream } = await server.panel(token, `Wall ${tenant}`);
  const id = await send();
  await server.call('POST', `/api/notifications/${id}/acknowledge`, { token });
  const { data } = await stream.next(({ event }) => event === 'acknowledge');
  expect(Date.parse(data.until) - Date.parse(data.at)).toBe(1_000);
  expect((await stream.next(({ event }) => event === 'unacknowledge')).data).toMatchObject({
    id,
    by: 'belfry',
  });
  expect(idsOf(await list('?state=open'))).toEqual([id]);
  stream.close();
});

test('what repeats while it is shelved is on no panel and in no channel, and history says why', async () => {
  const first = await send({ key: 'flap' });
  await call('POST', `/${first}/shelve`, { forMs: 60 * minute });
  const { stream } = await server.panel(token, `Wall ${tenant}`);
  const repeat = await send({ key: 'flap' });
  expect(await list('?state=shelved')).toMatchObject({ alarms: [{ id: repeat, count: 2 }] });
  const worse = await send({ key: 'flap', level: 'critical' });
  expect((await stream.next(({ event }) => event === 'notification')).data.id).toBe(worse);
  expect((await call('DELETE', `/${first}/shelve`)).json).toEqual({ ok: true, id: worse, changed: false });
  stream.close();
});

test('many are changed by their ids or by a search, with one entry in the audit log', async () => {
  const admin = await server.key('admin', tenant);
  const ids = await Promise.all(
    Array.from({ length: 40 }, (_, i) => send({ title: 'BGP peer lost', host: `e-${i}` })),
  );
  const other = await send({ title: 'Door open' });
  const act = async (json: object) => (await call('POST', '/actions', json)).json;
  expect(await act({ action: 'acknowledge', q: 'title:BGP', note: 'known' })).toEqual({
    done: 40,
    failed: [],
  });
  expect((await list('?q=title:BGP')).counts).toEqual({
    open: 0,
    acknowledged: 40,
    shelved: 0,
    suppressed: 0,
  });
  expect(idsOf(await list('?state=open'))).toEqual([other]);
  const unknown = '0199c0de-7000-7abc-8def-0123456789ab';
  expect(await act({ action: 'unacknowledge', ids: [ids[0], other, unknown] })).toEqual({
    done: 1,
    failed: [
      { id: other, error: 'it is not acknowledged' },
      { id: unknown, error: 'there is no such alarm' },
    ],
  });
  expect(await act({ action: 'shelve', q: '', state: ['open'], forMs: minute })).toMatchObject({ done: 2 });
  expect(await act({ action: 'clear', q: '' })).toMatchObject({ done: 41 });
  expect((await list('?state=open,acknowledged,shelved')).alarms).toEqual([]);
  const audit = (await server.call('GET', '/api/audit?action=alarm', { token: admin })).json;
  expect(
    audit.entries.map((entry: { action: string; detail: unknown }) => [entry.action, entry.detail]),
  ).toMatchObject([
    ['alarm.clear', { alarms: 41 }],
    ['alarm.shelve', { alarms: 2 }],
    ['alarm.unacknowledge', { alarms: 1 }],
    ['alarm.acknowledge', { alarms: 40, note: 'known' }],
  ]);
});

test('who may not, what is of another tenant, and bad input', async () => {
  const id = await send();
  const [viewer, foreign] = [await server.key('viewer', tenant), await server.key('admin', 'elsewhere')];
  expect((await call('GET', '', undefined, viewer)).status).toBe(200);
  expect((await call('GET', '', undefined, token)).status).toBe(403);
  for (const [path, json] of [
    ['/acknowledge', {}],
    ['/shelve', { forMs: minute }],
    ['/clear', {}],
  ] as const) {
    expect((await call('POST', `/${id}${path}`, json, viewer)).status).toBe(403);
    expect((await call('POST', `/${id}${path}`, json, foreign)).status).toBe(404);
  }
  expect((await call('GET', `/${id}`, undefined, foreign)).status).toBe(404);
  expect((await call('POST', '/actions', { action: 'clear', ids: [id] }, foreign)).json).toMatchObject({
    done: 0,
  });
  // A screen's own token may not shelve.
  expect((await call('POST', `/${id}/shelve`, { forMs: minute }, token)).status).toBe(403);
  for (const [path, json] of [
    [`/${id}/shelve`, {}],
    [`/${id}/shelve`, { untilMs: 1 }],
    [`/${id}/shelve`, { forMs: 400 * 24 * 60 * minute }],
    [`/${id}/acknowledge`, { note: 'x'.repeat(501) }],
    [`/${id}/acknowledge`, { forMs: 'soon' }],
    ['/actions', { action: 'clear' }],
    ['/actions', { action: 'clear', ids: [id], q: '' }],
    ['/actions', { action: 'explode', ids: [id] }],
    ['/actions', { action: 'clear', ids: [] }],
    ['/actions', { action: 'shelve', ids: [id] }],
  ] as const)
    expect([path, json, (await call('POST', path, json)).status]).toEqual([path, json, 400]);
  for (const query of ['?state=gone', '?cursor=x', '?limit=501', '?q=nope:'])
    expect([query, (await call('GET', query)).status]).toEqual([query, 400]);
  expect((await call('GET', '/none')).status).toBe(404);
  expect((await list()).counts.open).toBe(1);
});

test('a clear ends an alarm with its note, and its details stay', async () => {
  const first = await send({ key: 'pump' });
  const last = await send({ key: 'pump' });
  expect((await call('POST', `/${first}/clear`, { note: 'repaired' })).json).toEqual({
    ok: true,
    id: last,
    changed: true,
  });
  expect((await list()).alarms).toEqual([]);
  expect((await call('GET', `/${first}`)).json).toMatchObject({
    ...{ id: last, state: 'ended', count: 2, notifications: [{ id: last }, { id: first }] },
    events: [{ event: 'clear', by: 'key key', note: 'repaired' }],
  });
  const again = await send({ key: 'pump' });
  expect((await call('GET', `/${first}`)).json).toMatchObject({ id: last, state: 'ended' });
  const broken = await send({ key: 'door' });
  const repaired = await send({ key: 'door', level: 'success', ttl: 60_000 });
  expect((await call('GET', `/${broken}`)).json).toMatchObject({ id: repaired, state: 'ended', count: 2 });
  expect((await call('GET', `/${again}`)).json).toMatchObject({ id: again, state: 'open', count: 1 });
});

test('the stream says when the list may have changed', async () => {
  const stream = await server.stream('/api/alarms/stream', key);
  const { data } = await stream.next(({ event }) => event === 'ready');
  await send();
  const changed = await stream.next(({ event }) => event === 'change');
  expect(changed.data.head).toBeGreaterThan(data.head);
  stream.close();
});

test('the owner is a member, whom repeats keep, and who can be changed for many at once', async () => {
  const ada = await makePerson(server, 'member', { tenant, name: 'Ada' });
  const stranger = await makePerson(server, 'member', { tenant: 'elsewhere', name: 'Eve' });
  const admin = await server.key('admin', tenant);
  const { members } = (await server.call('GET', '/api/members', { token: admin })).json;
  expect(members).toMatchObject([{ id: ada.id, name: 'Ada' }]);
  const id = await send({ key: 'disk' });
  const assign = (userId: unknown, as = key) => call('PUT', `/${id}/owner`, { userId }, as);
  expect((await assign(ada.id)).json).toEqual({ ok: true, id, changed: true });
  const repeat = await send({ key: 'disk' });
  const owner = { id: ada.id, name: 'Ada' };
  expect((await list()).alarms).toMatchObject([{ id: repeat, count: 2, state: 'open', owner }]);
  expect((await assign(stranger.id)).status).toBe(400);
  expect((await assign(undefined)).status).toBe(400);
  expect((await assign(ada.id, await server.key('viewer', tenant))).status).toBe(403);
  expect((await assign(null, await server.key('admin', 'elsewhere'))).status).toBe(404);
  expect((await assign(null)).json).toEqual({ ok: true, id: repeat, changed: true });
  const detail = (await call('GET', `/${id}`)).json;
  expect(detail).toMatchObject({
    owner: null,
    events: [
      { event: 'assign', by: 'key key', note: null },
      { event: 'assign', by: 'key key', note: 'Ada' },
    ],
  });
  const other = await send();
  const act = (json: object) => call('POST', '/actions', { action: 'assign', ...json });
  expect((await act({ q: 'level:error', userId: ada.id })).json).toEqual({ done: 2, failed: [] });
  expect((await list()).alarms).toMatchObject([{ owner }, { owner }]);
  expect((await act({ ids: [other] })).status).toBe(400);
  expect((await act({ ids: [other], userId: stranger.id })).status).toBe(400);
  const audit = (await server.call('GET', '/api/audit?action=alarm', { token: admin })).json;
  expect(audit.entries).toMatchObject([{ action: 'alarm.assign', detail: { alarms: 2 } }]);
  await call('POST', `/${other}/clear`, {});
  expect((await act({ ids: [other], userId: null })).json).toEqual({
    ...{ done: 0, failed: [{ id: other, error: 'it has ended' }] },
  });
});

/** A rule by which core switches suppress the other alarms of their site. */
const suppressBySite = async () => {
  const admin = await server.key('admin', tenant);
  const make = async (path: string, json: object) => {
    const answer = await server.call('POST', path, { token: admin, json });
    expect([answer.status, answer.text]).toEqual([201, answer.text]);
  };
  await make('/api/rules', {
    name: 'core switches',
    when: { title: { contains: 'core switch' } },
    then: { suppress: { when: { minLevel: 'warning' }, equal: ['label:site'] } },
    continue: true,
  });
  return make;
};
const cause = () => send({ title: 'core switch down', level: 'critical', labels: { site: 'plant 2' } });

test('while its cause stands, an alarm is suppressed: listed as such, on no panel, and not acknowledged', async () => {
  await suppressBySite();
  const { stream } = await server.panel(token, `Wall ${tenant}`);
  const early = await send({ title: 'early', labels: { site: 'plant 2' } });
  const core = await cause();
  expect((await stream.next(({ event }) => event === 'suppress')).data).toMatchObject({
    id: early,
    by: core,
  });
  const late = await send({ title: 'late', host: 'sw-7', labels: { site: 'plant 2' } });
  const elsewhere = await send({ title: 'elsewhere', labels: { site: 'plant 1' } });
  await stream.next(({ event, data }) => event === 'notification' && data.id === elsewhere);
  const shown = stream.messages.filter(({ event }) => event === 'notification').map(({ data }) => data.id);
  expect(shown).toEqual([early, core, elsewhere]);
  const page = await list('?state=suppressed');
  expect(page.counts).toEqual({ open: 2, acknowledged: 0, shelved: 0, suppressed: 2 });
  const suppressedBy = { id: core, title: 'core switch down' };
  expect(page.alarms).toMatchObject([
    { id: late, state: 'suppressed', suppressedBy, suppresses: 0 },
    { id: early, state: 'suppressed', suppressedBy },
  ]);
  expect((await list()).alarms).toMatchObject([
    { id: core, suppresses: 2, suppressedBy: null },
    { id: elsewhere, suppresses: 0 },
  ]);
  expect((await call('GET', `/${core}`)).json.suppressedAlarms).toEqual([
    { id: late, level: 'error', title: 'late', host: 'sw-7' },
    { id: early, level: 'error', title: 'early', host: null },
  ]);
  expect((await call('GET', `/${early}`)).json.events).toMatchObject([
    { event: 'suppress', by: core, note: 'core switch down', until: null },
  ]);
  const refused = await call('POST', `/${late}/acknowledge`, {});
  expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining('suppressed')]);
  expect((await call('POST', '/actions', { action: 'acknowledge', ids: [late] })).json).toMatchObject({
    failed: [{ id: late, error: expect.stringContaining('suppressed') }],
  });
  const history = (path: string, as = key) => server.call('GET', path, { token: as });
  expect((await history('/api/history?q=is:suppressed')).json.notifications).toMatchObject([
    { id: late, state: 'suppressed' },
    { id: early, state: 'suppressed' },
  ]);
  expect((await history(`/api/notifications/${late}`)).json).toMatchObject({ suppressedBy });
  expect((await history(`/api/notifications/${late}`, token)).json.suppressedBy).toBeNull();
  expect((await call('POST', `/${early}/shelve`, { forMs: minute })).json.changed).toBe(true);
  expect((await call('POST', `/${late}/clear`, {})).json.changed).toBe(true);
  expect((await list()).counts).toEqual({ open: 2, acknowledged: 0, shelved: 1, suppressed: 0 });
  stream.close();
});

test('when its cause has ended it is on the panels and in the channels, also of a panel that comes back', async () => {
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.close());
  const make = await suppressBySite();
  const settings = { url: `${receiver.url}/hook` };
  await make('/api/channels', { name: 'hook', kind: 'webhook', settings });
  await make('/api/rules', { name: 'all', when: {}, then: { channels: ['hook'] } });
  const { id: panel, stream } = await server.panel(token, `Wall ${tenant}`);
  const core = await cause();
  const { id: cursor } = await stream.next(({ event }) => event === 'notification');
  const late = await send({ title: 'late', labels: { site: 'plant 2' } });
  const aside = await send({ title: 'aside', labels: { site: 'plant 2' } });
  await call('POST', `/${aside}/shelve`, { forMs: 60 * minute });
  const titles = () => receiver.received.map(({ json }) => json.data.title);
  await expect.poll(titles).toEqual(['core switch down']);
  await call('POST', `/${core}/clear`, {});
  const returned = await stream.next(({ event }) => event === 'unsuppress');
  expect(returned.data).toMatchObject({ id: late, by: 'belfry', notification: { id: late, title: 'late' } });
  expect((await list()).alarms).toMatchObject([{ id: late, state: 'open', suppressedBy: null }]);
  await expect.poll(titles).toContain('late');
  expect(titles().filter((title) => title === 'late')).toHaveLength(1);
  // It was suppressed when it came, and never in its channel.
  await call('DELETE', `/${aside}/shelve`);
  await expect.poll(() => titles().filter((title) => title === 'aside')).toHaveLength(1);
  const again = await server.stream(`/api/panels/${panel}/events`, token, cursor as string);
  expect((await again.next(({ event }) => event === 'unsuppress')).data.notification.id).toBe(late);
  expect(again.messages.filter(({ event, data }) => event === 'notification' && data.id === late)).toEqual(
    [],
  );
  const detail = await server.call('GET', `/api/notifications/${late}`, { token: key });
  expect(detail.json).toMatchObject({ state: 'live', suppressedBy: { id: core, title: 'core switch down' } });
  for (const each of [stream, again]) each.close();
});
