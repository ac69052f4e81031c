/** A parsed search as plain data, which can be sent to storage threads. */
import type { AddressKey } from '../addresses.ts';
import type { PanelAddress } from '../target.ts';
import type { Pattern } from './search-glob.ts';

export const searchStates = [
  'muted',
  'live',
  'expired',
  'cleared',
  'unseen',
  'acknowledged',
  'throttled',
  'unrouted',
] as const;

/**
 * `live`: on its panels now. `expired`: its ttl ended. `cleared`: removed from panels. `muted`: by a rule. `acknowledged`: by a
 * person. `throttled`: counted on an earlier one. `unrouted`: no panel was chosen. `unseen`: routed to panels and not throttled,
 * but no panel has reported showing it.
 */
export type SearchState = (typeof searchStates)[number];

/** Consecutive words, as the full-text index splits them; with `prefix` the last one is only the beginning of a word. */
export interface Phrase {
  readonly text: string;
  readonly prefix: boolean;
}

/** The addresses from `low` to `high`; `text` is the original text. */
export interface AddressPattern {
  readonly text: string;
  readonly low: AddressKey;
  readonly high: AddressKey;
}

/** One condition. It holds if any value of the list matches; lists are never empty. */
export type Term =
  | { readonly kind: 'text'; readonly field: 'title' | 'message' | null; readonly phrases: readonly Phrase[] }
  | {
      readonly kind: 'host' /** In lower case, as hosts are compared. */;
      readonly patterns: readonly Pattern[];
    }
  | { readonly kind: 'key'; readonly patterns: readonly Pattern[] }
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

/** Joins queries in the normal form of {@link Query}. */
export function join(kind: 'and' | 'or', queries: readonly Query[]): Query {
  const terms = queries.flatMap((query) => (query.kind === kind ? query.terms : [query]));
  return terms.length === 1 ? (terms[0] as Query) : { kind, terms };
}
