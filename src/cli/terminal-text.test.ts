import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText, textWidth, visibleText } from './terminal-text.ts';

test.each([
  ['\x1b[2J\x1b]0;owned\x07', '\\x1b[2J\\x1b]0;owned\\x07'],
  ['\x9b31m', '\\x9b31m'],
  ['a\nb\r\tc\0', 'a\\nb\\r\\tc\\x00'],
  ['\x7f\x85', '\\x7f\\x85'],
  ['user\u202egpj.exe', 'user\\u202egpj.exe'],
  ['\u2066x\u2069\u200f\u061c', '\\u2066x\\u2069\\u200f\\u061c'],
  ['a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ['zero\u200bwidth\ufeff\u00ad', 'zero\\u200bwidth\\ufeff\\xad'],
  ['tag\u{e0041}', 'tag\\u{e0041}'],
  ['half \ud83d', 'half \\ud83d'],
])('%j is written as %j', (text, visible) => {
  expect(visibleText(text)).toBe(visible);
});

test.each(['Grüße', '日本語', 'العربية', 'किताब', '👩‍👩‍👧 🇩🇪 ✔️', 'می‌خواهم', 'naïve e\u0301', 'back\\slash'])(
  'what people write stays as it is: %s',
  (text) => {
    expect(visibleText(text)).toBe(text);
  },
);

test('nothing that a terminal could obey is left in any text', () => {
  const dangerous = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !dangerous.test(visibleText(text))));
});

test.each([
  ['', 0],
  ['plain', 5],
  ['Grüße', 5],
  ['日本語', 6],
  ['한국어', 6],
  ['ｆｕｌｌ', 8],
  ['e\u0301a\u0308', 2],
  ['👩‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['✔️', 2],
  ['▲■●◆✓─━', 7],
  ['\u0301', 0],
])('"%s" takes %i columns', (text, width) => {
  expect(textWidth(text)).toBe(width);
});

test('a text that fits is not cut', () => {
  expect(cutText('日本語', 6)).toBe('日本語');
  expect(cutText('abc', 3)).toBe('abc');
  expect(cutText('', 3)).toBe('');
});

test('a text that does not fit ends in an ellipsis, and no character is split', () => {
  expect(cutText('abcdef', 4)).toBe('abc…');
  expect(cutText('日本語', 5)).toBe('日本…');
  expect(cutText('日本語', 4)).toBe('日…');
  expect(cutText('👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧…');
  expect(cutText('abc', 1)).toBe('…');
  expect(cutText('abc', 0)).toBe('');
});

test('marks piled on one character are cut down', () => {
  const zalgo = `a${'\u0301'.repeat(500)}b`;
  expect(textWidth(zalgo)).toBe(2);
  expect([...cutText(zalgo, 10)].length).toBeLessThan(20);
});

test('no text is ever wider than asked for', () => {
  const anyText = fc.string({ unit: fc.constantFrom('a', 'bc', ' ', '日', '👍', 'e\u0301', '-', '한') });
  const property = fc.property(anyText, fc.integer({ min: 0, max: 30 }), (text, width) => {
    const cut = cutText(text, width);
    return textWidth(cut) <= width && (textWidth(text) > width || cut === text);
  });
  fc.assert(property, { numRuns: 500 });
});
