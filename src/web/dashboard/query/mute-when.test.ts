import { expect, test } from 'vitest';
import { testAlarm } from '#test/support/alarm.ts';
import { whenSearch, whenTheseAlarms } from './mute-when.ts';

test('what alarms have in common is muted: a host, a title, hosts, or titles', () => {
  const on = (title: string, host: string | null) => testAlarm({ title, host });
  expect(whenTheseAlarms([])).toBeUndefined();
  expect(whenTheseAlarms([on('a', 'db-1')])).toEqual({ host: ['db-1'] });
  expect(whenTheseAlarms([on('Disk full', 'db-1'), on('Disk full', 'db-2')])).toEqual({
    title: { contains: 'Disk full' },
  });
  expect(whenTheseAlarms([on('Port 1 is down', 'a'), on('Port 2 is down', 'b')])).toEqual({
    title: { glob: '*Port*is down*' },
  });
  expect(whenTheseAlarms([on('Disk full', 'db-1'), on('Fan failed', 'db-1')])).toEqual({ host: ['db-1'] });
  expect(whenTheseAlarms([on('Disk full', 'db-1'), on('Fan failed', null)])).toEqual({
    title: { contains: ['Disk full', 'Fan failed'] },
  });
});

test.each([
  ['host:db-* level:>=warning', { host: ['db-*'], minLevel: 'warning' }],
  [
    'label:site=plant-2 ip:10.0.0.5 level:error',
    { labels: { site: ['plant-2'] }, ip: ['10.0.0.5'], level: ['error'] },
  ],
])('the search %s becomes conditions', (q, when) => {
  expect(whenSearch(q)).toEqual(when);
});

test.each([
  '',
  'disk',
  '-host:db-1',
  'host:a OR host:b',
  'host:a,b',
  'host:"a b"',
  'since:1h',
  'host:a host:b',
])('the search “%s” does not, because a rule would match something else', (q) => {
  expect(whenSearch(q)).toBeUndefined();
});
