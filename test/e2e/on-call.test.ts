import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { weekdays } from '#contract/routing/rule.ts';
import { eventually } from '../support/eventually.ts';
import { Receiver } from '../support/receiver.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let receiver: Receiver;
let tenant: string;
let key: string;
let token: string;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_OUTBOUND_ALLOW: '127.0.0.1' });
  receiver = await Receiver.start();
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});
beforeEach(async () => {
  tenant = `t${randomUUID()}`;
  [key, token] = [await server.key('admin', tenant), await server.token({ tenant })];
  receiver.received.length = 0;
  receiver.replies.length = 0;
  receiver.answer = undefined;
});

const call = (method: string, path: string, json?: unknown, as = key) =>
  server.call(method, path, { token: as, ...(json !== undefined && { json }) });
const hourMs = 3_600_000;
const always = (...people: string[]) => ({
  firstWeek: '2026-11-30',
  shifts: people.map((name) => ({ days: [...weekdays], from: '00:00', until: '24:00', people: [name] })),
});
const create = async (draft: object) => {
  const { status, json, text } = await call('POST', '/api/on-call', {
    name: 'Ops',
    timeZone: 'UTC',
    ...draft,
  });
  if (status !== 201) throw new Error(text);
  return json;
};
const calendarTime = (at: number) => new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '');
const icsOf = (...events: (readonly [title: string, from: number, until: number])[]) =>
  `BEGIN:VCALENDAR\r\n${events
    .map(
      ([title, from, until], i) =>
        `BEGIN:VEVENT\r\nUID:${i}\r\nSUMMARY:${title}\r\nDTSTART:${calendarTime(Date.now() + from)}\r\nDTEND:${calendarTime(Date.now() + until)}\r\nEND:VEVENT\r\n`,
    )
    .join('')}END:VCALENDAR\r\n`;
const ownAlarms = async () =>
  (await call('GET', `/api/history?q=${encodeURIComponent('token:belfry:on-call')}`)).json.notifications;

test('a rule adds the channels and panels of the people on call, and its explanation names them', async () => {
  const hook = await receiver.webhook((...args) => call(...args));
  const panels = await Promise.all(
    ['wall', 'phone'].map((name) => call('POST', '/api/panels', { name }, token).then(({ json }) => json.id)),
  );
  const [wall, phone] = panels;
  const people = [
    { name: 'Ana', channels: ['hook'], panels: { ids: [phone] } },
    { name: 'Ben', panels: { ids: [wall] } },
  ];
  const schedule = await create({ people, rota: always('Ana') });
  expect(schedule).toMatchObject({
    people: [{ channels: [hook.id] }, {}],
    now: { people: ['Ana'], from: null, until: null },
    next: null,
    gap: null,
  });
  const rule = await call('POST', '/api/rules', { name: 'to Ops', then: { onCall: 'Ops', panels: 'none' } });
  expect([rule.status, rule.json.then]).toEqual([201, { onCall: schedule.id, panels: 'none' }]);
  const id = (await server.notify(token, { title: 'Disk full', message: 'm', ttl: 0 })).json.id;
  await eventually(async () => expect(receiver.received.map(({ json }) => json.data.id)).toEqual([id]));
  const detail = async () => (await call('GET', `/api/notifications/${id}`)).json;
  expect(await detail()).toMatchObject({
    target: { ids: [phone] },
    trace: [{ outcome: 'matched', reason: expect.stringContaining('who is on call: Ana (Ops)') }],
  });

  // Somebody else is on call by now; who was on call then is recorded.
  await call('PATCH', `/api/on-call/${schedule.id}`, { rota: always('Ben') });
  expect((await detail()).trace[0].reason).toContain('Ana (Ops)');
  const explain = async (notification: unknown) =>
    (await call('POST', '/api/rules/explain', { notification })).json;
  expect(await explain(id)).toMatchObject({ panels: [{ id: phone }], channels: [{ name: 'hook' }] });
  expect(await explain({ title: 'new' })).toMatchObject({ panels: [{ id: wall }], channels: [] });
  const rules = [{ name: 'r', then: { onCall: 'Ops', panels: 'none' } }];
  const replayed = async (more: object = {}) =>
    (await call('POST', '/api/rules/replay', { rules, ...more })).json;
  expect(await replayed()).toMatchObject({ considered: 1, changed: 0 });
  const draft = { id: schedule.id, name: 'Ops', people: [{ name: 'Ana' }], rota: always('Ana') };
  expect(await replayed({ onCall: [draft] })).toMatchObject({ changed: 1, shownAfter: 0 });
});

