/** Which index leads to the matches of a query. */
import { literalOf, matchesPattern, type Pattern, patternParts } from '../../core/search-glob.ts';
import type { Query, SearchState, Term } from '../../core/search-query.ts';
import {
  anyOf,
  cleared,
  listed,
  listedBytes,
  matched,
  type Place,
  type Source,
  spanned,
} from './search-candidates.ts';
import { hasPrefix, isMatchable, matchOf } from './search-match.ts';
import { mutedRoutes, routesOf, type SearchScope, unroutedRoutes } from './search-predicate.ts';
import { distinctValues, type IndexColumn, spanOfPrefix } from './search-values.ts';
import type { WordReader } from './words.ts';

export type SourceScope = SearchScope & Place & { readonly words: WordReader };

const byHost: IndexColumn = { table: 'index_host', column: 'host' };
const byKey: IndexColumn = { table: 'index_key', column: 'key' };
const byIp: IndexColumn = { table: 'index_ip', column: 'ip' };
const bySource: IndexColumn = { table: 'index_source', column: 'ip' };
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
      return patternSource(byHost, term.patterns, scope);
    case 'key':
      return patternSource(byKey, term.patterns, scope);
    case 'ip':
    case 'source':
      return addressSource(term.kind === 'ip' ? byIp : bySource, term.ranges, scope);
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

function patternSource(
  index: IndexColumn,
  patterns: readonly Pattern[],
  scope: SourceScope,
): Source | undefined {
  const literals = patterns.flatMap((pattern) => literalOf(pattern) ?? []);
  const globs = patterns.filter((pattern) => literalOf(pattern) === undefined);
  const sources = globs.map((pattern) => globSource(index, pattern, scope));
  if (literals.length > 0) sources.push(listed(index, literals, scope));
  return anyOf(sources, scope);
}

function globSource(index: IndexColumn, pattern: Pattern, scope: SourceScope): Source {
  const first = patternParts(pattern)[0];
  const span = spanOfPrefix(typeof first === 'object' ? first.literal : '');
  const values = distinctValues<string>(scope.db, scope.tenant, index, span, scope.tuning.visitedValues);
  const matching = values?.filter((value) => matchesPattern(pattern, value));
  return matching && matching.length <= scope.tuning.windowedLists
    ? listed(index, matching, scope)
    : spanned(index, [span], scope, false);
}

function addressSource(
  index: IndexColumn,
  ranges: readonly { low: Uint8Array; high: Uint8Array }[],
  scope: SourceScope,
): Source {
  const spans = ranges.map(({ low, high }) => ({ from: low, upTo: high }));
  const values: Uint8Array[] = [];
  for (const span of spans) {
    const found = distinctValues<Uint8Array>(scope.db, scope.tenant, index, span, scope.tuning.windowedLists);
    if (!found || values.length + found.length > scope.tuning.windowedLists)
      return spanned(index, spans, scope, true);
    values.push(...found);
  }
  return listedBytes(index, values, scope);
}
