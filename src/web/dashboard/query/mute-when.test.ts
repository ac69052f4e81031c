import { expect, test } from 'vitest';
import { testAlarm } from '#test/support/alarm.ts';
import {
  type AlarmConditions,
  matchesCritical,
  sparingCritical,
  whenTheseAlarms as whenThese,
} from './mute-when.ts';

const levels = new Map([
  ['info', { rank: 20 }],
  ['warning', { rank: 30 }],
  ['error', { rank: 40 }],
  ['critical', { rank: 50 }],
  ['disaster', { rank: 60 }],
]);
const whenTheseAlarms = (alarms: Parameters<typeof whenThese>[0]) => whenThese(alarms, levels);
const spared = { not: { minLevel: 'critical' } };

test('what alarms have in common is muted: a host, a title, hosts, or titles', () => {
  const on = (title: string, host: string | null) => testAlarm({ title, host });
  const when = (alarms: Parameters<typeof whenTheseAlarms>[0]) => {
    const { not, ...others }: AlarmConditions['when'] = whenTheseAlarms(alarms)?.when ?? {};
    expect(not).toEqual(spared.not);
    return others;
  };
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

test('alarms that a rule groups are muted by what it names, or else by all of their titles', () => {
  const group = ['label:cluster', 'title'] as const;
  const one = (title: string, cluster: string, given = {}) =>
    testAlarm({ title, labels: { Cluster: cluster }, group: ['label:cluster'], ...given });
  const three = ['Mail waits', 'Disk full', 'Fan stopped'].map((title) => one(title, 'eu-1'));
  expect(whenTheseAlarms(three)).toEqual({
    when: { labels: { cluster: ['eu-1'] }, ...spared },
    leftOut: 0,
  });
  expect(whenTheseAlarms([...three, one('Mail waits', 'eu-2')])?.when).toEqual({
    title: { contains: ['Mail waits', 'Disk full', 'Fan stopped'] },
    ...spared,
  });
  const ports = [1, 2].map((n) =>
    one(`Port ${n} down`, 'eu-1', { group: [...group], key: 'k', level: 'error' }),
  );
  expect(whenTheseAlarms(ports)?.when).toEqual({
    labels: { cluster: ['eu-1'] },
    title: { glob: '*Port*down*' },
    ...spared,
  });
  const byHost = [1, 2].map(() =>
    testAlarm({ title: 'a', host: 'db-1', ip: '10.0.0.1', group: ['host', 'ip', 'label:x'] }),
  );
  expect(whenTheseAlarms(byHost)?.when).toEqual({ host: ['db-1'], ip: ['10.0.0.1'], ...spared });
  const without = [1, 2].map(() => testAlarm({ title: 'Disk full', group: ['label:x'] }));
  expect(whenTheseAlarms(without)?.when).toEqual({ title: { contains: 'Disk full' }, ...spared });
});

test('what is critical is muted only if nothing else is selected or searched', () => {
  const alarm = (level: string) => testAlarm({ host: 'db-1', level, rank: levels.get(level)?.rank ?? 0 });
  expect(whenTheseAlarms([alarm('error')])?.when).toEqual({ host: ['db-1'], ...spared });
  expect(whenTheseAlarms([alarm('critical'), alarm('error')])?.when).toMatchObject(spared);
  expect(whenTheseAlarms([alarm('critical'), alarm('disaster')])?.when).not.toHaveProperty('not');
});

test('until the levels have been read, what is critical is spared', () => {
  const unread = new Map();
  expect(sparingCritical({ host: ['a'] }, unread)).toEqual({ host: ['a'], ...spared });
  expect(whenThese([testAlarm({ host: 'db-1', level: 'error', rank: 40 })], unread)?.when).toEqual({
    host: ['db-1'],
    ...spared,
  });
});

test.each([
  [{ host: ['a'] }, true, { host: ['a'], ...spared }],
  [{ minLevel: 'warning' }, true, { minLevel: 'warning', ...spared }],
  [{ minLevel: 'Critical' }, true, { minLevel: 'Critical' }],
  [{ level: ['disaster', 'critical'] }, true, { level: ['disaster', 'critical'] }],
  [{ level: ['error', 'critical'] }, true, { level: ['error', 'critical'], ...spared }],
  [{ level: ['error'] }, false, { level: ['error'] }],
  [{ not: { minLevel: 'error' } }, false, { not: { minLevel: 'error' } }],
  [{ not: { minLevel: 'disaster', host: ['a'] } }, true, { not: { minLevel: 'critical', host: ['a'] } }],
  [{ not: { level: ['critical'] } }, true, { not: { level: ['critical'], minLevel: 'critical' } }],
  [{ not: { level: ['critical', 'disaster'] } }, false, { not: { level: ['critical', 'disaster'] } }],
])('conditions %o: whether something critical matches, and what spares it', (when, matches, sparing) => {
  expect(matchesCritical(when, levels)).toBe(matches);
  expect(sparingCritical(when, levels)).toEqual(sparing);
});
