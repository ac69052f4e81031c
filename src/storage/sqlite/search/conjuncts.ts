/** A search as conditions that must all hold, each with the index that leads to it. */
import type { Query } from '../../../core/search/search-query.ts';
import { matched, type Source } from './candidates.ts';
import { fieldSource, isField } from './fields.ts';
import { hasPrefix, isMatchable, matchOf, wordsOf } from './match.ts';
import { isRouted, namedSource, routeSource, stateSource } from './merge.ts';
import { type SourceScope, sourceOf } from './source.ts';

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
  /** For text: the lists of its words, which bound how many there can be. */
  readonly words: readonly Source[];
}

/**
 * Conditions on the same thing become one, so that its index answers them together: words in the same notification, levels,
 * tokens, a field, and all that depends on the route. What excludes each other is found out here, where it costs nothing.
 */
export function conjunctsOf(query: Query, scope: SourceScope): Conjunct[] {
  const left = new Set(flatten(query));
  const merged: Conjunct[] = [];
  const take = (belongs: (term: Query) => boolean) => {
    const taken = [...left].filter(belongs);
    for (const term of taken) left.delete(term);
    return taken;
  };
  const join = (terms: readonly Query[], source: (terms: readonly Query[]) => Source | undefined) => {
    if (terms.length > 0) merged.push(conjunct(allOf(terms), source(terms), scope));
  };
  mergeTexts(take, (texts) => merged.push(textConjunct(allOf(texts), scope)));
  join(
    take((term) => inner(term).kind === 'level'),
    (terms) => namedSource('level', terms, scope),
  );
  join(
    take((term) => inner(term).kind === 'token'),
    (terms) => namedSource('token', terms, scope),
  );
  mergeFields(left, take, join, scope);
  const states = [...left].filter((term) => term.kind === 'is');
  join(take(isRouted), (terms) => routeSource(terms, states, scope));
  for (const term of take((term) => term.kind === 'is')) join([term], () => stateSource(term, states, scope));
  for (const term of left) {
    merged.push(isMatchable(term) ? textConjunct(term, scope) : conjunct(term, sourceOf(term, scope), scope));
  }
  return merged;
}

type Take = (belongs: (term: Query) => boolean) => Query[];
type Join = (terms: readonly Query[], source: (terms: readonly Query[]) => Source | undefined) => void;

const inner = (term: Query) => (term.kind === 'not' ? term.term : term);

/** Prefixes stay apart: they cost the same for one result as for all. */
function mergeTexts(take: Take, merge: (texts: readonly Query[]) => void): void {
  const isWhole = (term: Query) => isMatchable(term) && !hasPrefix(term);
  const texts = take(isWhole);
  if (texts.length > 0) merge([...texts, ...take((term) => term.kind === 'not' && isWhole(term.term))]);
}

/** Exclusions alone lead nowhere: they stay as they are. */
function mergeFields(left: ReadonlySet<Query>, take: Take, join: Join, scope: SourceScope): void {
  for (const kind of ['host', 'key', 'ip', 'source'] as const) {
    if (![...left].some((term) => term.kind === kind)) continue;
    join(
      take((term) => inner(term).kind === kind),
      (terms) => {
        const [first, ...wanted] = terms.filter(isField);
        const unwanted = terms.flatMap((term) =>
          term.kind === 'not' && isField(term.term) ? [term.term] : [],
        );
        return first && fieldSource(first, wanted, unwanted, scope);
      },
    );
  }
}

function conjunct(query: Query, source: Source | undefined, scope: SourceScope): Conjunct {
  const isText = readsText(query);
  const excluded = source || query.kind !== 'not' ? undefined : exactSourceOf(query.term, scope);
  return { query, source, excluded, isExact: isText && excluded !== undefined, isText, words: [] };
}

function textConjunct(query: Query, scope: SourceScope): Conjunct {
  const source = matched(matchOf(query), hasPrefix(query), scope);
  const words = wordsOf(query, scope.words).map((word) => matched(matchOf(word), false, scope));
  return { query, source, excluded: undefined, isExact: true, isText: true, words };
}

/** A source that holds what matches and nothing else. */
function exactSourceOf(query: Query, scope: SourceScope): Source | undefined {
  const source = isField(query) || isMatchable(query) ? sourceOf(query, scope) : undefined;
  return source?.isExact ? source : undefined;
}

export const allOf = (terms: readonly Query[]): Query =>
  terms.length === 0 ? { kind: 'all' } : terms.length === 1 ? (terms[0] as Query) : { kind: 'and', terms };

function readsText(query: Query): boolean {
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
