/** Which index leads to the matches of a query. */
import type { Query, SearchState, Term } from '../../core/search-query.ts';
import { anyOf, cleared, listed, matched, type Place, type Source } from './search-candidates.ts';
import { fieldSource } from './search-fields.ts';
import { hasPrefix, isMatchable, matchOf } from './search-match.ts';
import { mutedRoutes, routesOf, type SearchScope, unroutedRoutes } from './search-predicate.ts';
import { distinctValues, type IndexColumn } from './search-values.ts';
import type { WordReader } from './words.ts';

export type SourceScope = SearchScope & Place & { readonly words: WordReader };

export const byLevel: IndexColumn = { table: 'index_level', column: 'level' };
export const byToken: IndexColumn = { table: 'index_token', column: 'token_id' };
export const byRoute: IndexColumn = { table: 'index_route', column: 'route' };
export const byState: IndexColumn = { table: 'index_state', column: 'state' };
const byRank: IndexColumn = { table: 'live', column: 'rank' };

/** A source of every indexed match; undefined when no index leads there. */
export function sourceOf(query: Query, scope: SourceScope): Source | undefined {
  if (isMatchable(query)) return matched(matchOf(query), hasPrefix(query), scope);
  switch (query.kind) {
    case 'or':
      return anyOf(
        query.terms.map((term) => sourceOf(term, scope)),
        scope,
      );
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

/** Inside an OR, any conjunct's source serves; the one that comes in order costs least to narrow. */
function bestOf(sources: readonly (Source | undefined)[]): Source | undefined {
  const found = sources.filter((source) => source !== undefined);
  return (
    found.find(({ access }) => access === 'ordered') ??
    found.find(({ access }) => access === 'windowed') ??
    found[0]
  );
}

function termSource(term: Term, scope: SourceScope): Source | undefined {
  switch (term.kind) {
    case 'host':
    case 'key':
    case 'ip':
    case 'source':
      return fieldSource(term, [], [], scope);
    case 'level':
      return listed(byLevel, term.names, scope);
    case 'token':
      return listed(byToken, term.ids, scope);
    case 'rule':
    case 'panel':
      return listed(byRoute, routesOf(term, scope), scope);
    case 'is':
      return anyOf(
        term.states.map((state) => stateSource(state, scope)),
        scope,
      );
    default:
      return undefined;
  }
}

/** What an index holds besides the lists of some values; undefined when it has too many lists to name the others. */
export function listWithout(
  index: IndexColumn,
  unwanted: ReadonlySet<string | number>,
  scope: SourceScope,
): Source | undefined {
  const values = distinctValues<string | number>(
    scope.db,
    scope.tenant,
    index,
    {},
    scope.tuning.windowedLists,
  );
  return (
    values &&
    listed(
      index,
      values.filter((value) => !unwanted.has(value)),
      scope,
    )
  );
}

function complementOf(term: Query, scope: SourceScope): Source | undefined {
  if (term.kind === 'level') return listWithout(byLevel, new Set(term.names), scope);
  if (term.kind === 'token') return listWithout(byToken, new Set(term.ids), scope);
  if (term.kind === 'rule' || term.kind === 'panel')
    return listWithout(byRoute, new Set(routesOf(term, scope)), scope);
  return undefined;
}

function stateSource(state: SearchState, scope: SourceScope): Source | undefined {
  switch (state) {
    case 'muted':
      return listed(byRoute, mutedRoutes(scope), scope);
    case 'unrouted':
      return listed(byRoute, unroutedRoutes(scope), scope);
    case 'throttled':
    case 'unseen':
    case 'expired':
      return listed(byState, [state === 'expired' ? 'expires' : state], scope);
    case 'cleared':
      return cleared(scope);
    case 'live': {
      const ranks = distinctValues<number>(scope.db, scope.tenant, byRank, {}, scope.tuning.windowedLists);
      return ranks && listed(byRank, ranks, scope);
    }
  }
}
