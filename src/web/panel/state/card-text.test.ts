import { expect, test } from 'vitest';
import { cardOf } from '#test/support/card-of.ts';
import { rollUp } from './card-text.ts';

test('counts by level, the most serious first, and knows the newest', () => {
  expect(
    rollUp([
      cardOf({ level: 'info', rank: 20, receivedAt: '2026-11-20T10:00:00.000Z' }),
      cardOf({ level: 'warning', rank: 30, receivedAt: '2026-11-20T10:00:09.000Z' }),
      cardOf({ level: 'info', rank: 20, receivedAt: '2026-11-20T10:00:05.000Z' }),
    ]),
  ).toEqual({
    count: 3,
    hosts: undefined,
    levels: [
      { level: 'warning', count: 1 },
      { level: 'info', count: 2 },
    ],
    newestAt: Date.parse('2026-11-20T10:00:09.000Z'),
    rank: 30,
  });
});

test.each([
  [['web-1', 'web-22'], 'web-*'],
  [['web-1', 'web-1'], 'web-1'],
  [['web-1', 'db-1'], undefined],
  [['a1', 'a2'], undefined],
  [['web-1', null], undefined],
  [[null, 'web-1'], undefined],
])('hosts %j are summarized as %s', (hosts, text) => {
  expect(rollUp(hosts.map((host) => cardOf({ host }))).hosts).toBe(text);
});
