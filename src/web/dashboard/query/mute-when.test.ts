import { expect, test } from 'vitest';
import { testAlarm } from '#test/support/alarm.ts';
import { whenTheseAlarms } from './mute-when.ts';

test('what alarms have in common is muted: a host, a title, hosts, or titles', () => {
  const on = (title: string, host: string | null) => testAlarm({ title, host });
  const when = (alarms: Parameters<typeof whenTheseAlarms>[0]) => whenTheseAlarms(alarms)?.when;
  expect(whenTheseAlarms([])).toBeUndefined();
  expect(when([on('a', 'db-1')])).toEqual({ host: ['db-1'] });
  expect(when([on('Disk full', 'db-1'), on('Disk full', 'db-2')])).toEqual({
    title: { contains: 'Disk full' },
  });
  expect(when([on('Port 1 is down', 'a'), on('Port 2 is down', 'b')])).toEqual({
    title: { glob: '*Port*is down*' },
  });
  expect(when([on('Disk full', 'db-1'), on('Fan failed', 'db-1')])).toEqual({ host: ['db-1'] });
  expect(when([on('Disk full', 'db-1'), on('Fan failed', null)])).toEqual({
    title: { contains: ['Disk full', 'Fan failed'] },
  });
});

test('of very many hosts a hundred are muted, and the others are counted', () => {
  const many = Array.from({ length: 130 }, (_, n) =>
    testAlarm({ title: `t${n % 2 ? 'a' : 'b'}`, host: `h-${n}` }),
  );
  const { when, leftOut } = whenTheseAlarms(many) ?? {};
  expect([when?.host?.length, leftOut]).toEqual([100, 30]);
});
