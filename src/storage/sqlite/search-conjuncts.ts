/** A search as conditions that must all hold, each with the index that leads to it. */
import type { Query, SearchState } from '../../core/search-query.ts';
import { listed, matched, type Source } from './search-candidates.ts';
import { hasPrefix, isMatchable, matchOf, wordsOf } from './search-match.ts';
import { routesOf } from './search-predicate.ts';
import {
  byLevel,
  byRoute,
  byState,
  byToken,
  listWithout,
  type SourceScope,
  sourceOf,
} from './search-source.ts';

export interface Conjunct {
  readonly query: Query;
  /** Holds every indexed match, and perhaps more. */
  readonly source: Source | undefined;
  /** Where nothing leads to the matches: holds what does not match, all of it and nothing else. */
  readonly excluded: Source | undefined;
  /** What its source holds matches for certain, so that rows need not have their text read for it. */
  readonly isExact: boolean;
  /** Whether a row has to have its text read for it. */
  readonly isText: boolean;
  /** For text: the lists whose shortest bounds how many there can be. */
  readonly words: readonly Source[];
}

/**
 * Conditions on the same thing become one, so that its index answers them together: words in the same notification, levels,
 * tokens, and all that depends on the route.
 */
export function conjunctsOf(query: Query, scope: SourceScope): Conjunct[] {
  const left = new Set(flatten(query));
  const take = (belongs: (term: Query) => boolean) => {
    const taken = [...left].filter(belongs);
    for (const term of taken) left.delete(term);
    return taken;
  };
  const merged: Conjunct[] = [];
  const join = (terms: readonly Query[], source: (terms: readonly Query[]) => Source | undefined) => {
    if (terms.length > 0) merged.push(conjunct(allOf(terms), source(terms), scope));
  };
  const texts = take((term) => isMatchable(term) && !hasPrefix(term));
  if (texts.length > 0) {
    const unwanted = take((term) => term.kind === 'not' && isMatchable(term.term) && !hasPrefix(term));
    merged.push(textConjunct(allOf([...texts, ...unwanted]), scope));
  }
  join(take(isAbout('level')), (terms) => namedSource('level', terms, scope));
  join(take(isAbout('token')), (terms) => namedSource('token', terms, scope));
  join(take(isOfRoute), (terms) => routeSource(terms, scope));
  const states = take((term) => term.kind === 'is');
  for (const term of states) join([term], () => stateSource(term, states, scope));
  for (const term of left) {
    merged.push(isMatchable(term) ? textConjunct(term, scope) : conjunct(term, sourceOf(term, scope), scope));
  }
  return merged;
}

export const allOf = (terms: readonly Query[]): Query =>
  terms.length === 0 ? { kind: 'all' } : terms.length === 1 ? (terms[0] as Query) : { kind: 'and', terms };

const conjunct = (query: Query, source: Source | undefined, scope: SourceScope): Conjunct => ({
  query,
  source,
  excluded: source || query.kind !== 'not' ? undefined : exactSourceOf(query.term, scope),
  isExact: readsText(query) && query.kind === 'not' && !source && isMatchable(query.term),
  isText: readsText(query),
  words: [],
});

/** A source that holds what matches and nothing else. */
function exactSourceOf(query: Query, scope: SourceScope): Source | undefined {
  const isListed =
    query.kind === 'host' || query.kind === 'key' || query.kind === 'ip' || query.kind === 'source';
  const source = isListed || isMatchable(query) ? sourceOf(query, scope) : undefined;
  return source?.isExact ? source : undefined;
}

function textConjunct(query: Query, scope: SourceScope): Conjunct {
  const source = matched(matchOf(query), hasPrefix(query), scope);
  const words = wordsOf(query, scope.words).map((word) => matched(matchOf(word), false, scope));
  return { query, source, excluded: undefined, isExact: true, isText: true, words };
}

export function readsText(query: Query): boolean {
  if (query.kind === 'text') return true;
  if (query.kind === 'not') return readsText(query.term);
  return (query.kind === 'and' || query.kind === 'or') && query.terms.some(readsText);
}

/** What must hold all at once. */
export function flatten(query: Query): readonly Query[] {
  if (query.kind === 'all') return [];
  if (query.kind === 'and') return query.terms.flatMap(flatten);
  if (query.kind === 'not' && query.term.kind === 'or') {
    return query.term.terms.flatMap((term) =>
      flatten(term.kind === 'not' ? term.term : { kind: 'not', term }),
    );
  }
  return [query];
}

const isAbout = (kind: 'level' | 'token') => (term: Query) =>
  (term.kind === 'not' ? term.term : term).kind === kind;

/** The lists of all that is named and not excluded. */
function namedSource(
  kind: 'level' | 'token',
  terms: readonly Query[],
  scope: SourceScope,
): Source | undefined {
  const index = kind === 'level' ? byLevel : byToken;
  let wanted: readonly string[] | undefined;
  const excluded = new Set<string>();
  for (const term of terms) {
    const named = term.kind === 'not' ? term.term : term;
    const values = named.kind === 'level' ? named.names : named.kind === 'token' ? named.ids : [];
    if (term.kind === 'not') for (const value of values) excluded.add(value);
    else wanted = wanted ? wanted.filter((value) => values.includes(value)) : values;
  }
  return wanted
    ? listed(
        index,
        wanted.filter((value) => !excluded.has(value)),
        scope,
      )
    : listWithout(index, excluded, scope);
}

const isOfRoute = (term: Query): boolean => {
  if (term.kind === 'rule' || term.kind === 'panel') return true;
  return term.kind === 'not' && (term.term.kind === 'rule' || term.term.kind === 'panel');
};

function routeSource(terms: readonly Query[], scope: SourceScope): Source | undefined {
  let wanted: Set<number> | undefined;
  const excluded = new Set<number>();
  for (const term of terms) {
    if (term.kind === 'not') for (const id of routeIds(term.term, scope)) excluded.add(id);
    else wanted = new Set(routeIds(term, scope).filter((id) => wanted === undefined || wanted.has(id)));
  }
  if (!wanted) return listWithout(byRoute, excluded, scope);
  return listed(
    byRoute,
    [...wanted].filter((id) => !excluded.has(id)),
    scope,
  );
}

const routeIds = (term: Query, scope: SourceScope): number[] =>
  term.kind === 'rule' || term.kind === 'panel' ? routesOf(term, scope) : [];

/** States a notification can be in at once, besides each with itself. */
const together: readonly (readonly [SearchState, SearchState])[] = [
  ['muted', 'throttled'],
  ['unseen', 'live'],
  ['unseen', 'expired'],
  ['unseen', 'cleared'],
];
const canMeet = (a: SearchState, b: SearchState) =>
  a === b || together.some(([one, other]) => (a === one && b === other) || (a === other && b === one));

/** Most states exclude each other, and an estimate cannot know that. */
function stateSource(term: Query, all: readonly Query[], scope: SourceScope): Source | undefined {
  if (term.kind !== 'is') return undefined;
  const isPossible = (state: SearchState) =>
    all.every((other) => other.kind !== 'is' || other.states.some((met) => canMeet(state, met)));
  const states = term.states.filter(isPossible);
  return states.length === 0 ? listed(byState, [], scope) : sourceOf({ kind: 'is', states }, scope);
}
