import { expect, test } from 'vitest';
import { commonTitle, type GroupField, kindOf } from './similar.ts';

const kind = (title: string, host: string | null = null, ip: string | null = null) =>
  kindOf({ title, host, ip });

test.each([
  ['BGP peer lost', 'BGP peer lost'],
  ['Disk 91 % full on db-01', 'Disk 7 % full on db-22'],
  ['Link eth0/1 down', 'Link eth12/4 down'],
  ['Ping 10.0.0.5 failed', 'Ping fd00::5 failed'],
  ['HTTP check of shop.example.org failed', 'HTTP check of www.example.com failed'],
  ['5 alerts of 7', '12 alerts of 9'],
  ['Disk full: /dev/sda1', 'Disk full: /dev/nvme0n1p2'],
  ['Disk full: /var', 'Disk full: /home'],
  ['服务器web01磁盘使用率超过90%', '服务器db2磁盘使用率超过7%'],
  ['القرص ممتلئ ٩١', 'القرص ممتلئ ٨٢'],
])('%j and %j are similar', (one, other) => {
  expect(kind(one)).toBe(kind(other));
});

test.each([
  ['BGP peer lost', 'BGP peer found'],
  ['Queue orders is not read', 'Queue invoices is not read'],
  ['Disk full', 'Disk full again'],
  ['Disk 90 % full', 'Disk full'],
  ['Voltage ↑', 'Voltage ↓'],
  ['Load > 8', 'Load < 8'],
  ['I/O error', 'TCP/IP error'],
  ['Error:Timeout', 'Error:Refused'],
  ['服务器web01磁盘已满', '数据库db2连接失败'],
  ['🔥', '💧'],
  ['404', '500'],
  ['Http4xxHigh', 'Http5xxHigh'],
])('%j and %j are not', (one, other) => {
  expect(kind(one)).not.toBe(kind(other));
});

test('the own host and address are taken out, also without digits and domain', () => {
  expect(kind('nas is down', 'nas')).toBe(kind('gateway is down', 'gateway.lan'));
  expect(kind('Nas: disk', 'NAS')).toBe(kind('gateway: disk', 'gateway'));
});

const alarm = {
  title: 'Disk 91 % full on db-01',
  host: 'db-01',
  ip: null,
  key: null,
  level: 'error',
  labels: { cluster: 'eu-1' },
};

test.each<[string, readonly GroupField[], object]>([
  ['the same label, whatever their titles', ['label:cluster'], { title: 'Fan stopped' }],
  ['upper case in the name of a label', ['label:cluster'], { labels: { Cluster: 'eu-1', env: 'prod' } }],
  ['upper case in the value of a label', ['label:cluster'], { labels: { cluster: 'EU-1' } }],
  ['upper case in a host', ['host'], { title: 'Fan stopped', host: 'DB-01' }],
  ['similar titles', ['title', 'label:cluster'], { title: 'Disk 7 % full on db-02', host: 'db-02' }],
  ['no key, with the same level', ['key', 'level'], { title: 'Fan stopped' }],
])('by a rule, alarms with %s are one kind', (_, group, over) => {
  expect(kindOf({ ...alarm, group, ...over })).toBe(kindOf({ ...alarm, group }));
});

test.each<[string, readonly GroupField[], object]>([
  ['another value of a label', ['label:cluster'], { labels: { cluster: 'eu-2' } }],
  ['no such label', ['label:cluster'], { labels: {} }],
  ['another host', ['title', 'host'], { title: 'Disk 7 % full on db-02', host: 'db-02' }],
  ['the list of another rule', ['label:cluster'], { group: ['label:cluster', 'level'] }],
  ['no such rule', ['label:cluster'], { group: undefined }],
])('by a rule, alarms with %s are another kind', (_, group, over) => {
  expect(kindOf({ ...alarm, group, ...over })).not.toBe(kindOf({ ...alarm, group }));
});

test('an alarm that has nothing of what its rule groups by is grouped by its title', () => {
  const group: readonly GroupField[] = ['label:cluster', 'key'];
  const bare = { ...alarm, labels: {}, group };
  expect(kindOf(bare)).toBe(kind(alarm.title, alarm.host));
  expect(kindOf({ ...bare, title: 'Fan stopped' })).not.toBe(kindOf(bare));
});

test.each([
  ['BGP peer 12 lost', 'BGP peer … lost'],
  ['Disk 91 % full on db-01', 'Disk … full on'],
  ['42 mails are waiting', 'mails are waiting'],
  ['10.0.0.5', '10.0.0.5'],
])('of %j, similar ones have in common: %j', (title, common) => {
  expect(commonTitle({ title, host: null, ip: null })).toBe(common);
});

test('titles of any length and script have a kind', () => {
  expect(kind('')).toBe('');
  expect(kind('磁盘已满 12')).toBe('磁盘已满 #');
  expect(kind('x '.repeat(1e6)).length).toBeLessThan(400);
});
