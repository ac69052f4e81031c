import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matcherOf } from '#core/search/search-evaluate.ts';
import type { Query } from '#core/search/search-query.ts';
import { notification } from '#test/support/arbitrary-history.ts';
import { textTests } from './search.ts';

const piece = fc.constantFrom(
  'Lag',
  'lag',
  'is',
  '42',
  'tés',
  'ß',
  ' ',
  '  ',
  '-',
  '_',
  '\n',
  '.*',
  '(',
  'İ',
);
const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
const phrase = fc.record({ text: text.map((given) => `a${given}`), prefix: fc.boolean() });
const condition: fc.Arbitrary<Query> = fc.record({
  kind: fc.constant('text'),
  field: fc.constantFrom('title', 'message', null),
  phrases: fc.array(phrase, { minLength: 1, maxLength: 2 }),
});

const fits = (expressions: readonly string[], given: string) =>
  expressions.every((expression) => new RegExp(expression, 'i').test(given));

test('whatever matches fits the expressions', () => {
  const cases = fc.record({ notification, terms: fc.array(condition, { minLength: 2, maxLength: 3 }) });
  const texts = fc.record({ title: text, message: text });
  fc.assert(
    fc.property(cases, texts, fc.boolean(), ({ notification: draft, terms }, other, quotes) => {
      // Half of the texts have the phrases, so that many match.
      const quoted = terms
        .flatMap((term) => (term.kind === 'text' ? term.phrases : []))
        .map((one) => one.text);
      const given = quotes
        ? { title: quoted.join(' '), message: `${other.message} ${quoted.join('. ')}` }
        : other;
      const asked: Query = { kind: 'and', terms };
      const state = { cleared: false, shown: false, acknowledged: false, off: null };
      if (matcherOf(asked, 0)({ ...draft, ...given, ...state }))
        expect(fits(textTests(asked), `${given.title} ${given.message}`)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test('a text that has the words, but not in a row, does not fit', () => {
  const asked: Query = { kind: 'text', field: null, phrases: [{ text: 'Lag is 42', prefix: true }] };
  const tests = textTests(asked);
  const texts = ['the lag: is 420 s', 'lag is now 42', 'flag is 42', 'Lag is 42'];
  expect(texts.map((given) => fits(tests, given))).toEqual([true, false, false, true]);
});

test('of many phrases, some are tested, and each once', () => {
  const phrase = (text: string): Query => ({ kind: 'text', field: null, phrases: [{ text, prefix: false }] });
  const terms = Array.from({ length: 50 }, (_, n) => phrase(`disk full ${n >> 1}`));
  const tests = textTests({ kind: 'and', terms });
  expect(tests).toHaveLength(8);
  expect(new Set(tests).size).toBe(8);
});
