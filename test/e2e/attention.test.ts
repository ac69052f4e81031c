import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

async function newTenant() {
  const made = await server.newTenant();
  const { call } = made;
  const found = async (q: string) =>
    (await call('GET', `/api/history?q=${encodeURIComponent(q)}`)).json.notifications;
  const expectations = async () => (await call('GET', '/api/expectations')).json.expectations;
  return { ...made, found, expectations };
}

test('what does not come again in time is raised, and resolved when it comes', async () => {
  const { token, send, call, found, expectations } = await newTenant();
  const { stream } = await server.panel(token, 'Wall');
  const sendExpecting = (every: string) =>
    send(
      { title: 'Backup', key: 'backup', host: 'db-1' },
      { 'x-expect-every': every, 'x-expect-level': 'critical' },
    );
  await sendExpecting('10m');
  expect(await expectations()).toMatchObject([
    {
      key: 'backup',
      state: 'waiting',
      everyMs: 600_000,
      level: 'critical',
      title: 'Backup',
      notificationId: null,
    },
  ]);
  await sendExpecting('1s');
  const raised = await stream.next(({ data }) => data.title === 'Overdue: Backup');
  expect(raised.data).toMatchObject({ level: 'critical', key: 'backup', host: 'db-1', expiresAt: null });
  expect(raised.data.message).toBe(
    'No notification with the key "backup" for more than 1 s, the expected interval.',
  );
  const { id } = raised.data;
  await eventually(async () =>
    expect(await expectations()).toMatchObject([{ state: 'overdue', notificationId: id }]),
  );
  expect(await found('token:"belfry:expectation"')).toMatchObject([
    { id, token: { name: 'token' }, origin: 'belfry:expectation' },
  ]);
  // It comes again, with the field of a body: the new one takes the place of what was raised.
  await send({ title: 'Backup', key: 'backup', expectEvery: 600_000 });
  await stream.next(({ event, data }) => event === 'clear' && data.id === id && data.reason === 'replaced');
  expect(await expectations()).toMatchObject([{ state: 'waiting', everyMs: 600_000, level: 'error' }]);
  await send({ key: 'backup' }, { 'x-expect-every': '0' });
  expect(await expectations()).toEqual([]);

  await send({ title: 'Cron', key: 'a/ü &?', expectEvery: '1s' });
  const second = await stream.next(({ data }) => data.title === 'Overdue: Cron');
  await eventually(async () => expect((await expectations())[0]?.state).toBe('overdue'));
  const path = `/api/expectations?key=${encodeURIComponent('a/ü &?')}`;
  const foreign = await newTenant();
  expect((await foreign.call('DELETE', path)).status).toBe(404);
  expect((await call('DELETE', path)).status).toBe(204);
  await stream.next(({ event, data }) => event === 'clear' && data.id === second.data.id);
  expect([await expectations(), await foreign.expectations()]).toEqual([[], []]);
  stream.close();
});

test('work that began must end within its grace; its end is followed by the next time of cron', async () => {
  const { token, send, expectations } = await newTenant();
  const { stream } = await server.panel(token, 'Wall');
  const every = { key: 'backup', expectCron: '0 3 * * 1-5', expectTimeZone: 'Europe/Berlin' };
  await send({ title: 'Backup', ...every, expectStart: true, expectGrace: '1s' });
  const { data } = await stream.next(({ data }) => data.title === 'Did not end: Backup');
  expect(data.message).toMatch(/^It began at .* \(Europe\/Berlin\) and did not end within 1 s: /);
  await eventually(async () =>
    expect(await expectations()).toMatchObject([{ state: 'overdue', isRunning: true, graceMs: 1_000 }]),
  );
  await send(
    { title: 'Backup', key: 'backup' },
    { 'x-expect-cron': '0 3 * * 1-5', 'x-expect-start': '0', 'x-expect-grace': '2h' },
  );
  await stream.next(({ event, data: { id } }) => event === 'clear' && id === data.id);
  const [found] = await expectations();
  const { cron, timeZone, everyMs, graceMs, isRunning, state } = found ?? {};
  expect([cron, timeZone, everyMs, graceMs, isRunning, state]).toEqual([
    ...['0 3 * * 1-5', 'UTC', null, 7_200_000, false, 'waiting'],
  ]);
  expect(new Date(found?.overdueAt ?? '').toISOString()).toMatch(/T05:00:/);
  stream.close();
});

test('any later notification of the key ends work that began', async () => {
  const { send, expectations } = await newTenant();
  for (const end of [{}, { expectStart: 0 }, { level: 'error' }]) {
    await send({ title: 'Backup', key: 'backup', level: 'info' }, { 'x-expect-start': '1' });
    expect(await expectations()).toMatchObject([
      { isRunning: true, graceMs: 3_600_000, everyMs: null, timeZone: null },
    ]);
    await send({ title: 'Backup', key: 'backup', level: 'success', ...end });
    expect(await expectations()).toEqual([]);
  }
  await send({ title: 'Backup', key: 'backup', expectEvery: '1d' });
  await send({ title: 'Backup', key: 'backup', expectStart: 1 });
  expect(await expectations()).toMatchObject([{ isRunning: true, everyMs: 86_400_000 }]);
  await send({ title: 'Backup', key: 'backup' });
  expect(await expectations()).toMatchObject([{ isRunning: false, everyMs: 86_400_000, graceMs: 60_000 }]);
});

