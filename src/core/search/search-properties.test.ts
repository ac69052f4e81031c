import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printQuery } from '#test/support/print-query.ts';
import { context } from '#test/support/search-context.ts';
import { AppError } from '../errors.ts';
import { negate, parseQuery } from './search-parser.ts';
import { join, type Query, type Term } from './search-query.ts';
import { matchesPattern } from './search-words.ts';

const parse = (text: string) => parseQuery(text, context);

test('any text is read or refused, never anything else, and what is read prints to the same', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constantFrom(
      ...'( ) - " * ? \\ : , OR AND NOT host: level: is: ip: key: label: title: since: after: token: a b1 disk "db 01" db-*'.split(
        ' ',
      ),
    ),
    fc.constantFrom(
      ' ',
      ' ',
      'level:>=warning',
      'is:live,muted',
      'ip:10.0.0.0/8',
      'panel:"noc *"',
      'label:env',
      'label:"env=a b",x=*',
      'label:env=a,"b c",site=d,e*',
      'after:2026-11-01',
      '-(',
      'x*',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      let query: Query;
      try {
        query = parse(text);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
        expect((error as AppError).message).toMatch(/^q: /);
        return;
      }
      expect(parse(printQuery(query))).toEqual(query);
    }),
    { numRuns: 5000 },
  );
});

test('printing a query and parsing it again gives the same query', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 8 }).map((s) => `${s}x`.replaceAll('\0', ''));
  const pattern = text.map((s) => s.replace(/[*?\\]/g, '\\$&').replaceAll('x', '*x?'));
  const ids = (known: readonly { id: string }[]) =>
    fc.subarray(
      known.map(({ id }) => id),
      { minLength: 1 },
    );
  const phrase = fc.record({ text, prefix: fc.boolean() });
  const term: fc.Arbitrary<Term> = fc.oneof(
    fc.record({ kind: fc.constant('text' as const), field: fc.constant(null), phrases: fc.tuple(phrase) }),
    fc.record({
      kind: fc.constant('text' as const),
      field: fc.constantFrom('title' as const, 'message' as const),
      phrases: fc.array(phrase, { minLength: 1, maxLength: 2 }),
    }),
    fc.record({
      kind: fc.constant('key' as const),
      patterns: fc.array(pattern, { minLength: 1, maxLength: 2 }),
    }),
    fc.record({
      kind: fc.constant('host' as const),
      patterns: fc.array(
        pattern.map((s) => s.toLowerCase()),
        { minLength: 1, maxLength: 2 },
      ),
    }),
    fc.record({
      kind: fc.constant('level' as const),
      names: fc.subarray(
        context.levels.map(({ name }) => name),
        { minLength: 1 },
      ),
    }),
    fc.record({ kind: fc.constant('token' as const), ids: ids(context.tokens) }),
    fc.record({
      kind: fc.constantFrom('after' as const, 'before' as const),
      at: fc.nat({ max: 4_000_000_000_000 }),
    }),
    fc.constantFrom(
      ...(['ip:10.0.0.0/8,::1', 'panel:p1,p3', 'is:live,unseen', 'rule:r1'].map(parse) as Term[]),
    ),
  );
  const { query } = fc.letrec<{ query: Query }>((tie) => ({
    query: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      term,
      tie('query').map(negate),
      fc
        .tuple(
          fc.constantFrom('and' as const, 'or' as const),
          fc.array(tie('query'), { minLength: 2, maxLength: 3 }),
        )
        .map(([kind, terms]) => join(kind, terms)),
    ),
  }));
  fc.assert(
    fc.property(query, (given) => {
      const printed = printQuery(given);
      fc.pre(printed.length <= 2000);
      expect(parse(printed)).toEqual(given);
    }),
    { numRuns: 1000 },
  );
});

test('a glob matches as a naive one does', () => {
  const naive = (pattern: string, text: string): boolean => {
    if (pattern === '') return text === '';
    if (pattern[0] === '*')
      return naive(pattern.slice(1), text) || (text !== '' && naive(pattern, text.slice(1)));
    return (
      text !== '' && (pattern[0] === '?' || pattern[0] === text[0]) && naive(pattern.slice(1), text.slice(1))
    );
  };
  const some = (characters: string, maxLength: number) =>
    fc.string({ unit: fc.constantFrom(...characters), maxLength });
  fc.assert(
    fc.property(some('ab*?', 8), some('ab', 10), (p, t) => {
      expect(matchesPattern(p, t)).toBe(naive(p, t));
    }),
    { numRuns: 3000 },
  );
  expect(matchesPattern('a\\*?', 'a*💥')).toBe(true);
  expect(matchesPattern('a\\*', 'ab')).toBe(false);
});
