import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText, textWidth, wrapText } from './text-width.ts';

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
  expect([...wrapText(`${zalgo} ${zalgo}`, 10, 1).join('')].length).toBeLessThan(40);
});

test('lines break between words, and inside a word that is longer than a line', () => {
  expect(wrapText('the quick brown fox', 10, 5)).toEqual(['the quick', 'brown fox']);
  expect(wrapText('abcdefghij', 4, 5)).toEqual(['abcd', 'efgh', 'ij']);
  expect(wrapText('日本語のタイトル', 6, 5)).toEqual(['日本語', 'のタイ', 'トル']);
  expect(wrapText('exactly 10', 10, 5)).toEqual(['exactly 10']);
  expect(wrapText('exactly 10   ', 10, 1)).toEqual(['exactly 10']);
  expect(wrapText('', 10, 5)).toEqual(['']);
});

test('what does not fit into the lines there are ends in an ellipsis', () => {
  expect(wrapText('the quick brown fox jumps', 10, 2)).toEqual(['the quick', 'brown fox…']);
  expect(wrapText('the quick brown fox', 9, 1)).toEqual(['the quic…']);
});

test('no line is ever wider than asked for, and none is added', () => {
  const anyText = fc.string({ unit: fc.constantFrom('a', 'bc', ' ', '日', '👍', 'e\u0301', '-', '한') });
  const property = fc.property(
    anyText,
    fc.integer({ min: 2, max: 30 }),
    fc.integer({ min: 1, max: 5 }),
    (text, width, most) => {
      const lines = wrapText(text, width, most);
      return (
        lines.length <= most &&
        lines.every((line) => textWidth(line) <= width) &&
        textWidth(cutText(text, width)) <= width
      );
    },
  );
  fc.assert(property, { numRuns: 500 });
});
