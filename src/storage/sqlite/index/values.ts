/** Which different values the postings hold, found by jumping from one to the next: the cost is by value, not by posting. */
import type { Database } from 'better-sqlite3';
import type { TenantId } from '../../../core/ports.ts';
import { rawSql, type Sql, type SqlValue, sql } from '../sql-text.ts';

/** Values from `from`, up to and including `upTo`, or below `below`. */
export interface Span {
  readonly from?: SqlValue;
  readonly upTo?: SqlValue;
  readonly below?: SqlValue;
}

/** The values of a span as a condition on a column. */
export function inSpan(column: Sql, { from, upTo, below }: Span): Sql {
  const lower = from === undefined ? rawSql('1') : sql`${column} >= ${from}`;
  return sql`${lower} AND ${upperEnd(column, { ...(upTo !== undefined && { upTo }), ...(below !== undefined && { below }) })}`;
}

function upperEnd(column: Sql, { upTo, below }: Span): Sql {
  if (upTo !== undefined) return sql`${column} <= ${upTo}`;
  return below === undefined ? rawSql('1') : sql`${column} < ${below}`;
}

/** The texts that start with `prefix`. SQLite compares text by code point. */
export function spanOfPrefix(prefix: string): Span {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return { from: prefix };
  // No text holds a surrogate on its own.
  return { from: prefix, below: String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1) };
}

export interface FieldOf {
  readonly tenant: TenantId;
  readonly field: string;
}

/** The values of a field a tenant has postings for, in a span and in order; undefined when there are more than `limit`. */
export function distinctValues<T extends SqlValue>(
  db: Database,
  of: FieldOf,
  span: Span,
  limit: number,
): T[] | undefined {
  const found = firstValues<T>(db, of, span, limit + 1);
  return found.length > limit ? undefined : found;
}

/** As {@link distinctValues}, and of more than `limit` the first. */
export function firstValues<T extends SqlValue>(
  db: Database,
  { tenant, field }: FieldOf,
  span: Span,
  limit: number,
): T[] {
  const value = rawSql('value');
  const next = (lower: Sql) => sql`(SELECT value FROM postings WHERE tenant = ${tenant} AND field = ${field}
    AND ${lower} AND ${upperEnd(value, span)} ORDER BY value LIMIT 1)`;
  const first = span.from === undefined ? rawSql('1') : sql`value >= ${span.from}`;
  const { text, values } = sql`
    WITH RECURSIVE v (value) AS (
      SELECT ${next(first)} UNION ALL SELECT ${next(rawSql('postings.value > v.value'))} FROM v WHERE v.value IS NOT NULL
    ) SELECT value FROM v WHERE value IS NOT NULL LIMIT ${limit}`;
  return db
    .prepare<unknown[], T>(text)
    .pluck()
    .all(...values);
}

/** The different ranks of what is live. */
export function liveRanks(db: Database, tenant: TenantId): number[] {
  const { text, values } = sql`
    WITH RECURSIVE r (rank) AS (
      SELECT (SELECT min(rank) FROM live WHERE tenant = ${tenant})
      UNION ALL SELECT (SELECT min(live.rank) FROM live WHERE tenant = ${tenant} AND live.rank > r.rank) FROM r WHERE r.rank IS NOT NULL
    ) SELECT rank FROM r WHERE rank IS NOT NULL`;
  return db
    .prepare<unknown[], number>(text)
    .pluck()
    .all(...values);
}
