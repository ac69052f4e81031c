import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visibleLines, visibleText } from './visible-text.ts';

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

test('where there is room, line breaks break lines and tabs are spaces', () => {
  expect(visibleLines('a\tb\r\nc\n\x1bd\re')).toEqual(['a    b', 'c', '\\x1bd', 'e']);
});