test.each([
  [{ expectEvery: '5m' }, /expectEvery needs a key/],
  [{ key: 'k', expectEvery: 'soon' }, /expectEvery must be a duration from 1s to 31d/],
  [{ key: 'k', expectEvery: 999 }, /expectEvery must be/],
  [{ key: 'k', expectEvery: '32d' }, /expectEvery must be/],
  [{ key: 'k', expectEvery: true }, /expectEvery must be/],
  [{ key: 'k', expectEvery: '5m', expectLevel: 'VERY BAD' }, /expectLevel must be 1 to 32/],
  [{ expectCron: '0 3 * * *' }, /expectCron needs a key/],
  [{ key: 'k', expectCron: '0 3 * *' }, /^expectCron: must be the five fields of cron/],
  [{ key: 'k', expectCron: 5 }, /expectCron must be a string/],
  [{ key: 'k', expectCron: '0 3 * * *', expectEvery: '1d' }, /exclude each other/],
  [
    { key: 'k', expectCron: '0 3 * * *', expectTimeZone: 'Mars/Base' },
    /expectTimeZone: "Mars\/Base" is no time zone/,
  ],
  [{ key: 'k', expectCron: '0 3 * * *', expectGrace: 'soon' }, /expectGrace must be a duration/],
  [{ key: 'k', expectEvery: '1d', expectTimeZone: 'UTC' }, /expectTimeZone needs expectCron/],
  [{ key: 'k', expectGrace: '1h' }, /expectGrace needs expectEvery, expectCron or expectStart/],
  [{ key: 'k', expectStart: 'soon' }, /expectStart must be 1/],
  [{ key: 'k', expectStart: 1, expectEvery: 0 }, /expectEvery: 0 ends the expectation/],
])('%j is refused', async (fields, message) => {
  const { token, expectations } = await newTenant();
  const { status, json } = await server.notify(token, { title: 't', message: 'm', ...fields });
  expect([status, json.error]).toEqual([400, expect.stringMatching(message)]);
  expect(await expectations()).toEqual([]);
});

const rule = (escalate: unknown, over: object = {}) => ({
  name: 'on call',
  when: { minLevel: 'error' },
  then: { setLevel: 'error', throttle: { by: ['key'], perMs: 1_000 }, escalate, ...over },
});

test('what nobody acknowledged is escalated, step by step, and no further', async () => {
  const { token, send, call, found } = await newTenant();
  const { id: chief } = (await server.panel(token, 'Chief')) as { id: string };
  const { id: wall, stream } = await server.panel(token, 'Wall');
  const steps = [
    { afterMs: 1_000, setLevel: 'critical' },
    { afterMs: 1_000, panels: { ids: [chief] } },
  ];
  expect((await call('POST', '/api/rules', rule(steps, { panels: { ids: [wall] } }))).status).toBe(201);
  const id = await send({ title: 'Disk', level: 'error', key: 'disk' });
  const began = await stream.next(({ data }) => data.id === id);
  expect(began.data.escalated).toBeNull();
  const first = await stream.next(({ data }) => data.escalated?.times === 1);
  const since = began.data.receivedAt;
  const cause = { title: 'Disk', message: 'm', level: 'critical', key: 'disk' };
  expect(first.data).toMatchObject({ ...cause, escalated: { times: 1, since } });
  await stream.next(({ event, data }) => event === 'clear' && data.id === id && data.by === first.data.id);
  const escalationOf = async (of: string) => (await call('GET', `/api/notifications/${of}`)).json.escalation;
  expect(await escalationOf(id)).toEqual({ next: null, from: null, to: first.data.id });
  // The last step is for another panel, too.
  await stream.next(({ event, data }) => event === 'clear' && data.id === first.data.id);
  const escalated = await found('token:"belfry:escalation"');
  expect(escalated).toMatchObject([
    { ...cause, target: { all: false, ids: [wall, chief] }, state: 'live', escalated: { times: 2, since } },
    { id: first.data.id, rules: [{ name: 'on call' }] },
  ]);
  expect(await escalationOf(first.data.id)).toEqual({ next: null, from: id, to: escalated[0].id });
  // Mails and chats have the first id.
  const last = escalated[0].id;
  const late = await call('POST', `/api/notifications/${id}/acknowledge`, { note: 'late' });
  expect(late.json).toMatchObject({ ok: true, id: last, first: true, acknowledged: { note: 'late' } });
  const again = await call('POST', `/api/notifications/${first.data.id}/acknowledge`, {});
  expect(again.json).toMatchObject({ id: last, first: false });
  expect((await found('is:live'))[0]).toMatchObject({ id: last, acknowledged: { note: 'late' } });
  const clear = () => call('POST', `/api/notifications/${id}/clear`);
  expect((await clear()).json).toEqual({ ok: true, id: last, cleared: true });
  expect((await clear()).json).toEqual({ ok: true, id, cleared: false });
  expect(await found('is:live')).toEqual([]);
  const replayed = await call('POST', '/api/rules/replay', { rules: [rule([{ afterMs: 1_000 }])], days: 1 });
  expect(replayed.json).toMatchObject({ escalated: 1, rules: [{ name: 'on call', escalated: 1 }] });
  const { json } = await call('POST', '/api/rules/explain', { notification: { level: 'error' } });
  expect(json.rules[0].reason).toContain(
    'escalates it 1 s later unless acknowledged with the level critical',
  );
  stream.close();
});

