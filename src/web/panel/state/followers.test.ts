import { expect, test } from 'vitest';
import type { Card } from '#client/board.ts';
import { cardOf } from '#test/support/card-of.ts';
import { followersOf } from './followers.ts';

const cause = (count: number, ...named: string[]): Card => ({
  ...cardOf({}),
  suppresses: { count, alarms: named.map((id) => ({ id, level: 'error', title: 't', host: null })) },
});

test('what follows several alarms of a group is counted once', () => {
  expect(followersOf([cardOf({})])).toBe(0);
  expect(followersOf([cause(41, 'a', 'b'), cause(2, 'c', 'd')])).toBe(43);
  expect(followersOf([cause(41, 'a', 'b'), cause(41, 'a', 'b')])).toBe(41);
  expect(followersOf([cause(2, 'a', 'b'), cardOf({}), cause(2, 'b', 'c')])).toBe(3);
});
