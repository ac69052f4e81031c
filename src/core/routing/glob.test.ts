import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob, foldCase } from './glob.ts';

const matches = (pattern: string, text: string) => compileGlob(pattern, 'x').testFolded(foldCase(text));

test.each([
  ['db-*', 'db-01', true],
  ['db-*', 'db-', true],
  ['db-*', 'web-db-01', false],
  ['DB-*', 'db-01', true],
  ['db-*', 'DB-01', true],
  ['*.example.com', 'a.b.example.com', true],
  ['*.example.com', 'example.com', false],
  ['db-01', 'db-01', true],
  ['db-01', 'db-011', false],
  ['*', '', true],
  ['*', 'anything\nat all', true],
  ['**', 'x', true],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['a*b*a', 'aba', true],
  ['a*b*a', 'aa', false],
  ['*ab*ba*', 'aba', false],
  ['*ab*ba*', 'abba', true],
  ['web-??', 'web-01', true],
  ['web-??', 'web-1', false],
  ['web-??', 'web-001', false],
  ['?', '', false],
  ['?', '😀', true],
  ['?', '\n', true],
  ['??', '😀', false],
  ['*?a', 'ba', true],
  ['*?a', 'a', false],
  ['a.c', 'abc', false],
  ['[ab]', 'a', false],
  ['[ab]?', '[AB]x', true],
  ['(a|b)\\?', '(a|b)\\x', true],
  ['^$+{2}?', '^$+{2}.', true],
  ['straße-*', 'STRAßE-1', true],
  ['ΟΔΟΣ*', 'οδος 5', true],
  ['istanbul?', 'İSTANBUL1', true],
])('%j matches %j: %s', (pattern, text, expected) => {
  expect(matches(pattern, text)).toBe(expected);
});

describe('whatever the pattern and the text', () => {
  const unit = fc.constantFrom('a', 'b', 'A', '*', '?', '.', '😀', 'Σ', 'ς', 'İ', '\n');
  const pattern = fc.string({ unit, maxLength: 10 });
  const text = fc.string({ unit, maxLength: 14 });

  /** The definition, written out: slow, and obviously right. */
  function byDefinition(glob: readonly string[], chars: readonly string[]): boolean {
    const [first, ...rest] = glob;
    if (first === undefined) return chars.length === 0;
    if (first === '*')
      return chars.some((_, i) => byDefinition(rest, chars.slice(i))) || byDefinition(rest, []);
    return chars.length > 0 && (first === '?' || first === chars[0]) && byDefinition(rest, chars.slice(1));
  }

  test('the answer is that of the definition', () => {
    fc.assert(
      fc.property(pattern, text, (glob, sent) => {
        expect(matches(glob, sent)).toBe(byDefinition([...foldCase(glob)], [...foldCase(sent)]));
      }),
      { numRuns: 2000 },
    );
  });

  test('what matches starts, ends and contains what the glob says', () => {
    fc.assert(
      fc.property(pattern, text, (glob, sent) => {
        const folded = foldCase(sent);
        const compiled = compileGlob(glob, 'x');
        if (!compiled.testFolded(folded)) return;
        expect(
          folded.startsWith(compiled.prefix) &&
            folded.endsWith(compiled.suffix) &&
            folded.includes(compiled.literal),
        ).toBe(true);
        if (compiled.isExact) expect(folded).toBe(compiled.prefix);
      }),
      { numRuns: 2000 },
    );
  });

  test('folding the parts of a text gives the parts of the folded text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        expect(foldCase(a + b)).toBe(foldCase(a) + foldCase(b));
        expect([...foldCase(a)]).toHaveLength([...a].length);
      }),
      { numRuns: 2000 },
    );
  });
});

test('a hostile pattern answers at once', () => {
  const text = 'a'.repeat(16_384);
  for (const pattern of [
    '*a'.repeat(300).concat('*b'),
    '*a?'.repeat(40).concat('*b'),
    '*'.concat('a?'.repeat(60), 'b*'),
  ]) {
    expect(matches(pattern, text)).toBe(false);
  }
});

test('a pattern with "?" that is too long is refused', () => {
  expect(() => compileGlob('?'.repeat(300), 'rule "x": when.title.glob')).toThrow(
    /^rule "x": when\.title\.glob: .* is too long/,
  );
});
