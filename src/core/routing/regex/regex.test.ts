import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import { compileRegex, maxRegexSize } from './regex.ts';

const finds = (pattern: string, text: string) => compileRegex(pattern, 'x').test(text);

test.each([
  ['disk', 'the disk is full', true],
  ['disk', 'Disk', false],
  ['(?i)disk', 'DISK', true],
  ['(?i)k', 'K', true],
  ['^disk', 'disk full', true],
  ['^disk', 'a disk', false],
  ['full$', 'disk full', true],
  ['full$', 'disk full\n', false],
  ['(?m)full$', 'disk full\nnext', true],
  ['^$', '', true],
  ['^$', 'x', false],
  ['', '', true],
  ['x*', '', true],
  ['$', 'abc', true],
  ['a.c', 'a\nc', false],
  ['(?s)a.c', 'a\nc', true],
  ['^.$', '😀', true],
  ['\\bdb\\b', 'the db is', true],
  ['\\bdb\\b', 'dbs', false],
  ['\\Bdb', 'xdb', true],
  ['\\Bdb', 'x db', false],
  ['db-\\d{2,3}$', 'db-1', false],
  ['db-\\d{2,3}$', 'db-1234', false],
  ['^db-\\d{2,3}$', 'db-123', true],
  ['\\p{Greek}+', 'the Ω', true],
  ['[^a-z]', 'abc', false],
  ['(error|warn(ing)?): ', 'a warning: b', true],
  ['a\\.b', 'axb', false],
  ['\\Qa.b\\E', 'a.b', true],
])('%j finds something in %j: %s', (pattern, text, expected) => {
  expect(finds(pattern, text)).toBe(expected);
});

describe('any pattern on any text', () => {
  const atom = fc.constantFrom(
    'a',
    'b',
    '1',
    ' ',
    '.',
    '\\n',
    '[ab]',
    '[^a]',
    '\\d',
    '\\w',
    '\\W',
    '\\b',
    '\\B',
    '^',
    '$',
    '\\A',
    '\\z',
    '(?i)A',
    '(?i:k)',
    '(?s:.)',
    '(?m:^)',
    '(?m:$)',
    '\\pL',
    'é',
    '😀',
    '[\\x{100}-\\x{2ff}]',
  );
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      atom,
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{0,3}', '*?', '{1,}'))
        .map(([a, b]) => `(${a})${b}`),
    ),
  }));
  const unit = fc.constantFrom(
    'a',
    'b',
    'A',
    'B',
    'k',
    'K',
    '1',
    ' ',
    '\n',
    '_',
    'é',
    'É',
    'ı',
    '😀',
    'ǅ',
    '\ud800',
  );
  const text = fc.string({ unit, maxLength: 12 });

  test('gives what re2js gives, from the first text on and after many', () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 6 }), (source, texts) => {
        const theirs = RE2JS.compile(source);
        const ours = compileRegex(source, 'x');
        for (const sent of texts) expect(ours.test(sent)).toBe(theirs.test(sent));
      }),
      { numRuns: 1500 },
    );
  });
});

describe('the work of one match', () => {
  const hostile = [
    '(a+)+$',
    '(a|a)*b',
    '(a*)*c',
    '(.*)*x',
    '(a|b|ab)*c',
    '([ab]+)*d',
    '(.*a){20}!',
    '(?:a?){50}a{50}!',
    '[ab]*a[ab]{100}c[^c]',
    '(x+x+)+y',
    '\\b(a+)+\\b!',
    '\\pL{250}',
  ];
  const longest = 'a'.repeat(limits.messageChars);

  test.each(hostile)('of %s has a limit, which every title is within', (pattern) => {
    const regex = compileRegex(pattern, 'x');
    expect(regex.maxChars).toBeGreaterThan(limits.titleChars);
    expect(regex.work(longest)).toBeLessThanOrEqual(65_536);
    expect(regex.work('a'.repeat(200))).toBe(2 * regex.work('a'.repeat(100)));
  });

  test('is that of the characters that are read: it matches in them, and not after them', () => {
    const regex = compileRegex('[ab]{20}!', 'x');
    const bangAfter = (count: number) => `${'a'.repeat(count)}!${'a'.repeat(limits.messageChars)}`;
    expect(regex.maxChars).toBeLessThan(limits.messageChars);
    expect(regex.test(bangAfter(regex.maxChars - 1))).toBe(true);
    expect(regex.test(bangAfter(regex.maxChars))).toBe(false);
  });

  test('with more states than are kept, the answer is still right', () => {
    const pattern = 'a[ab]{20}c';
    const regex = compileRegex(pattern, 'x');
    const noise = Array.from({ length: 2_000 }, (_, i) => 'ab'[(Math.imul(i, 0x9e3779b1) >>> 15) & 1]).join(
      '',
    );
    for (const sent of [
      noise,
      `${noise}a${'b'.repeat(20)}c`,
      `${noise}b${'ab'.repeat(10)}c`,
      `${noise}a${'ab'.repeat(10)}c`,
    ]) {
      expect(sent.length).toBeLessThanOrEqual(regex.maxChars);
      expect(regex.test(sent)).toBe(RE2JS.compile(pattern).test(sent));
    }
  });
});

test('a pattern in use is compiled once', () => {
  expect(compileRegex('^once$', 'x')).toBe(compileRegex('^once$', 'y'));
});

describe('what cannot work is refused with a way out', () => {
  test.each([
    [
      '(a)\\1',
      'x: "(a)\\1" is no regular expression of RE2: invalid escape sequence: `\\1`; there are no back-references',
    ],
    [
      '(?=a)b',
      'x: "(?=a)b" is no regular expression of RE2: invalid or unsupported Perl syntax: `(?=`; there is no look-around, use "not" for what must be absent',
    ],
    [
      '(?<!a)b',
      'x: "(?<!a)b" is no regular expression of RE2: invalid named capture: `(?<!a)b`; there is no look-around, use "not" for what must be absent',
    ],
    ['(', 'x: "(" is no regular expression of RE2: missing closing ): `(`'],
    ['[z-a]', 'x: "[z-a]" is no regular expression of RE2: invalid character class range: `z-a`'],
    [
      '[ab]{500}',
      `x: "[ab]{500}" is too large: it comes to 502 instructions with its repetitions written out, the most is ${maxRegexSize}; write a list of shorter ones`,
    ],
    ['a'.repeat(1001), 'x: a regular expression has at most 1000 characters'],
  ])('%s', (pattern, message) => {
    expect(() => compileRegex(pattern, 'x')).toThrow(
      expect.objectContaining({ code: 'bad-request', message }),
    );
  });

  test('nothing that can be written throws anything else', () => {
    const unit = fc.constantFrom(
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '?',
      '*',
      '+',
      '\\',
      '^',
      '$',
      '|',
      'a',
      '1',
      ',',
      '<',
      '=',
      ':',
      'p',
      'Q',
      '-',
      '\ud800',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 20 }), (source) => {
        try {
          compileRegex(source, 'x').test('a1');
        } catch (error) {
          expect(error).toMatchObject({ code: 'bad-request' });
        }
      }),
      { numRuns: 2000 },
    );
  });
});
