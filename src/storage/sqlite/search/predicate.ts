/** A query as a condition on a row of `notifications n`. It decides; indexes only propose. Each is true or false, never null. */
import type { Route, TenantId } from '../../../core/ports.ts';
import { literalOf, type Pattern, patternParts } from '../../../core/search/search-glob.ts';
import type { Query, SearchState, Term } from '../../../core/search/search-query.ts';
import { isEmpty, reaches } from '../../../core/target.ts';
import { positionMask, type RouteReader } from '../rows.ts';
import { listSql, logicSql, rawSql, type Sql, sql } from '../sql-text.ts';
import { isTextOnly } from './words.ts';

/** What a condition refers to besides the row. */
export interface SearchScope {
  readonly tenant: TenantId;
  readonly now: number;
  readonly routes: RouteReader;
  /** Keeps a query of text alone for `text_matches(slot, title, message)`, and answers the slot. */
  keepText(query: Query): number;
}

export function predicateOf(query: Query, scope: SearchScope): Sql {
  if (isTextOnly(query)) return sql`text_matches(${scope.keepText(query)}, n.title, n.message)`;
  switch (query.kind) {
    case 'and':
    case 'or':
      return logicSql(
        query.kind === 'and' ? 'AND' : 'OR',
        textLast(query).map((term) => predicateOf(term, scope)),
      );
    case 'not':
      return sql`NOT ${predicateOf(query.term, scope)}`;
    case 'all':
      return rawSql('1');
    default:
      return termPredicate(query, scope);
  }
}

/** Text costs a hundred times what a column does: it is tested once, after all else. SQLite keeps to the order. */
function textLast({ kind, terms }: Extract<Query, { kind: 'and' | 'or' }>): readonly Query[] {
  const texts = terms.filter(isTextOnly);
  const others = terms.filter((term) => !isTextOnly(term));
  return texts.length > 1 ? [...others, { kind, terms: texts }] : [...others, ...texts];
}

function termPredicate(term: Term, scope: SearchScope): Sql {
  switch (term.kind) {
    case 'text':
      return sql`text_matches(${scope.keepText(term)}, n.title, n.message)`;
    case 'host':
      return anyPattern('n.host_key', term.patterns);
    case 'key':
      return anyPattern('n.key', term.patterns);
    case 'ip':
    case 'source': {
      const column = rawSql(term.kind === 'ip' ? 'n.ip_key' : 'n.source_ip_key');
      return neverNull(
        logicSql(
          'OR',
          term.ranges.map(({ low, high }) => sql`${column} BETWEEN ${low} AND ${high}`),
        ),
      );
    }
    case 'level':
      return sql`n.level IN ${listSql(term.names)}`;
    case 'token':
      return sql`n.token_id IN ${listSql(term.ids)}`;
    case 'rule':
    case 'panel':
      return sql`n.route IN ${listSql(routesOf(term, scope))}`;
    case 'is':
      return logicSql(
        'OR',
        term.states.map((state) => statePredicate(state, scope)),
      );
    case 'after':
      return sql`n.received_at >= ${term.at}`;
    case 'before':
      return sql`n.received_at < ${term.at}`;
  }
}

const neverNull = (condition: Sql) => sql`ifnull(${condition}, 0)`;

function anyPattern(column: string, patterns: readonly Pattern[]): Sql {
  const literals = patterns.flatMap((pattern) => literalOf(pattern) ?? []);
  const globs = patterns.filter((pattern) => literalOf(pattern) === undefined);
  const parts = globs.map((pattern) => sql`${rawSql(column)} GLOB ${sqliteGlob(pattern)}`);
  if (literals.length > 0) parts.unshift(sql`${rawSql(column)} IN ${listSql(literals)}`);
  return neverNull(logicSql('OR', parts));
}

/** SQLite's GLOB has sets in brackets too, which also serve to take a wildcard literally. */
export function sqliteGlob(pattern: Pattern): string {
  return patternParts(pattern)
    .map((part) => (typeof part === 'object' ? part.literal.replace(/[*?[]/g, '[$&]') : part))
    .join('');
}

/** Ids of the routes a panel or a rule means. What is muted is on no panel. */
export function routesOf(
  term: Extract<Term, { kind: 'rule' | 'panel' }>,
  { routes, tenant }: SearchScope,
): number[] {
  if (term.kind === 'rule') {
    const ids = new Set(term.ids);
    return routes.idsWhere(tenant, (route) => route.rules.some(({ id }) => ids.has(id)));
  }
  return routes.idsWhere(
    tenant,
    ({ muted, target }) => !muted && term.panels.some((panel) => reaches(target, panel)),
  );
}

export const unroutedRoutes = ({ routes, tenant }: SearchScope): number[] =>
  routes.idsWhere(tenant, isUnrouted);
export const mutedRoutes = ({ routes, tenant }: SearchScope): number[] =>
  routes.idsWhere(tenant, ({ muted }) => muted);
const isUnrouted = ({ muted, target }: Route) => !muted && isEmpty(target);

const isCleared = rawSql('EXISTS (SELECT 1 FROM clears k WHERE k.cleared = n.entry)');
const position = `n.entry & ${positionMask}`;

function statePredicate(state: SearchState, scope: SearchScope): Sql {
  const { tenant, now } = scope;
  /** Meant for panels: not muted, not counted on another, and with a panel to go to. */
  const isForPanels = () =>
    sql`(n.muted = 0 AND n.throttled_on IS NULL AND n.route NOT IN ${listSql(unroutedRoutes(scope))})`;
  switch (state) {
    case 'muted':
      return rawSql('n.muted = 1');
    case 'throttled':
      return rawSql('n.throttled_on IS NOT NULL');
    case 'unrouted':
      return sql`(n.throttled_on IS NULL AND n.route IN ${listSql(unroutedRoutes(scope))})`;
    case 'cleared':
      return isCleared;
    case 'live':
      return sql`EXISTS (SELECT 1 FROM live l WHERE l.tenant = ${tenant} AND l.rank = n.rank AND l.position = ${rawSql(position)}
        AND (l.expires_at IS NULL OR l.expires_at > ${now}))`;
    case 'expired':
      return sql`(n.expires_at IS NOT NULL AND n.expires_at <= ${now} AND ${isForPanels()} AND NOT ${isCleared})`;
    case 'unseen':
      return sql`(${isForPanels()} AND NOT EXISTS (SELECT 1 FROM receipts r
        WHERE r.tenant = ${tenant} AND r.position = ${rawSql(position)} AND r.shown_at IS NOT NULL))`;
  }
}

/** An entry; see `entryOf` for why it is computed so. */
export const entrySql = (tenant: TenantId, position: Sql | number): Sql =>
  sql`(${tenant} << 40 | ${position})`;

/** The two ends of a BETWEEN over a tenant's entries. */
export const entryRange = (tenant: TenantId, low: number, high: number): Sql =>
  sql`${entrySql(tenant, low)} AND ${entrySql(tenant, high)}`;
