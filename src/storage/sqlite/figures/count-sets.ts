/** Queries as sets of positions, put together as the query says: what the indexes can count without looking at a row. */
import type { Query, SearchState } from '../../../core/search/search-query.ts';
import { PositionSet, type Positions } from '../index/position-set.ts';
import type { Source } from '../search/candidates.ts';
import { listWithout, type SourceScope, sourceOf } from '../search/source.ts';
import type { SourceReader } from '../search/source-reader.ts';

export interface SetOfMatches {
  /** The matches in a window, and with `isExact` false perhaps others, as a set of the caller's own. */
  read(window: Positions): PositionSet;
  readonly isExact: boolean;
  /** Nothing of it can be read without reading all of it. */
  readonly isWhole: boolean;
}

/** What sets are read from. */
export interface SetContext {
  readonly scope: SourceScope;
  readonly reader: SourceReader;
  /** All that is counted; what can only be read as a whole is read of this. */
  readonly range: Positions;
  /** Every notification; undefined when there are too many levels to list. */
  readonly everything: SetOfMatches | undefined;
}

/** What is in a state, and what of it is not after all; `unseen` may list what was seen since. */
const exceptions: Readonly<Record<SearchState, readonly SearchState[] | 'rows tell'>> = {
  muted: [],
  throttled: [],
  cleared: [],
  live: [],
  expired: ['cleared', 'live'],
  unrouted: ['throttled'],
  unseen: 'rows tell',
};

export function createSetContext(scope: SourceScope, reader: SourceReader, range: Positions): SetContext {
  const levels = listWithout('level', new Set(), scope);
  const everything = levels && fromSource(levels, true, { scope, reader, range, everything: undefined });
  return { scope, reader, range, everything };
}

/** undefined when no index leads to the matches. */
export function setOf(query: Query, context: SetContext): SetOfMatches | undefined {
  switch (query.kind) {
    case 'all':
      return context.everything;
    case 'and':
      return allOf(query.terms.map((term) => setOf(term, context)));
    case 'or':
      return anyOf(query.terms.map((term) => setOf(term, context)));
    case 'not':
      return without(context.everything, setOf(query.term, context));
    case 'is':
      return anyOf(query.states.map((state) => setOfState(state, context)));
    default: {
      const source = sourceOf(query, context.scope);
      return source && fromSource(source, source.isExact, context);
    }
  }
}

function setOfState(state: SearchState, context: SetContext): SetOfMatches | undefined {
  const not = exceptions[state];
  const source = sourceOf({ kind: 'is', states: [state] }, context.scope);
  if (!source || not === 'rows tell') return source && fromSource(source, false, context);
  return not.reduce<SetOfMatches | undefined>(
    (set, other) => without(set, setOfState(other, context)),
    fromSource(source, true, context),
  );
}

function fromSource(source: Source, exact: boolean, { reader, range }: SetContext): SetOfMatches {
  return { read: (window) => reader.read(source, window, range), isExact: exact, isWhole: source.isWhole };
}

function allOf(sets: readonly (SetOfMatches | undefined)[]): SetOfMatches | undefined {
  const found = sets.filter((set) => set !== undefined);
  if (found.length === 0) return undefined;
  return {
    isWhole: found.some((set) => set.isWhole),
    isExact: found.length === sets.length && found.every((set) => set.isExact),
    read: (window) => putTogether(found, window, (all, one) => all.sift(one, true)),
  };
}

function anyOf(sets: readonly (SetOfMatches | undefined)[]): SetOfMatches | undefined {
  const found = sets.filter((set) => set !== undefined);
  if (found.length < sets.length) return undefined;
  return {
    isWhole: found.some((set) => set.isWhole),
    isExact: found.every((set) => set.isExact),
    read: (window) => putTogether(found, window, (all, one) => all.unite(one)),
  };
}

function without(
  all: SetOfMatches | undefined,
  unwanted: SetOfMatches | undefined,
): SetOfMatches | undefined {
  if (!all || !unwanted?.isExact) return undefined;
  return {
    isWhole: all.isWhole || unwanted.isWhole,
    isExact: all.isExact,
    read: (window) => putTogether([all, unwanted], window, (rest, one) => rest.sift(one, false)),
  };
}

function putTogether(
  [first, ...others]: readonly SetOfMatches[],
  window: Positions,
  join: (all: PositionSet, one: PositionSet) => void,
): PositionSet {
  const all = first ? first.read(window) : new PositionSet(window);
  for (const other of others) join(all, other.read(window));
  return all;
}