test('a schedule that a rule names cannot be deleted, until the rule is', async () => {
  const { id } = await create({ people: [{ name: 'Ana' }], rota: always('Ana') });
  const rule = await call('POST', '/api/rules', { name: 'to Ops', then: { onCall: 'Ops', panels: 'none' } });
  const refused = await call('DELETE', `/api/on-call/${id}`);
  expect([refused.status, refused.json.error]).toEqual([
    409,
    'rules name the on-call schedule "Ops": "to Ops"; change them first',
  ]);
  expect((await call('GET', `/api/on-call/${id}`)).status).toBe(200);
  await call('DELETE', `/api/rules/${rule.json.id}`);
  expect((await call('DELETE', `/api/on-call/${id}`)).status).toBe(204);
  expect((await call('DELETE', `/api/on-call/${id}`)).status).toBe(404);
});

test('who is on call is added to the panels of the rules, and takes none away', async () => {
  const wall = (await call('POST', '/api/panels', { name: 'wall' }, token)).json.id;
  await create({ people: [{ name: 'Ana', panels: { tags: ['phone'] } }], rota: always('Ana') });
  const targetOf = async (then: object) => {
    const rules = [{ name: 'r', then: { onCall: 'Ops', ...then } }];
    return (await call('POST', '/api/rules/explain', { notification: { title: 't' }, rules })).json.target;
  };
  expect(await targetOf({})).toMatchObject({ all: true });
  expect(await targetOf({ panels: { ids: [wall] } })).toMatchObject({
    all: false,
    ids: [wall],
    tags: ['phone'],
  });
});

test('a calendar says who is on call; it is read again when it changes, and a redirect is followed', async () => {
  const people = [{ name: 'Ana', calendarNames: ['ana@example.org'] }, { name: 'Ben' }];
  let tag = 1;
  let title = 'On call: Ana';
  receiver.answer = ({ path, headers }) => {
    if (path === '/start.ics') return { status: 302, headers: { location: '/ops.ics' } };
    if (headers['if-none-match'] === `"${tag}"`) return { status: 304 };
    return { headers: { etag: `"${tag}"` }, body: icsOf([title, -hourMs, 30 * 24 * hourMs]) };
  };
  const url = `${receiver.url}/start.ics`;
  const { id } = await create({ people, calendar: { url } });
  const find = async (as = key) => (await call('GET', `/api/on-call/${id}`, undefined, as)).json;
  await eventually(async () => expect((await find()).now.people).toEqual(['Ana']));
  expect(await find()).toMatchObject({ calendar: { url }, calendarState: { error: null, unknown: [] } });
  const viewer = await server.key('viewer', tenant);
  expect((await find(viewer)).calendar).toEqual({ url: receiver.url });

  const readAgain = async () => (await call('POST', `/api/on-call/${id}/read`)).json;
  expect((await readAgain()).now.people).toEqual(['Ana']);
  expect(receiver.received.at(-1)?.headers['if-none-match']).toBe('"1"');
  [tag, title] = [2, 'Ben'];
  expect((await readAgain()).now.people).toEqual(['Ben']);
  [tag, title] = [3, 'Dora'];
  expect(await readAgain()).toMatchObject({ now: { people: [] }, calendarState: { unknown: ['Dora'] } });

  // What cannot be read leaves the last copy in force.
  [tag, title] = [4, 'Ana'];
  await readAgain();
  for (const [reply, error] of [
    [{ status: 500 }, 'answered 500'],
    [{ body: '<html>' }, 'no iCalendar file'],
    [{ body: `BEGIN:VCALENDAR${'x'.repeat(1024 * 1024)}` }, 'larger than 1 MiB'],
  ] as const) {
    receiver.answer = () => reply;
    expect(await readAgain()).toMatchObject({
      now: { people: ['Ana'] },
      calendarState: { error: expect.stringContaining(error), failingSince: expect.any(String) },
    });
  }
  expect((await find(viewer)).calendarState.error).toBeNull();
  expect((await call('GET', '/api/overview', undefined, viewer)).json.onCall).toMatchObject([
    { id, name: 'Ops', timeZone: 'UTC', now: { people: ['Ana'] }, calendarFailingSince: expect.any(String) },
  ]);
});

