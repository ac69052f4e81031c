/** What a search of history asks for, as plain data: storage is given it, and threads can be sent it. */
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
 * `live`: on its panels now. `expired`: was, until its time was over. `cleared`: taken off. `muted`: by a rule.
 * `acknowledged`: somebody has seen it and said so.
 * `throttled`: counted on an earlier one. `unrouted`: no panel was chosen. `unseen`: for panels, not counted on another,
 * and no panel has reported showing it.
 */
export type SearchState = (typeof searchStates)[number];

/** Words in a row, as the full-text index splits words; with `prefix` the last one may go on. */
export interface Phrase {
  readonly text: string;
  readonly prefix: boolean;
}

/** Addresses from `low` to `high`, as `text` wrote them. */
export interface AddressPattern {
  readonly text: string;
  readonly low: AddressKey;
  readonly high: AddressKey;
}

/** One condition. A list means any of it, and is never empty. */
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

/** Plain data. No `and` holds an `and` and no `or` an `or`, both hold two or more, and no `not` holds a `not`. */
export type Query =
  | { readonly kind: 'all' }
  | { readonly kind: 'and' | 'or'; readonly terms: readonly Query[] }
  | { readonly kind: 'not'; readonly term: Query }
  | Term;

/** Keeps a query in its one form: see {@link Query}. */
export function join(kind: 'and' | 'or', queries: readonly Query[]): Query {
  const terms = queries.flatMap((query) => (query.kind === kind ? query.terms : [query]));
  return terms.length === 1 ? (terms[0] as Query) : { kind, terms };
}
