import { expect, test } from 'vitest';
import { isCut, isTyped } from './audit-types.ts';

test.each(['when', 'then', 'windows', 'order', 'rate'])(
  '%s that the server cut is no value of it',
  (field) => {
    expect(isTyped(field, '[{"days":["mon"],"fr…')).toBe(false);
    expect(isCut(field, '[{"days":["mon"],"fr…')).toBe(true);
  },
);

test('a field of another type has no words of its own', () => {
  for (const [field, value] of [
    ['role', { a: 1 }],
    ['order', { a: 1 }],
    ['then', null],
    ['rate', 'fast'],
    ['durationMs', 'long'],
    ['expiresAt', 'soon'],
    ['constructor', 'x'],
  ] as const)
    expect([field, isTyped(field, value), isCut(field, value)]).toEqual([field, false, false]);
  for (const [field, value] of [
    ['retentionDays', 'off'],
    ['retentionCount', null],
    ['rate', 'off'],
    ['order', []],
  ] as const)
    expect([field, isTyped(field, value)]).toEqual([field, true]);
});