test('a schedule that never has anybody on call has no invented begin', async () => {
  receiver.answer = () => ({ body: icsOf() });
  const { id } = await create({ people: [{ name: 'Ana' }], calendar: { url: `${receiver.url}/empty.ics` } });
  const nobody = { from: null, until: null, people: [] };
  expect((await call('POST', `/api/on-call/${id}/read`)).json).toMatchObject({
    ...{ now: nobody, next: null, shifts: [nobody] },
    gap: { from: null, until: null },
  });
});

test('one bad event of a calendar is named, and the others count', async () => {
  const bad =
    'BEGIN:VEVENT\r\nUID:b\r\nSUMMARY:Ben\r\nDTSTART:20261019T090000Z\r\nRRULE:FREQ=NONSENSE\r\nEND:VEVENT\r\n';
  const good = icsOf(['Ana', -hourMs, 30 * 24 * hourMs]);
  receiver.answer = () => ({ body: good.replace('END:VCALENDAR', `${bad}END:VCALENDAR`) });
  const { id } = await create({ people: [{ name: 'Ana' }], calendar: { url: `${receiver.url}/a.ics` } });
  expect((await call('POST', `/api/on-call/${id}/read`)).json).toMatchObject({
    now: { people: ['Ana'] },
    calendarState: { error: null, leftOut: [{ title: 'Ben', reason: 'unreadable' }] },
  });
});

test('the address of a calendar may be one of webcal, and may name a password, which only admins see', async () => {
  const url = 'webcal://ana:secret@calendar.invalid/ops.ics?token=secret';
  const { id, calendar } = await create({ people: [{ name: 'Ana' }], calendar: { url } });
  expect(calendar).toEqual({ url });
  const viewer = await server.key('viewer', tenant);
  const seen = await call('GET', `/api/on-call/${id}`, undefined, viewer);
  expect([seen.json.calendar, seen.text.includes('secret')]).toEqual([
    { url: 'https://calendar.invalid' },
    false,
  ]);
});

test('a calendar at an internal address is not read, and the alarm says so without the address', async () => {
  const url = 'http://127.0.0.2:9/secret-path.ics?token=secret-token';
  const { id } = await create({ people: [{ name: 'Ana' }], calendar: { url } });
  expect((await call('POST', `/api/on-call/${id}/read`)).json.calendarState.error).toContain(
    'BELFRY_OUTBOUND_ALLOW',
  );
  await eventually(async () => expect(await ownAlarms()).toHaveLength(1));
  const [{ message }] = await ownAlarms();
  expect(message).toContain('it has never been read: ');
  expect(message).toContain('BELFRY_OUTBOUND_ALLOW');
  expect(message).not.toContain('secret');
});

