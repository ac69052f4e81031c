import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { instant, notification, query } from '#test/support/arbitrary-history.ts';
import { printQuery } from '#test/support/print-query.ts';
import { parseAddressRange } from '../addresses.ts';
import type { NotificationDraft } from '../log/log.ts';
import { isEmpty } from '../log/target.ts';
import {
  flagTerm,
  indexTerms,
  type LaterState,
  type TermExpression,
  valueOfTerm,
  valueTerm,
} from './index-terms.ts';
import { compileQuery } from './search-compile.ts';
import { matcherOf } from './search-evaluate.ts';
import type { Query, SearchState } from './search-query.ts';
import { matchesPattern } from './search-words.ts';

const tenant = 7;
const live: Query = { kind: 'is', states: ['live'] };

const termsOf = (draft: NotificationDraft, of = tenant) =>
  new Set(indexTerms(of, draft, draft.route).split(' '));

const hasPattern = (term: string, pattern = '*') => matchesPattern(pattern, valueOfTerm(term));

function finds(terms: TermExpression | undefined, given: ReadonlySet<string>): boolean {
  switch (terms?.kind) {
    case undefined:
      return false;
    case 'term':
      return terms.prefix
        ? [...given].some((term) => term.startsWith(terms.term) && hasPattern(term, terms.pattern))
        : given.has(terms.term);
    case 'and':
      return terms.of.every((part) => finds(part, given));
    case 'or':
      return terms.of.some((part) => finds(part, given));
    case 'without':
      return finds(terms.of, given) && !finds(terms.not, given);
  }
}

