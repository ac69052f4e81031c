import type { Database } from 'better-sqlite3';
import type { Query } from '../../core/search-query.ts';
import { positionMask } from './rows.ts';
import { entryRange, predicateOf, type SearchScope } from './search-predicate.ts';
import { rawSql, sql } from './sql-text.ts';

export interface SearchRange {
  readonly low: number;
  readonly high: number;
  readonly indexed: number;
  readonly limit: number;
}

/** Positions of the newest matches, newest first. */
export function findPositions(
  query: Query,
  scope: SearchScope & { readonly db: Database },
  range: SearchRange,
): number[] {
  if (range.low > range.high) return [];
  const { text, values } = sql`SELECT n.entry & ${rawSql(String(positionMask))} FROM notifications n
    WHERE n.entry BETWEEN ${entryRange(scope.tenant, range.low, range.high)} AND ${predicateOf(query, scope)}
    ORDER BY n.entry DESC LIMIT ${range.limit}`;
  return scope.db
    .prepare<unknown[], number>(text)
    .pluck()
    .all(...values);
}
