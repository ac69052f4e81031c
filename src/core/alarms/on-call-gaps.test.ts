import { expect, test } from 'vitest';
import { weekdays } from '#contract/routing/rule.ts';
import { neverRead, type OnCallRecord } from '../on-call/on-call.ts';
import { lookAtOnCall, type OnCallContext, watchOnCall } from './on-call-gaps.ts';
import { type DueTime, type DueTimes, type NewDueTime, Schedule } from './schedule.ts';

const hour = 3_600_000;
const rota = (...days: (typeof weekdays)[number][]) => ({
  firstWeek: '2026-11-30',
  shifts: [{ days, from: '00:00', until: '24:00', people: ['Ana'] }],
});

/** One schedule; time passes only by hand. */
function createLab(changed: Partial<OnCallRecord>) {
  // A Monday.
  let at = Date.parse('2026-11-30T00:00:00Z');
  let record: OnCallRecord | undefined = {
    ...{ tenant: 1, id: 's', name: 'Ops', timeZone: 'UTC', people: [{ name: 'Ana' }] },
    ...{ rota: rota(...weekdays), calendar: null, alertBeforeMs: 24 * hour, createdAt: 0, updatedAt: 0 },
    reading: neverRead,
    ...changed,
  };
  let row: DueTime | undefined;
  let version = 0;
  const write = (due: NewDueTime) => {
    version += 1;
    row = { ...due, version: String(version) };
  };
  const dueTimes = {
    find: async () => row,
    count: async () => 0,
    put: async (due: NewDueTime) => write(due),
    settle: async (due: DueTime, next: Pick<DueTime, 'dueAt' | 'data'> | undefined) => {
      if (due.version !== row?.version) return false;
      if (next) write({ ...due, ...next });
      else row = undefined;
      return true;
    },
  } as unknown as DueTimes;
  const schedule = new Schedule({
    ...{ dueTimes, now: () => at, monotonicNow: () => at, isShared: false, onError: () => undefined },
  });
  const sent: string[] = [];
  const cleared: string[] = [];
  const context = {
    ...{ schedule, now: () => at, bus: { publish: () => undefined } },
    onCall: { find: async () => record },
    intake: {
      findRaised: async () => undefined,
      raise: async (_: number, { fields }: { fields: { level: string; title: string; message: string } }) => {
        sent.push(`${fields.level}: ${fields.title}: ${fields.message}`);
        return String(sent.length);
      },
    },
    history: {
      find: async () => undefined,
      clear: async (_: number, id: string) => {
        cleared.push(id);
        return { kind: 'not-found' };
      },
    },
  } as unknown as OnCallContext;
  const look = async () => {
    if (row && (row.dueAt ?? 0) <= at) await lookAtOnCall(context, row);
  };
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 600_000) {
      at += 600_000;
      await look();
    }
  };
  const change = async (next: Partial<OnCallRecord> | undefined) => {
    record = record && next && { ...record, ...next };
    await watchOnCall(schedule, 1, 's');
    await look();
  };
  return { sent, cleared, pass, change, now: () => at, isWatched: () => row !== undefined };
}

const gapOnWednesday =
  'error: Nobody is on call: Ops: Nobody is on call from 2026-12-02 00:00 until 2026-12-03 00:00 (UTC).';
const fixed = 'success: On call in order again: Ops: What the alarm before this one reported is over.';

test('a gap is an alarm once, as long before as the schedule says, until it is over', async () => {
  const { sent, pass, change } = createLab({ rota: rota('mon', 'tue', 'thu', 'fri', 'sat', 'sun') });
  await change({});
  await pass(23 * hour);
  expect(sent).toEqual([]);
  await pass(2 * hour);
  expect(sent).toEqual([gapOnWednesday]);
  await pass(46 * hour);
  expect(sent).toEqual([gapOnWednesday]);
  await pass(2 * hour);
  expect(sent).toEqual([gapOnWednesday, fixed]);
});

test('a gap that has begun is named as it is, however long ago it began', async () => {
  const { sent, change } = createLab({ rota: rota('wed') });
  await change({});
  const calendar = { url: 'https://calendar.example/a.ics' };
  const copy = { events: [], until: 0 };
  await change({ rota: null, calendar, reading: { ...neverRead, readAt: 0, copy } });
  expect(sent.map((each) => each.split(': ').at(-1))).toEqual([
    'Nobody is on call now until 2026-12-02 00:00 (UTC).',
    'Nobody is on call now, without an end in sight (UTC).',
  ]);
});

test('the alarm ends at once when the gap is filled, and with the schedule', async () => {
  const { sent, cleared, pass, change, isWatched } = createLab({
    rota: rota('mon', 'tue', 'thu', 'fri', 'sat', 'sun'),
  });
  await change({});
  await pass(25 * hour);
  await change({ rota: rota(...weekdays) });
  expect(sent).toEqual([gapOnWednesday, fixed]);
  await change({ rota: rota('mon', 'tue', 'thu', 'fri', 'sat', 'sun') });
  expect(sent).toHaveLength(3);
  await change(undefined);
  expect(cleared).toEqual(['3']);
  expect(isWatched()).toBe(false);
});

test('a calendar that fails for an hour is an alarm, and a schedule can do without that of gaps', async () => {
  const calendar = { url: 'https://calendar.example/a.ics' };
  const { sent, pass, change, now } = createLab({ rota: null, calendar, alertBeforeMs: 0 });
  await change({});
  await change({ reading: { ...neverRead, failingSince: now(), error: 'away' } });
  await pass(hour - 600_000);
  expect(sent).toEqual([]);
  await pass(1_200_000);
  expect(sent).toEqual([
    'error: On-call calendar unreadable: Ops: Its calendar could not be read for 1 h or longer; it has never been read: away.',
  ]);
  await change({ reading: { ...neverRead, readAt: now(), copy: { events: [], until: now() } } });
  expect(sent.at(-1)).toBe(fixed);
});

test('the alarm says why the calendar cannot be read, without its secret address', async () => {
  const calendar = {
    url: 'webcal://ana:pass-word@calendar.example/calendar/ical/secret-path.ics?token=secret-token',
  };
  const texts = async (error: string, copy: OnCallRecord['reading']['copy'] = null) => {
    const lab = createLab({ rota: null, calendar });
    await lab.change({ reading: { ...neverRead, copy, failingSince: lab.now(), error } });
    await lab.pass(2 * hour);
    return lab.sent.map((each) => each.split('(UTC). ').at(-1));
  };
  const cause = "the calendar's server answered 404";
  expect(await texts(cause)).toEqual([
    `Its calendar could not be read; it has never been read: ${cause}.`,
    `Its calendar could not be read for 1 h or longer; it has never been read: ${cause}.`,
  ]);
  expect(await texts(cause, { events: [], until: 0 })).toContain(
    `Its calendar could not be read for 1 h or longer; the last copy is in use: ${cause}.`,
  );
  const errors = [
    'no https://calendar.example/secret-path.ics?token=secret-token',
    'no /secret-path.ics, secret-path.ics?token=secret-token, pass-word',
    'it cannot be read as iCalendar: invalid line "secret title"',
  ];
  for (const error of errors)
    expect((await texts(error)).join()).not.toMatch(/secret-|secret title|pass-word/);
});

test('a calendar that was not read yet has no gaps', async () => {
  const { sent, pass, change } = createLab({
    rota: null,
    calendar: { url: 'https://calendar.example/a.ics' },
  });
  await change({});
  await pass(hour);
  expect(sent).toEqual([]);
});