test('the terms of a query find every match, nothing else when they say so, and never another tenant’s', () => {
  const cases = fc.record({
    draft: notification,
    query,
    now: instant,
    cleared: fc.boolean(),
    shown: fc.boolean(),
    acknowledged: fc.boolean(),
    off: fc.constantFrom('shelved', 'suppressed', null),
    store: fc.record({
      later: fc.subarray(['live', 'shelved', 'suppressed', 'cleared', 'acknowledged', 'shown'] as const),
      patterns: fc.boolean(),
    }),
  });
  fc.assert(
    fc.property(cases, ({ draft, query: asked, now, cleared, store, ...state }) => {
      const { terms, exact, after, before } = compileQuery(asked, tenant, store);
      // Only what was for panels can have been cleared.
      const { muted, target } = draft.route;
      const isForPanels = !muted && !isEmpty(target) && draft.throttledOn === null;
      const given = { ...draft, cleared: cleared && isForPanels, ...state };
      const matches = matcherOf(asked, now)(given);
      const isIn = (state: SearchState) => matcherOf({ kind: 'is', states: [state] }, now)(given);
      // A store may answer for all tenants.
      const isNow = (state: LaterState) => (state === 'shown' ? given.shown : isIn(state));
      const states = store.later.filter(isNow).map((each) => flagTerm(tenant, each));
      const termsIn = (of: number) => new Set([...termsOf(draft, of), ...states]);
      const found = finds(terms, termsIn(tenant)) && draft.receivedAt >= after && draft.receivedAt < before;
      if (matches) expect(found, printQuery(asked)).toBe(true);
      if (exact) expect(found, printQuery(asked)).toBe(matches);
      expect(finds(terms, termsIn(77))).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});

test('terms stand with one space between, and of a long word only its beginning, never half a character', () => {
  const long = 'x'.repeat(63);
  const given = {
    ...{ title: ' -- ', message: `${long}yz, (${long}𝒳) ok!`, level: 'info', tokenId: 't' },
    ...{ ...noTexts, host: 'DB.𝒳', ip: '10.1.0.255', sourceIp: 'fd00::5', throttledOn: null },
  };
  const route = { revision: 1, rules: [], muted: true, target: { all: true, ids: [], tags: [] } };
  expect(indexTerms(tenant, given, route).split(' ')).toEqual([
    ...['7.all', '7.level:info', '7.token:t', '7.host:db.𝒳', '7.tsoh:𝒳.bd'],
    ...['7.ip4/16:0a01', '7.ip4/24:0a0100', '7.ip4/32:0a0100ff'],
    ...['7.source6/48:fd0000000000', '7.source6/64:fd00000000000000'],
    ...['7.source6/128:fd000000000000000000000000000005', '7.muted', `${long}y`, long, 'ok'],
  ]);
});

test('any range of addresses finds the addresses in it and no others, however it is cut', () => {
  const octet = fc.constantFrom(0, 1, 7, 15, 16, 127, 128, 254, 255);
  const v4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'));
  const v6 = fc
    .tuple(...Array.from({ length: 8 }, () => fc.constantFrom('0', '1', 'f', 'ffff', '8000')))
    .map((groups) => groups.join(':'));
  const address = fc.oneof(v4, v6);
  const range = fc.oneof(
    fc.tuple(v4, fc.nat({ max: 32 })).map(([base, bits]) => `${base}/${bits}`),
    fc.tuple(v6, fc.nat({ max: 128 })).map(([base, bits]) => `${base}/${bits}`),
    fc.tuple(v4, v4).map((ends) => ends.toSorted(byOctets).join('-')),
  );
  fc.assert(
    fc.property(
      range,
      fc.array(address, { minLength: 10, maxLength: 10 }),
      notification,
      (text, list, draft) => {
        const asked: Query = { kind: 'source', ranges: [{ text, ...parseAddressRange(text) }] };
        const { terms, exact } = compileQuery(asked, tenant);
        for (const sourceIp of list) {
          const given = { ...draft, sourceIp };
          const matches = matcherOf(
            asked,
            0,
          )({ ...given, cleared: false, shown: false, acknowledged: false, off: null });
          const found = finds(terms, termsOf(given));
          if (matches || exact) expect(found, `${text} ${sourceIp}`).toBe(matches);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

const byOctets = (a: string, b: string) => {
  const [one, other] = [a, b].map((text) => text.split('.').map(Number));
  for (let i = 0; i < 4; i++) {
    const difference = (one?.[i] ?? 0) - (other?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
};

test('a value survives its way into a term and back, and no word can be taken for one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (value) => {
      const term = valueTerm(tenant, 'key', value);
      expect(valueOfTerm(term)).toBe(value);
      expect(term).toMatch(/^[a-z0-9._:/%\u0080-\u{10ffff}-]*$/u);
    }),
  );
  expect(flagTerm(tenant, 'all')).toContain('.');
});

test('a search of words alone is narrowed to its tenant', () => {
  const asked: Query = { kind: 'text', field: null, phrases: [{ text: 'disk', prefix: false }] };
  expect(compileQuery(asked, tenant).terms).toEqual({
    kind: 'and',
    of: [
      { kind: 'term', term: 'disk', prefix: false },
      { kind: 'term', term: '7.all', prefix: false },
    ],
  });
});

test('only what can be on panels is looked for there, and nothing for conditions that exclude each other', () => {
  const disk: Query = { kind: 'text', field: null, phrases: [{ text: 'disk', prefix: false }] };
  const compiled = (kind: 'and' | 'or', ...terms: Query[]) => compileQuery({ kind, terms }, tenant);
  const words = compileQuery(disk, tenant).terms;
  const cleared: Query = { kind: 'is', states: ['cleared'] };
  expect(compiled('and', live, cleared).terms).toBeUndefined();
  expect(compiled('and', { kind: 'is', states: ['cleared', 'expired'] }, cleared, disk).terms).toBeDefined();
  expect(compiled('or', { kind: 'and', terms: [live, cleared] }, disk).terms).toEqual(words);
});

const text = (of: string, prefix = false): Query => ({
  kind: 'text',
  field: null,
  phrases: [{ text: of, prefix }],
});
const both = (...terms: Query[]): Query => ({ kind: 'and', terms });

test('of a conjunction that is excluded, a row may have some of the words', () => {
  const { terms } = compileQuery(
    both(text('disk'), { kind: 'not', term: both(text('disk'), text('full')) }),
    tenant,
  );
  expect(finds(terms, new Set(['7.all', 'disk', 'slow']))).toBe(true);
  expect(finds(terms, new Set(['7.all', 'disk', 'full']))).toBe(false);
});

test('what is wanted and excluded at once is never looked for', () => {
  expect(compileQuery(both(text('disk'), { kind: 'not', term: text('disk') }), tenant).terms).toBeUndefined();
});

test('the beginning of a number may be the beginning of every term of a field, so rows are tested', () => {
  expect(compileQuery(text('7', true), tenant).exact).toBe(false);
  expect(compileQuery(text('8', true), tenant).exact).toBe(true);
});

test('a term that is given several times is looked for once', () => {
  const { terms } = compileQuery(
    { kind: 'or', terms: [text('a', true), text('b'), text('a', true)] },
    tenant,
  );
  expect(terms).toEqual({
    kind: 'and',
    of: [
      {
        kind: 'or',
        of: [
          { kind: 'term', term: 'a', prefix: true },
          { kind: 'term', term: 'b', prefix: false },
        ],
      },
      { kind: 'term', term: '7.all', prefix: false },
    ],
  });
});
