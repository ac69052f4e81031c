import { expect, test } from 'vitest';
import { codeOf, impossibleIn } from './pair-code.ts';

test('a code is read as people type and paste it', () => {
  expect(codeOf('k7m4qx')).toBe('K7M4QX');
  expect(codeOf(' K7M-4QX ')).toBe('K7M4QX');
  expect(codeOf('k7 m4 qx and more')).toBe('K7M4QX');
});

test('a character that no code has is named', () => {
  expect(impossibleIn('K7M4QX')).toBeUndefined();
  expect(impossibleIn('K7M0QX')).toBe('0');
});
