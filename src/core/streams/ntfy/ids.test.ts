import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isNtfyId, ntfyId, positionOf } from './ids.ts';

it('an id of ntfy names its position, in its own epoch only', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (position) => {
      const id = ntfyId('e1', position);
      expect(isNtfyId(id)).toBe(true);
      expect(positionOf('e1', id)).toBe(position);
      expect(positionOf('e2', id)).toBeUndefined();
    }),
  );
});

it('later positions have greater ids, so that a tool that sorts them keeps the order', () => {
  const positions = [0, 1, 61, 62, 63, 3_844, 1e6, 1e9, Number.MAX_SAFE_INTEGER];
  const ids = positions.map((position) => ntfyId('e1', position));
  expect([...ids].sort()).toEqual(ids);
});

it.each(['', 'a', 'zzzzzzzzzzzz', '1'.repeat(13), 'aaaaaaaaaaa-'])('%j names no position', (text) => {
  expect(positionOf('e1', text)).toBeUndefined();
});
