import { expect, test } from 'vitest';
import { colorDepth, createPaint } from './paint.ts';

test('NO_COLOR goes before what the terminal can', () => {
  expect(colorDepth({ NO_COLOR: '1', COLORTERM: 'truecolor' }, 24)).toBe('none');
  expect(colorDepth({ NO_COLOR: '' }, 24)).toBe('truecolor');
});

test('between sixteen colours and all of them, sixteen are used', () => {
  expect([1, 4, 8, 24].map((bits) => colorDepth({}, bits))).toEqual([
    'none',
    'ansi16',
    'ansi16',
    'truecolor',
  ]);
});

test('colours are written as the terminal takes them', () => {
  const style = { color: '#ff5c8a', fill: '#b8124a', bold: true };
  expect(createPaint('truecolor')('x', style)).toBe('\x1b[1;38;2;255;92;138;48;2;184;18;74mx\x1b[0m');
  expect(createPaint('ansi16')('x', style)).toBe('\x1b[1;95;45mx\x1b[0m');
  expect(createPaint('none')('x', style)).toBe('\x1b[1mx\x1b[0m');
  expect(createPaint('none')('x', { color: '#ff5c8a' })).toBe('x');
});

test('the built-in levels are told apart in sixteen colours', () => {
  const paint = createPaint('ansi16');
  const painted = ['#3ecf8e', '#58a6ff', '#f2b63c', '#ff7466', '#ff5c8a'].map((color) =>
    paint('x', { color }),
  );
  expect(new Set(painted).size).toBe(5);
});
