import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPaint } from './paint.ts';
import { row } from './row.ts';
import { textWidth } from './text-width.ts';

const paint = createPaint('none');

test('the left part gives way to the right one', () => {
  expect(row([{ text: 'left' }], [{ text: 'right' }], { width: 12, paint })).toBe('left   right');
  expect(row([{ text: 'a long left part' }], [{ text: '12 s' }], { width: 12, paint })).toBe('a long… 12 s');
});

test('a right part that takes more than half is left out', () => {
  expect(row([{ text: 'left' }], [{ text: 'right' }], { width: 8, paint })).toBe('left    ');
});

test('a row is exactly as wide as asked for, whatever is in it', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '日', '👍', ' ', 'e\u0301') });
  const pieces = fc.array(fc.record({ text }), { maxLength: 4 });
  fc.assert(
    fc.property(pieces, pieces, fc.integer({ min: 1, max: 60 }), (left, right, width) => {
      return textWidth(row(left, right, { width, paint })) === width;
    }),
  );
});
