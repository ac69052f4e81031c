import { describe, expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import type { RoutingSubject } from './subject.ts';
import { mustShow, Throttle, throttleDemand } from './throttle.ts';

const subject: RoutingSubject = {
  ...noTexts,
  title: 'disk full',
  message: 'on /var',
  level: 'error',
  rank: 40,
  ttl: null,
  sourceIp: '10.0.0.1',
  host: 'db-1',
  tokenId: 't1',
  tokenName: 'ci',
};
const demand = (key: string, ruleId = 'r1', perMs = 60_000) => ({ ruleId, key, perMs });

describe('is shown in spite of a throttle', () => {
  const shown = { level: 'error', rank: 40, key: 'db', cleared: null };
  test.each([
    ['what is more serious', { level: 'critical', rank: 50, key: null }, shown, true],
    ['what is as serious', { level: 'error', rank: 40, key: null }, shown, false],
    ['what is less serious', { level: 'success', rank: 10, key: 'other' }, shown, false],
    ['what ends the alarm of its key', { level: 'success', rank: 10, key: 'db' }, shown, true],
    ['a repeat of its key', { level: 'error', rank: 40, key: 'db' }, shown, false],
    [
      'what comes after the card was cleared',
      { level: 'error', rank: 40, key: null },
      { ...shown, cleared: {} },
      true,
    ],
    ['what comes after history has dropped it', { level: 'error', rank: 40, key: null }, undefined, true],
  ])('%s: %j on %j: %s', (_what, next, card, expected) => {
    expect(mustShow(next, card)).toBe(expected);
  });

  test('another alarm than the one that is shelved', () => {
    const alarm = { level: 'error', rank: 40, key: 'db' };
    const shelved = { ...alarm, cleared: null, alarm: { shelved: {} } };
    expect(mustShow(alarm, shelved)).toBe(false);
    expect(mustShow({ ...alarm, key: 'other' }, shelved)).toBe(true);
    expect(mustShow({ ...alarm, key: null }, { ...shelved, key: null })).toBe(true);
    expect(mustShow({ ...alarm, key: 'other' }, { ...shelved, alarm: { shelved: null } })).toBe(false);
  });

  test('what is more serious than what has replaced the card, and no repeat of an escalated alarm', () => {
    const alarm = { level: 'error', rank: 40, key: 'db' };
    const replaced = { ...shown, cleared: {} };
    expect(mustShow(alarm, replaced, { ...shown, level: 'success', rank: 10 })).toBe(true);
    expect(mustShow(alarm, replaced, { ...shown, level: 'critical', rank: 50 })).toBe(false);
    expect(mustShow(alarm, replaced, undefined)).toBe(true);
  });
});

describe('in a time', () => {
  test('the first is shown and the rest are counted on it, one by one', () => {
    const throttle = new Throttle();
    expect(throttle.check(1, [demand('k')], 'a', 1000)).toBeUndefined();
    expect(throttle.check(1, [demand('k')], 'b', 2000)).toEqual({ on: 'a', count: 1 });
    expect(throttle.check(1, [demand('k')], 'c', 60_999)).toEqual({ on: 'a', count: 2 });
  });

  test('the time runs from the one shown, not from the last one counted', () => {
    const throttle = new Throttle();
    throttle.check(1, [demand('k')], 'a', 0);
    throttle.check(1, [demand('k')], 'b', 59_999);
    expect(throttle.check(1, [demand('k')], 'c', 60_000)).toBeUndefined();
    expect(throttle.check(1, [demand('k')], 'd', 60_001)).toEqual({ on: 'c', count: 1 });
  });

  test('a clock that was set back shows again', () => {
    const throttle = new Throttle();
    throttle.check(1, [demand('k')], 'a', 1_000_000);
    expect(throttle.check(1, [demand('k')], 'b', 5)).toBeUndefined();
  });

  test('other keys, rules and tenants are counted apart', () => {
    const throttle = new Throttle();
    throttle.check(1, [demand('k')], 'a', 0);
    expect(throttle.check(1, [demand('l')], 'b', 1)).toBeUndefined();
    expect(throttle.check(1, [demand('k', 'r2')], 'c', 1)).toBeUndefined();
    expect(throttle.check(2, [demand('k')], 'd', 1)).toBeUndefined();
  });

  test('nothing is counted without a demand', () => {
    const throttle = new Throttle();
    expect(throttle.check(1, [], 'a', 0)).toBeUndefined();
    expect(throttle.check(1, [], 'b', 0)).toBeUndefined();
  });
});

describe('with several demands', () => {
  test('one that is counted shows nothing for the others', () => {
    const throttle = new Throttle();
    throttle.check(1, [demand('k', 'r1')], 'a', 0);
    expect(throttle.check(1, [demand('m', 'r2'), demand('k', 'r1')], 'b', 1)).toEqual({ on: 'a', count: 1 });
    expect(throttle.check(1, [demand('m', 'r2')], 'c', 2)).toBeUndefined();
  });

  test('one that is shown counts for all', () => {
    const throttle = new Throttle();
    throttle.check(1, [demand('k', 'r1'), demand('m', 'r2')], 'a', 0);
    expect(throttle.check(1, [demand('k', 'r1')], 'b', 1)).toEqual({ on: 'a', count: 1 });
    expect(throttle.check(1, [demand('m', 'r2')], 'c', 1)).toEqual({ on: 'a', count: 1 });
  });
});

test('what could not be stored is not counted on', () => {
  const throttle = new Throttle();
  throttle.check(1, [demand('k')], 'a', 0);
  throttle.forget(1, [demand('k')], 'other', undefined);
  expect(throttle.check(1, [demand('k')], 'b', 1)).toEqual({ on: 'a', count: 1 });
  throttle.forget(1, [demand('k')], 'a', undefined);
  expect(throttle.check(1, [demand('k')], 'c', 2)).toBeUndefined();
  throttle.forget(7, [demand('k')], 'a', undefined);
});

test('memory is bounded for each tenant, and what was used last is kept', () => {
  const throttle = new Throttle(2);
  throttle.check(1, [demand('a')], 'a', 0);
  throttle.check(1, [demand('b')], 'b', 0);
  throttle.check(2, [demand('z')], 'z', 0);
  throttle.check(1, [demand('a')], 'a2', 1);
  throttle.check(1, [demand('c')], 'c', 2);
  expect(throttle.check(1, [demand('a')], 'a3', 3)).toEqual({ on: 'a', count: 2 });
  expect(throttle.check(1, [demand('b')], 'b2', 3)).toBeUndefined();
  expect(throttle.check(2, [demand('z')], 'z2', 3)).toEqual({ on: 'z', count: 1 });
});

describe('what is alike to a rule', () => {
  const keyOf = (by: Parameters<typeof throttleDemand>[1]['by'], changes: Partial<RoutingSubject> = {}) =>
    throttleDemand('r1', { by, perMs: 1000 }, { ...subject, ...changes }).key;

  test.each([
    ['title', { title: 'other' }],
    ['message', { message: 'other' }],
    ['level', { level: 'info' }],
    ['ip', { ip: '10.0.0.2' }],
    ['sourceIp', { sourceIp: '10.0.0.2' }],
    ['host', { host: 'db-2' }],
    ['host', { host: null }],
    ['key', { key: 'k' }],
    ['label:env', { labels: '{"env":"prod"}' }],
    ['label:constructor', { labels: '{"constructor":""}' }],
    ['token', { tokenId: 't2' }],
  ] as const)('by %s, %j is another', (field, changes) => {
    expect(keyOf([field], changes)).not.toBe(keyOf([field]));
    expect(keyOf([], changes)).toBe(keyOf([]));
  });

  test('a host is the same in upper case; a token is the same under another name', () => {
    expect(keyOf(['host'], { host: 'DB-1' })).toBe(keyOf(['host']));
    expect(keyOf(['token'], { tokenName: 'x' })).toBe(keyOf(['token']));
  });

  test('the name of a label is compared without regard to case, its value as it is', () => {
    const by = (labels: string) => keyOf(['label:cluster'], { labels });
    expect(by('{"Cluster":"a"}')).toBe(by('{"cluster":"a"}'));
    expect(by('{"Cluster":"a"}')).not.toBe(by('{"Cluster":"b"}'));
  });

  test('values do not run into each other', () => {
    expect(keyOf(['title', 'message'], { title: 'a', message: 'b c' })).not.toBe(
      keyOf(['title', 'message'], { title: 'a b', message: 'c' }),
    );
  });
});

test('what was counted and could not be stored is not counted', () => {
  const throttle = new Throttle();
  throttle.check(1, [demand('k')], 'a', 1_000);
  const counted = throttle.check(1, [demand('k')], 'b', 1_001);
  expect(counted).toEqual({ on: 'a', count: 1 });
  throttle.forget(1, [demand('k')], 'b', counted);
  expect(throttle.check(1, [demand('k')], 'c', 1_002)).toEqual({ on: 'a', count: 1 });
});
