import { expect, test } from 'vitest';
import { testAlarm } from '#test/support/alarm.ts';
import { waysBack } from './ways-back.ts';

const now = Date.parse('2026-11-20T12:00:00Z');
const [soon, before] = ['2026-11-20T13:00:00.000Z', '2026-11-20T11:00:00.000Z'];
const acknowledged = (note: string | null, until: string | null) => ({ at: before, by: 'Ada', note, until });
const shelved = (note: string | null, until: string) => ({ at: before, by: 'Ada', note, until });

test('what was acknowledged is taken back; a note or a time that was changed is as before', () => {
  const [open, other] = [testAlarm(), testAlarm()];
  const known = testAlarm({ acknowledged: acknowledged('on my way', soon) });
  expect(waysBack('acknowledge', [open, known, other], now)).toEqual([
    { action: 'unacknowledge', ids: [open.id, other.id], details: {} },
    {
      action: 'acknowledge',
      ids: [known.id],
      details: { take: true, note: 'on my way', untilMs: Date.parse(soon) },
    },
  ]);
});

test('what was taken back is acknowledged again with its note and end, unless the end is over', () => {
  const alarms = [
    testAlarm({ acknowledged: acknowledged(null, null) }),
    testAlarm({ acknowledged: acknowledged('a', null) }),
    testAlarm({ acknowledged: acknowledged('a', null) }),
    testAlarm({ acknowledged: acknowledged('a', before) }),
  ];
  const [first, second, third] = alarms.map(({ id }) => id);
  expect(waysBack('unacknowledge', alarms, now)).toEqual([
    { action: 'acknowledge', ids: [first], details: { take: true, forMs: 0 } },
    { action: 'acknowledge', ids: [second, third], details: { take: true, note: 'a', forMs: 0 } },
  ]);
});

test('what was shelved comes off the shelf, acknowledged as before; what was taken off goes back until its time', () => {
  const [open, known] = [testAlarm(), testAlarm({ acknowledged: acknowledged('a', null) })];
  expect(waysBack('shelve', [open, known], now)).toEqual([
    { action: 'unshelve', ids: [open.id, known.id], details: {} },
    { action: 'acknowledge', ids: [known.id], details: { take: true, note: 'a', forMs: 0 } },
  ]);
  const [on, over] = [
    testAlarm({ shelved: shelved('b', soon) }),
    testAlarm({ shelved: shelved(null, before) }),
  ];
  const again = { action: 'shelve', ids: [on.id], details: { note: 'b', untilMs: Date.parse(soon) } };
  expect(waysBack('unshelve', [on, over], now)).toEqual([again]);
  expect(waysBack('shelve', [on], now)).toEqual([again]);
});

test('each alarm gets back its own owner, and what is cleared stays cleared', () => {
  const [ada, nobody] = [testAlarm({ owner: { id: 'u1', name: 'Ada' } }), testAlarm()];
  expect(waysBack('assign', [ada, nobody], now)).toEqual([
    { action: 'assign', ids: [ada.id], details: { userId: 'u1' } },
    { action: 'assign', ids: [nobody.id], details: { userId: null } },
  ]);
  expect(waysBack('clear', [ada], now)).toEqual([]);
});
