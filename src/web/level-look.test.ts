import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contrast, fillUnderWhite, readableOn } from './level-look.ts';

const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
const surfaces = ['#12161f', '#ffffff'];

test('contrast is the one of WCAG', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

test('any colour becomes readable on both surfaces, and under white text', () => {
  fc.assert(
    fc.property(color, fc.constantFrom(...surfaces), (chosen, surface) => {
      expect(contrast(readableOn(chosen, surface), surface)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(fillUnderWhite(chosen), '#ffffff')).toBeGreaterThanOrEqual(6);
    }),
  );
});

test('a colour that is readable stays as it was chosen', () => {
  for (const chosen of ['#3ecf8e', '#58a6ff', '#f2b63c', '#ff7466', '#ff5c8a'])
    expect(readableOn(chosen, '#12161f')).toBe(chosen);
});
