/** A parsed search as plain data, which can be sent to storage threads. */
import { isSearchedField, type SearchedField } from '#contract/history/fields.ts';
import { type AddressRange, compareAddresses } from '../addresses.ts';
import type { PanelAddress } from '../log/target.ts';
import type { Pattern } from './search-words.ts';

export const searchStates = [
  'muted',
  'live',
  'expired',
  'cleared',
  'shelved',
  'suppressed',
  'unseen',
  'acknowledged',
  'throttled',
  'unrouted',
] as const;

/**
 * `live`: on its panels now. `shelved`: off them until a time. `suppressed`: off them while its cause stands. `expired`: its ttl
 * ended. `cleared`: removed from panels. `muted`: by a rule. `acknowledged`: by a person. `throttled`: counted on an earlier one.
 * `unrouted`: no panel was chosen. `unseen`: routed to panels and not throttled, but no panel has reported showing it.
 */
export type SearchState = (typeof searchStates)[number];

/** Consecutive words, as the full-text index splits them; with `prefix` the last one is only the beginning of a word. */
export interface Phrase {
  readonly text: string;
  readonly prefix: boolean;
}

/** The addresses from `low` to `high`; `text` is the original text. */
export interface AddressPattern extends AddressRange {
  readonly text: string;
}

/** A condition on a text field. The patterns are in the form of {@link searchForm}. */
export interface PatternTerm {
  readonly kind: SearchedField;
  readonly patterns: readonly Pattern[];
}

export const isPatternTerm = (query: Query): query is PatternTerm => isSearchedField(query.kind);

/** One condition. It holds if any value of the list matches; lists are never empty. */
export type Term =
  | { readonly kind: 'text'; readonly field: 'title' | 'message' | null; readonly phrases: readonly Phrase[] }
  | PatternTerm
  | { readonly kind: 'ip'; readonly ranges: readonly AddressPattern[] }
  | { readonly kind: 'source'; readonly ranges: readonly AddressPattern[] }
  | { readonly kind: 'level'; readonly names: readonly string[] }
  | { readonly kind: 'token'; readonly ids: readonly string[] }
  | { readonly kind: 'rule'; readonly ids: readonly string[] }
  | { readonly kind: 'panel'; readonly panels: readonly PanelAddress[] }
  | { readonly kind: 'is'; readonly states: readonly SearchState[] }
  | {
      readonly kind: 'after' | 'before' /** Unix milliseconds; after includes it, before does not. */;
      readonly at: number;
    };

/**
 * A query in normal form: no `and` directly contains an `and`, no `or` an `or`, and no `not` a `not`; `and` and `or` have at
 * least two terms.
 */
export type Query =
  | { readonly kind: 'all' }
  | { readonly kind: 'and' | 'or'; readonly terms: readonly Query[] }
  | { readonly kind: 'not'; readonly term: Query }
  | Term;

/** The conditions that must all hold. */
export const conjuncts = (query: Query): readonly Query[] =>
  query.kind === 'and' ? query.terms : query.kind === 'all' ? [] : [query];

/** Every match was received at `after` or later, and before `before`; infinite where the query sets no bound. Unix milliseconds. */
export function timesOf(query: Query): { readonly after: number; readonly before: number } {
  let after = Number.NEGATIVE_INFINITY;
  let before = Number.POSITIVE_INFINITY;
  for (const term of conjuncts(query)) {
    if (term.kind === 'after') after = Math.max(after, term.at);
    else if (term.kind === 'before') before = Math.min(before, term.at);
  }
  return { after, before };
}

/** Joins queries in the normal form of {@link Query}. */
export function join(kind: 'and' | 'or', queries: readonly Query[]): Query {
  const terms = queries.flatMap((query) => (query.kind === kind ? query.terms : [query]));
  return terms.length === 1 ? (terms[0] as Query) : { kind, terms };
}

/** A notification for panels is in one of these states at a time. */
const lifetimes: readonly SearchState[] = ['live', 'shelved', 'suppressed', 'expired', 'cleared'];
/** No notification in one of these states is on panels. */
const offPanels: readonly SearchState[] = searchStates.filter(
  (state) => !['live', 'unseen', 'acknowledged'].includes(state),
);

export const excludesLive = (query: Query) =>
  query.kind === 'is' && query.states.every((state) => offPanels.includes(state));

/** Whether two of the conditions exclude each other. All of them must hold. */
export const contradict = (queries: readonly Query[]): boolean =>
  queries.some((one, i) => queries.slice(i + 1).some((other) => exclude(one, other)));

/** Whether no notification can fulfil both conditions, because it has one lifetime, one level and one address. */
function exclude(one: Query, other: Query): boolean {
  if (one.kind === 'is' && other.kind === 'is') {
    const both = [...one.states, ...other.states];
    return both.every((state) => lifetimes.includes(state)) && !shareAny(one.states, other.states);
  }
  if (one.kind === 'level' && other.kind === 'level') return !shareAny(one.names, other.names);
  if ((one.kind !== 'ip' && one.kind !== 'source') || one.kind !== other.kind) return false;
  const meet = (a: AddressPattern, b: AddressPattern) =>
    compareAddresses(a.low, b.high) <= 0 && compareAddresses(b.low, a.high) <= 0;
  return !one.ranges.some((range) => other.ranges.some((another) => meet(range, another)));
}

const shareAny = (some: readonly string[], others: readonly string[]) =>
  some.some((value) => others.includes(value));