test('what was acknowledged, cleared or resolved is not escalated, and a repeat puts nothing off', async () => {
  const { key, send, call, found } = await newTenant();
  await call('POST', '/api/rules', rule([{ afterMs: 4_000 }], { throttle: undefined }));
  const post = (id: string, what: string) =>
    server.call('POST', `/api/notifications/${id}/${what}`, { token: key });
  await post(await send({ level: 'error', title: 'seen', key: 'seen' }), 'acknowledge');
  await post(await send({ level: 'error', title: 'cleared' }), 'clear');
  await send({ level: 'error', title: 'down', key: 'resolved' });
  await send({ level: 'success', title: 'up', key: 'resolved' });
  await send({ level: 'error', title: 'expired', ttl: 100 });
  await send({ level: 'error', title: 'throttled', key: 'again' });
  const last = await send({ level: 'error', title: 'again', key: 'again' }, { 'idempotency-key': 'one' });
  // A sender that had no answer sends the same again: that is not stored, and the first is still escalated.
  expect(await send({ level: 'error', title: 'again', key: 'again' }, { 'idempotency-key': 'one' })).toBe(
    last,
  );
  const alone = await send({ level: 'error', title: 'alone' });
  const escalated = await eventually(async () => {
    const all = await found('token:"belfry:escalation"');
    expect(all).toHaveLength(2);
    return all;
  });
  const titles = escalated.map(({ title }: { title: string }) => title).sort();
  expect(titles).toEqual(['again', 'alone']);
  // With a key or without, the escalation takes its place.
  const ends = await Promise.all(
    [last, alone].map(async (id) => (await call('GET', `/api/notifications/${id}`)).json.cleared.reason),
  );
  expect(ends).toEqual(['replaced', 'replaced']);
});

test('a rule that cannot escalate is refused', async () => {
  const { call } = await newTenant();
  for (const [escalate, message] of [
    [[{ afterMs: 1_000, setLevel: 'nope' }], /then\.escalate\[0\]\.setLevel: "nope" is no level/],
    [
      [{ afterMs: 1_000 }, { afterMs: 1_000, panels: { ids: ['x'] } }],
      /then\.escalate\[1\]\.panels\.ids\[0\]/,
    ],
    [[{ afterMs: 1 }], /afterMs/],
    [[], /escalate/],
    [Array(6).fill({ afterMs: 1_000 }), /escalate/],
  ] as const) {
    const { status, json } = await call('POST', '/api/rules', { name: 'x', then: { escalate } });
    expect([status, json.error]).toEqual([400, expect.stringMatching(message)]);
  }
});

test('a panel without a screen for its time is reported, and so is its return', async () => {
  const { token, call, found } = await newTenant();
  const { stream: wall } = await server.panel(token, 'Wall');
  const { id, stream: screen } = await server.panel(token, 'Lobby');
  const display = { scheme: 'dark', alertWhenLostMs: 5_000 };
  // No screen has ever been connected to it, so it cannot be lost.
  const spare = await call('POST', '/api/panels', { name: 'Spare' });
  expect((await call('PATCH', `/api/panels/${spare.json.id}`, { display })).status).toBe(200);
  const { json } = await call('PATCH', `/api/panels/${id}`, { display });
  expect(json.display).toEqual(display);
  expect((await call('PATCH', `/api/panels/${id}`, { display: { alertWhenLostMs: 4_999 } })).status).toBe(
    400,
  );
  screen.close();
  const lost = await wall.next(({ data }) => data.title === 'Panel Lobby is offline');
  expect(lost.data).toMatchObject({
    level: 'error',
    key: `belfry:panel:${id}`,
    message: 'It has not been connected for 5 s.',
  });
  const again = await server.panel(token, 'Lobby');
  const back = await wall.next(({ data }) => data.title === 'Panel Lobby is back');
  expect(back.data).toMatchObject({
    ...{ level: 'success', key: `belfry:panel:${id}`, message: 'It is connected again.' },
  });
  expect((await found('token:"belfry:panel"')).map(({ state }: { state: string }) => state)).toEqual([
    'live',
    'cleared',
  ]);
  for (const stream of [wall, again.stream]) stream.close();
});
