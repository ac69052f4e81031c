import { expect, test } from 'vitest';
import { type Expected, overdueAt, raiseMissing } from './expectations.ts';
import type { DueTime } from './schedule.ts';

const data = { everyMs: 60_000, level: 'error', title: 't', host: null, token: {}, lastAt: 0, raised: null };
const due = { tenant: 1, kind: 'expectation', subject: 'k', dueAt: 1, version: 'v', data } as DueTime;

test.each([
  ['another node settled with the same notification', { ...due, data: { ...data, raised: 'R' } }, []],
  ['came in this moment', { ...due, version: 'w' }, ['R']],
  ['was ended in this moment', undefined, ['R']],
])('what %s is taken off only when it is not overdue', async (_, latest, off) => {
  const cleared: string[] = [];
  const dueTimes = { settle: async () => false, find: async () => latest };
  const context = {
    schedule: { dueTimes },
    intake: { raise: async () => 'R' },
    history: {
      clear: async (_tenant: number, id: string) => {
        cleared.push(id);
        return { kind: 'gone' };
      },
    },
    bus: { publish: () => undefined },
    credentials: { find: async () => undefined },
    now: () => 1,
  } as unknown as Parameters<typeof raiseMissing>[0];
  await raiseMissing(context, due);
  expect(cleared).toEqual(off);
});

const lastAt = Date.parse('2026-11-27T02:20Z');
const cron = { ...data, everyMs: undefined, cron: '0 3 * * 1-5', timeZone: 'Europe/Berlin', lastAt };

test.each([
  ['an interval and a tenth of it', { ...data, everyMs: 300_000, lastAt }, '2026-11-27T02:25:30Z'],
  ['an interval and the grace that is named', { ...data, graceMs: 1_000, lastAt }, '2026-11-27T02:21:01Z'],
  ['the next time of cron and an hour', cron, '2026-11-30T03:00Z'],
  ['the next time of cron and the grace that is named', { ...cron, graceMs: 60_000 }, '2026-11-30T02:01Z'],
  ['an hour after the work began', { ...cron, isStart: true }, '2026-11-27T03:20Z'],
])('is overdue after %s', (_, expected, at) => {
  expect(overdueAt(expected as Expected)).toBe(Date.parse(at));
});

test('a time of cron stays on the wall clock when the clock is set', async () => {
  const put: number[] = [];
  const context = {
    schedule: { putOff: async (_: DueTime, afterMs: number) => put.push(afterMs) },
    intake: {
      raise: () => {
        throw new Error('too early');
      },
    },
    now: () => Date.parse('2026-11-30T02:00Z'),
  } as unknown as Parameters<typeof raiseMissing>[0];
  await raiseMissing(context, { ...due, data: cron });
  expect(put).toEqual([3_600_000]);
});

test.each([
  [
    cron,
    'No notification with the key "k" within 1 h of 2026-11-30 03:00 (Europe/Berlin), when one was expected (0 3 * * 1-5).',
  ],
  [
    { ...cron, isStart: true },
    'It began at 2026-11-27 03:20 (Europe/Berlin) and did not end within 1 h: no other notification with the key "k" has come.',
  ],
])('what is overdue says since when', async (expected, message) => {
  const raised: string[] = [];
  const context = {
    schedule: { dueTimes: { settle: async () => true } },
    intake: {
      raise: async (_: number, { fields }: { fields: { message: string } }) => {
        raised.push(fields.message);
        return 'R';
      },
    },
    history: { search: async () => ({ records: [] }) },
    credentials: { find: async () => undefined },
    now: () => Date.parse('2026-12-01T00:00Z'),
  } as unknown as Parameters<typeof raiseMissing>[0];
  await raiseMissing(context, { ...due, data: expected });
  expect(raised).toEqual([message]);
});