test('a gap that comes soon is an alarm, which ends when somebody fills it', async () => {
  receiver.answer = () => ({ body: icsOf(['Ana', -hourMs, 2 * hourMs]) });
  const people = [{ name: 'Ana' }, { name: 'Ben' }];
  const { id } = await create({ people, calendar: { url: `${receiver.url}/gap.ics` } });
  await eventually(async () =>
    expect(await ownAlarms()).toMatchObject([
      { title: 'Nobody is on call: Ops', level: 'error', key: `belfry:on-call:${id}`, state: 'live' },
    ]),
  );
  expect((await ownAlarms())[0].message).toMatch(
    /^Nobody is on call from \d{4}-\d\d-\d\d \d\d:\d\d .*\(UTC\)\.$/,
  );
  expect((await call('GET', `/api/on-call/${id}`)).json.gap).toMatchObject({ until: null });
  receiver.answer = () => ({
    body: icsOf(['Ana', -hourMs, 2 * hourMs], ['Ben', 2 * hourMs, 60 * 24 * hourMs]),
  });
  await call('POST', `/api/on-call/${id}/read`);
  await eventually(async () =>
    expect((await ownAlarms()).map(({ title }: { title: string }) => title)).toEqual([
      'On call in order again: Ops',
      'Nobody is on call: Ops',
    ]),
  );

  await call('PATCH', `/api/on-call/${id}`, {
    rota: { ...always('Ana'), shifts: [{ days: ['mon'], from: '00:00', until: '00:01', people: ['Ana'] }] },
  });
  await eventually(async () =>
    expect((await ownAlarms())[0]).toMatchObject({ state: 'live', level: 'error' }),
  );
  await call('DELETE', `/api/on-call/${id}`);
  await eventually(async () => expect((await ownAlarms())[0]).toMatchObject({ state: 'cleared' }));
});

test('a schedule without the alarm has gaps in silence, and its preview shows them', async () => {
  const rota = {
    firstWeek: '2026-11-30',
    shifts: [{ days: ['mon'], from: '09:00', until: '17:00', people: ['Ana', 'Ben'] }],
  };
  const people = [{ name: 'Ana' }, { name: 'Ben' }];
  const preview = (await call('POST', '/api/on-call/preview', { people, rota, timeZone: 'Europe/Berlin' }))
    .json;
  const named = preview.shifts.filter((each: { people: string[] }) => each.people.length > 0);
  expect(new Set(named.flatMap((each: { people: string[] }) => each.people))).toEqual(
    new Set(['Ana', 'Ben']),
  );
  expect(preview.shifts.length).toBeGreaterThanOrEqual(4);
  const { id } = await create({ people, rota, alertBeforeMs: 0 });
  expect((await call('GET', `/api/on-call/${id}`)).json.gap).not.toBeNull();
  expect(await ownAlarms()).toEqual([]);
});

test('the example of the guide works as it is written', async () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/on-call.md'), 'utf8');
  const [, json = ''] = /--json '(\{[\s\S]*?\})'/.exec(guide) ?? [];
  const { status, text } = await call('POST', '/api/on-call', JSON.parse(json));
  expect([status, text]).toEqual([201, expect.stringContaining('"Ops"')]);
});

test('what cannot work is refused, with the field', async () => {
  const people = [{ name: 'Ana' }];
  const refused = async (draft: object) => {
    const { status, json } = await call('POST', '/api/on-call', { name: 'Ops', people, ...draft });
    return [status, json.error];
  };
  const problem = (text: string) => [400, expect.stringContaining(text)];
  expect(await refused({})).toEqual(problem('rota: is required'));
  expect(await refused({ rota: always('Ana'), calendar: { url: 'https://a.example' } })).toEqual(
    problem('calendar: give'),
  );
  expect(await refused({ rota: always('Ben') })).toEqual(problem('rota.shifts[0].people[0]: "Ben"'));
  expect(await refused({ rota: { ...always('Ana'), firstWeek: '2026-02-30' } })).toEqual(
    problem('rota.firstWeek'),
  );
  expect(await refused({ rota: always('Ana'), timeZone: 'Berlin' })).toEqual(problem('timeZone'));
  expect(await refused({ calendar: { url: 'file:///etc/passwd' } })).toEqual(problem('calendar.url'));
  expect(await refused({ rota: always('Ana'), people: [...people, ...people] })).toEqual(
    problem('people[1].name'),
  );
  const nowhere = [{ name: 'Ana', channels: ['none'] }];
  expect(await refused({ rota: always('Ana'), people: nowhere })).toEqual(problem('people[0].channels[0]'));
  const rule = await call('POST', '/api/rules', { name: 'r', then: { onCall: 'Ops' } });
  expect([rule.status, rule.json.error]).toEqual(problem('then.onCall'));
});
