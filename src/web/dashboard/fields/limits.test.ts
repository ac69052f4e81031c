import { expect, test } from 'vitest';
import { limitOf, limitValuesOf } from './limits.ts';

const most = 100;

test('a limit comes out of its field as it went in', () => {
  for (const limit of [null, 'off', 1, 100] as const) expect(limitOf(limitValuesOf(limit), most)).toBe(limit);
});

test('what is no limit is not saved', () => {
  for (const value of ['', 0, -1, 101, 1.5, 'x'])
    expect(limitOf({ kind: 'own', value }, most)).toBeUndefined();
});
