import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let token: string;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  [token, key] = [await server.token(), await server.key('admin')];
});
afterAll(() => server.stop());

const send = async (host: string) => {
  const { id } = (await server.notify(token, { title: 't', message: 'm', host })).json;
  return (await server.call('GET', `/api/notifications/${id}`, { token: key })).json;
};
const rule = (json: object) => server.call('POST', '/api/rules', { token: key, json });

test('a mute with an end ends by itself', async () => {
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  const mute = { name: 'maintenance', when: { host: ['ends'] }, then: { mute: true } };
  const { id } = (await rule({ ...mute, activeUntil: inMs(3_600_000) })).json;
  expect((await send('ends')).state).toBe('muted');
  const activeUntil = inMs(500);
  await server.call('PATCH', `/api/rules/${id}`, { token: key, json: { activeUntil } });
  const shown = await eventually(
    async () => {
      const sent = await send('ends');
      expect(sent.state).toBe('live');
      return sent;
    },
    { interval: 30 },
  );
  expect(Date.parse(shown.receivedAt)).toBeGreaterThanOrEqual(Date.parse(activeUntil));
  expect(shown.trace[0]).toMatchObject({ name: 'maintenance', outcome: 'inactive' });
});

test('a rule that begins later does not hold yet', async () => {
  await rule({
    name: 'later',
    when: { host: ['later'] },
    then: { mute: true },
    activeFrom: new Date(Date.now() + 3_600_000).toISOString(),
  });
  expect((await send('later')).state).toBe('live');
});

test('a window holds live, by the wall clock of its zone', async () => {
  const timeZone = 'Asia/Kolkata';
  const weekday = new Intl.DateTimeFormat('en', { timeZone, weekday: 'short' }).format().toLowerCase();
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  const opposite = days[(days.indexOf(weekday) + 3) % 7];
  await rule({
    name: 'always',
    when: { host: ['open'] },
    then: { mute: true },
    timeZone,
    windows: [{ days, from: '00:00', until: '24:00' }],
  });
  await rule({
    name: 'another day',
    when: { host: ['shut'] },
    then: { mute: true },
    timeZone,
    windows: [{ days: [opposite], from: '00:00', until: '24:00' }],
  });
  expect((await send('open')).state).toBe('muted');
  expect((await send('shut')).state).toBe('live');
});

const workdays = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', until: '18:00' };
const night = { days: ['fri'], from: '22:00', until: '06:00' };
/** Windows, and whether they hold at a time. 2 November 2026 is a Monday. */
const times: [object, string, boolean][] = [
  [{ windows: [workdays], timeZone: 'UTC' }, '2026-11-02T08:00:00Z', true],
  [{ windows: [workdays], timeZone: 'UTC' }, '2026-11-02T07:59:59.999Z', false],
  [{ windows: [workdays], timeZone: 'UTC' }, '2026-11-02T17:59:59.999Z', true],
  [{ windows: [workdays], timeZone: 'UTC' }, '2026-11-02T18:00:00Z', false],
  [{ windows: [workdays], timeZone: 'UTC' }, '2026-11-01T12:00:00Z', false],
  [{ windows: [workdays], timeZone: 'Europe/Berlin' }, '2026-11-02T07:00:00Z', true],
  [{ windows: [workdays], timeZone: 'Europe/Berlin' }, '2026-11-02T17:00:00Z', false],
  // A week before, summer time still held.
  [{ windows: [workdays], timeZone: 'Europe/Berlin' }, '2026-10-23T06:00:00Z', true],
  [{ windows: [workdays], timeZone: 'Europe/Berlin' }, '2026-10-23T16:00:00Z', false],
  [{ windows: [workdays], timeZone: 'America/New_York' }, '2026-11-02T13:00:00Z', true],
  [{ windows: [night], timeZone: 'UTC' }, '2026-11-06T22:00:00Z', true],
  [{ windows: [night], timeZone: 'UTC' }, '2026-11-07T05:59:00Z', true],
  [{ windows: [night], timeZone: 'UTC' }, '2026-11-07T06:00:00Z', false],
  [{ windows: [night], timeZone: 'UTC' }, '2026-11-06T05:00:00Z', false],
  [{ windows: [workdays, night], timeZone: 'UTC' }, '2026-11-07T01:00:00Z', true],
  [{ activeFrom: '2026-11-02T10:00:00+01:00' }, '2026-11-02T08:59:59Z', false],
  [{ activeFrom: '2026-11-02T10:00:00+01:00' }, '2026-11-02T09:00:00Z', true],
  [{ activeUntil: '2026-11-02T10:00:00Z' }, '2026-11-02T09:59:59Z', true],
  [{ activeUntil: '2026-11-02T10:00:00Z' }, '2026-11-02T10:00:00Z', false],
  [
    { activeFrom: '2026-11-02T00:00:00Z', windows: [workdays], timeZone: 'UTC' },
    '2026-10-30T12:00:00Z',
    false,
  ],
];

test.each(times)('%j at %s: %s', async (when, at, expected) => {
  const { json } = await server.call('POST', '/api/rules/explain', {
    token: key,
    json: { notification: {}, at, rules: [{ name: 'timed', then: { mute: true }, ...when }] },
  });
  expect(json).toMatchObject({
    muted: expected,
    rules: [{ name: 'timed', outcome: expected ? 'matched' : 'inactive' }],
  });
});
