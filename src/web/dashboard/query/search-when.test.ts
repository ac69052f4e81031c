import { expect, test } from 'vitest';
import { whenOfSearch } from './search-when.ts';

const levels = new Map([
  ['success', { rank: 10 }],
  ['info', { rank: 20 }],
  ['warning', { rank: 30 }],
  ['error', { rank: 40 }],
  ['critical', { rank: 50 }],
]);
const read = (q: string) => whenOfSearch(q, levels);
const differencesOf = (q: string) => read(q).differences.map(({ part, why }) => `${part}: ${why}`);

test.each([
  ['', {}],
  ['host:db-* level:>=warning', { host: ['db-*'], minLevel: 'warning' }],
  ['label:site=plant-2 ip:10.0.0.5', { labels: { site: ['plant-2'] }, ip: ['10.0.0.5'] }],
  [
    'source:10.0.0.0/8 token:ci key:"db 1/disk"',
    { sourceIp: ['10.0.0.0/8'], token: ['ci'], key: ['db 1/disk'] },
  ],
  ['host:a,"b c" OR host:d', { host: ['a', 'b c', 'd'] }],
  [
    '(host:a OR (host:b OR host:c)) AND level:error,critical',
    { host: ['a', 'b', 'c'], level: ['error', 'critical'] },
  ],
  ['level:>warning', { level: ['error', 'critical'] }],
  ['level:<=info', { level: ['success', 'info'] }],
  ['level:=ERROR,<info', { level: ['error', 'success'] }],
  ['-level:>=error -host:a -host:b', { not: { minLevel: 'error', host: ['a', 'b'] } }],
  ['NOT (host:a OR level:info)', { not: { host: ['a'], level: ['info'] } }],
  ['-(-host:a)', { host: ['a'] }],
  [
    'label:env label:"site=plant 2",site=b -label:team=x',
    { labels: { env: ['*'], site: ['plant 2', 'b'] }, not: { labels: { team: ['x'] } } },
  ],
  [
    'label:env=prod,"plant 2",stag* -label:site=a,b',
    { labels: { env: ['prod', 'plant 2', 'stag*'] }, not: { labels: { site: ['a', 'b'] } } },
  ],
  ['label:env=a,b OR label:env', { labels: { env: ['a', 'b', '*'] } }],
  ['-label:env=a -label:ENV=b', { not: { labels: { env: ['a', 'b'] } } }],
  ['host:a host:a', { host: ['a'] }],
  ['key:C:\\logs', { key: ['C:\\logs'] }],
  ['host:a\\(b\\) key:disk\\ 1', { host: ['a(b)'], key: ['disk 1'] }],
])('a rule says all of the search “%s”', (q, when) => {
  expect(read(q)).toEqual({ when, differences: [] });
});

test.each([
  ['host:a since:2h', { host: ['a'] }, ['since:2h: time']],
  ['after:2026-11-01 before:10:00', {}, ['after:2026-11-01: time', 'before:10:00: time']],
  ['is:open -is:muted host:a', { host: ['a'] }, ['is:open: state', '-is:muted: state']],
  ['panel:lobby rule:"night mute"', {}, ['panel:lobby: routing', 'rule:"night mute": routing']],
  ['(host:a OR level:error) ip:10.0.0.1', { ip: ['10.0.0.1'] }, ['(host:a OR level:error): or']],
  ['host:a OR host:b level:error', {}, ['host:a OR host:b level:error: or']],
  ['-(host:a level:error)', {}, ['-(host:a level:error): or']],
  ['label:env=a,site=b', {}, ['label:env=a,site=b: or']],
  ['label:env,site', {}, ['label:env,site: or']],
  ['label:env=a OR label:site', {}, ['label:env=a OR label:site: or']],
  ['host:a host:b', { host: ['a'] }, ['host:b: twice']],
  ['-label:env=a -label:site=b', { not: { labels: { env: ['a'] } } }, ['-label:site=b: labels']],
  ['host:a\\*', {}, ['host:a\\*: literal']],
  ['token:ci-*', {}, ['token:ci-*: tokens']],
  ['*', {}, ['*: bareWildcard']],
  ['-* title:*', {}, ['-*: bareWildcard', 'title:*: bareWildcard']],
  ['state:open host:a', { host: ['a'] }, ['state:open: state']],
  ['title:dis*k,full', {}, ['title:dis*k,full: wildcard']],
  ['f?n -message:*full*', {}, ['f?n: wildcard', '-message:*full*: wildcard']],
  ['hots:a level:>critical', {}, ['hots:a: form', 'level:>critical: form']],
  ['(host:a', {}, ['(host:a: form']],
  ['host:a OR', {}, ['host:a OR: form']],
  ['--host:a', {}, ['--host:a: form']],
  ['host:"a', {}, ['host:"a: form']],
])('of the search “%s”, each part that a rule cannot say is named', (q, when, differences) => {
  expect(read(q).when).toEqual(when);
  expect(differencesOf(q)).toEqual(differences);
});

test.each([
  [
    'title:"disk full",back*',
    { title: { contains: ['disk full', 'back'] } },
    ['title:"disk full",back*: words'],
  ],
  ['disk', { title: { contains: 'disk' } }, ['disk: title']],
  ['disk OR "fan failed"', { title: { contains: ['disk', 'fan failed'] } }, ['disk OR "fan failed": title']],
  [
    '-test message:"91 %"',
    {
      message: { contains: '91 %' },
      not: { title: { contains: ['test'] }, message: { contains: ['test'] } },
    },
    ['-test: words', 'message:"91 %": words'],
  ],
  [
    'disk title:full',
    { title: { glob: ['*disk*full*', '*full*disk*'] } },
    ['disk: title', 'title:full: words'],
  ],
  ['a b c d', { title: { contains: 'a' } }, ['a: title', 'b: twice', 'c: twice', 'd: twice']],
  ['title:a,b title:c', { title: { contains: ['a', 'b'] } }, ['title:a,b: words', 'title:c: twice']],
])('of the words in “%s” it is said how a rule finds them', (q, when, differences) => {
  expect(read(q).when).toEqual(when);
  expect(differencesOf(q)).toEqual(differences);
});
