import { expect, test } from 'vitest';
import { limitDraftOf, limitOf } from './limit-draft.ts';

const most = 100;

test('a limit comes out of its field as it went in', () => {
  for (const limit of [null, 'off', 1, 100] as const) expect(limitOf(limitDraftOf(limit), most)).toBe(limit);
});

test('what is no limit is not saved', () => {
  for (const value of ['', 0, -1, 101, 1.5, 'x'])
    expect(limitOf({ kind: 'own', value }, most)).toBeUndefined();
});
