/** The indexes of hosts, keys and addresses: which of the values they know a search means. */

import { compareAddresses } from '../../../core/addresses.ts';
import { literalOf, matchesPattern, type Pattern, patternParts } from '../../../core/search/search-glob.ts';
import type { Query, Term } from '../../../core/search/search-query.ts';
import type { Field } from '../index/postings.ts';
import { distinctValues, type Span, spanOfPrefix } from '../index/values.ts';
import { anyOf, listed, type Place, type Source, spanned } from './candidates.ts';

export type FieldTerm = Extract<Term, { kind: 'host' | 'key' | 'ip' | 'source' }>;

export function isField(query: Query): query is FieldTerm {
  return query.kind === 'host' || query.kind === 'key' || query.kind === 'ip' || query.kind === 'source';
}

/** What the index of one field leads to when `term` must hold, all of `wanted` and none of `unwanted`, on the same field. */
export function fieldSource(
  term: FieldTerm,
  wanted: readonly FieldTerm[],
  unwanted: readonly FieldTerm[],
  place: Place,
): Source | undefined {
  const known =
    term.kind === 'ip' || term.kind === 'source'
      ? knownAddresses(term.kind, term.ranges, place)
      : knownTexts(term.kind, term.patterns, place);
  if (!known) return wholeSpans(term, place);
  const values = known.filter(
    (value) => wanted.every((other) => means(other, value)) && !unwanted.some((other) => means(other, value)),
  );
  return listed(term.kind, values, place);
}

function means(term: FieldTerm, value: string | Uint8Array): boolean {
  if (term.kind === 'ip' || term.kind === 'source') {
    return (
      typeof value !== 'string' &&
      term.ranges.some(
        ({ low, high }) => compareAddresses(low, value) <= 0 && compareAddresses(value, high) <= 0,
      )
    );
  }
  return typeof value === 'string' && term.patterns.some((pattern) => matchesPattern(pattern, value));
}

/** Values in the index that a pattern matches; undefined when there are too many to look at each. */
function knownTexts(
  field: Field,
  patterns: readonly Pattern[],
  { db, tenant, tuning }: Place,
): string[] | undefined {
  const found = new Set<string>();
  for (const pattern of patterns) {
    const literal = literalOf(pattern);
    const values =
      literal === undefined
        ? distinctValues<string>(db, { tenant, field }, spanOf(pattern), tuning.visitedValues)
        : [literal];
    if (!values) return undefined;
    for (const value of values) if (matchesPattern(pattern, value)) found.add(value);
  }
  return found.size > tuning.windowedLists ? undefined : [...found];
}

function knownAddresses(
  field: Field,
  ranges: readonly { low: Uint8Array; high: Uint8Array }[],
  { db, tenant, tuning }: Place,
): Uint8Array[] | undefined {
  const found: Uint8Array[] = [];
  for (const { low, high } of ranges) {
    const isOne = compareAddresses(low, high) === 0;
    const values = isOne
      ? [low]
      : distinctValues<Uint8Array>(db, { tenant, field }, { from: low, upTo: high }, tuning.windowedLists);
    if (!values || found.length + values.length > tuning.windowedLists) return undefined;
    found.push(...values);
  }
  return found;
}

/** All values from the first that can match to the last. */
function wholeSpans(term: FieldTerm, place: Place): Source | undefined {
  if (term.kind === 'ip' || term.kind === 'source') {
    return spanned(
      term.kind,
      term.ranges.map(({ low, high }) => ({ from: low, upTo: high })),
      place,
      true,
    );
  }
  return anyOf(term.patterns.map((pattern) => spanned(term.kind, [spanOf(pattern)], place, false)));
}

function spanOf(pattern: Pattern): Span {
  const first = patternParts(pattern)[0];
  return spanOfPrefix(typeof first === 'object' ? first.literal : '');
}
