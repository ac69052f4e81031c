/** Which index leads to the matches of a query. */
import type { Query, SearchState, Term } from '../../../core/search/search-query.ts';
import type { Field, FieldValue } from '../index/postings.ts';
import { distinctValues } from '../index/values.ts';
import { anyOf, cleared, listed, live, matched, type Place, type Source } from './candidates.ts';
import { fieldSource } from './fields.ts';
import { hasPrefix, isMatchable, matchOf } from './match.ts';
import { mutedRoutes, routesOf, type SearchScope, unroutedRoutes } from './predicate.ts';
import type { WordReader } from './words.ts';

export type SourceScope = SearchScope & Place & { readonly words: WordReader };

/** A source of every indexed match; undefined when no index leads there. */
export function sourceOf(query: Query, scope: SourceScope): Source | undefined {
  if (isMatchable(query)) return matched(matchOf(query), hasPrefix(query), scope);
  switch (query.kind) {
    case 'or':
      return anyOf(query.terms.map((term) => sourceOf(term, scope)));
    case 'and':
      return bestOf(query.terms.map((term) => sourceOf(term, scope)));
    case 'not':
      return complementOf(query.term, scope);
    case 'all':
      return undefined;
    default:
      return termSource(query, scope);
  }
}

/** Inside an OR, any conjunct's source serves; one that can be read in windows above all. */
function bestOf(sources: readonly (Source | undefined)[]): Source | undefined {
  const found = sources.filter((source) => source !== undefined);
  return found.find(({ isWhole }) => !isWhole) ?? found[0];
}

function termSource(term: Term, scope: SourceScope): Source | undefined {
  switch (term.kind) {
    case 'host':
    case 'key':
    case 'ip':
    case 'source':
      return fieldSource(term, [], [], scope);
    case 'level':
      return listed('level', term.names, scope);
    case 'token':
      return listed('token', term.ids, scope);
    case 'rule':
    case 'panel':
      return listed('route', routesOf(term, scope), scope);
    case 'is':
      return anyOf(term.states.map((state) => stateSource(state, scope)));
    default:
      return undefined;
  }
}

/** What an index holds besides the lists of some values; undefined when it has too many lists to name the others. */
export function listWithout(
  field: Field,
  unwanted: ReadonlySet<FieldValue>,
  scope: SourceScope,
): Source | undefined {
  const values = distinctValues<string | number>(
    scope.db,
    { tenant: scope.tenant, field },
    {},
    scope.tuning.windowedLists,
  );
  return (
    values &&
    listed(
      field,
      values.filter((value) => !unwanted.has(value)),
      scope,
    )
  );
}

function complementOf(term: Query, scope: SourceScope): Source | undefined {
  if (term.kind === 'level') return listWithout('level', new Set(term.names), scope);
  if (term.kind === 'token') return listWithout('token', new Set(term.ids), scope);
  if (term.kind === 'rule' || term.kind === 'panel')
    return listWithout('route', new Set(routesOf(term, scope)), scope);
  return undefined;
}

function stateSource(state: SearchState, scope: SourceScope): Source | undefined {
  switch (state) {
    case 'muted':
      return listed('route', mutedRoutes(scope), scope);
    case 'unrouted':
      return listed('route', unroutedRoutes(scope), scope);
    case 'throttled':
    case 'unseen':
    case 'expired':
      return listed('state', [state === 'expired' ? 'expires' : state], scope);
    case 'cleared':
      return cleared(scope);
    case 'live':
      return live(scope);
  }
}
