import { expect, test } from 'vitest';
import {
  readAlarmsSearch,
  readHistorySearch,
  readPanelsSearch,
  readRulesSearch,
  readSignInSearch,
  readTokensSearch,
} from './search-params.ts';

test('what does not fit is as if it were not there', () => {
  expect(readHistorySearch({ q: ['a'], id: '', live: 'yes', other: 1 })).toEqual({});
  expect(readTokensSearch({ tab: 'secrets', id: {} })).toEqual({});
  expect(readAlarmsSearch({ tab: 'open', group: 1, q: null })).toEqual({ group: '1' });
  expect(readAlarmsSearch({ tab: 'suppressed' })).toEqual({ tab: 'suppressed' });
  expect(readRulesSearch({ muteWhen: { host: 'a', title: { regex: 'x' }, labels: { a: 1 } } })).toEqual({});
});

test('the conditions of a mute are kept in the address', () => {
  const muteWhen = {
    host: ['db-*'],
    labels: { env: ['prod'] },
    title: { contains: 'Disk' },
    key: ['k'],
    not: { minLevel: 'critical' },
  };
  expect(readRulesSearch({ muteWhen, leftOut: 3 })).toEqual({ muteWhen, leftOut: '3' });
  expect(
    readRulesSearch({ muteWhen: { ...muteWhen, not: { minLevel: 1 } }, until: 'x' }).muteWhen,
  ).not.toHaveProperty('not');
  const until = '2026-11-29T08:00:00.000Z';
  expect(readRulesSearch({ muteWhen: { not: { minLevel: 'critical' } }, until })).toEqual({ until });
  expect(readRulesSearch({ fromSearch: 'host:a', muteSearch: '' })).toEqual({ fromSearch: 'host:a' });
});

test('a code of digits alone is still text', () => {
  expect(readPanelsSearch({ pair: 234567 })).toEqual({ pair: '234567' });
});

test.each(['https://evil.example', '//evil.example', '/\\evil.example', 'evil', ''])(
  'a sign-in leads to no other place: %s',
  (to) => {
    expect(readSignInSearch({ to })).toEqual({});
  },
);

test('a sign-in leads back to a page of ours', () => {
  expect(readSignInSearch({ to: '/t/default/history?q=a' })).toEqual({ to: '/t/default/history?q=a' });
});
