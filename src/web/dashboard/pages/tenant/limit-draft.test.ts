import { expect, test } from 'vitest';
import { limitDraftOf, limitOf } from './limit-draft.ts';

const bounds = { most: 100, whole: true };

test('a limit comes out of its field as it went in', () => {
  for (const limit of [null, 'off', 1, 100] as const)
    expect(limitOf(limitDraftOf(limit), bounds)).toBe(limit);
});

test('what is no limit is not saved', () => {
  for (const value of ['', 0, -1, 101, 1.5, 'x'])
    expect(limitOf({ kind: 'own', value }, bounds)).toBeUndefined();
  expect(limitOf({ kind: 'own', value: 1.5 }, { most: 100, whole: false })).toBe(1.5);
});
