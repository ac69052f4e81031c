import type { CountTimes, LevelCount } from '../../../core/figures.ts';
import type { Query } from '../../../core/search/search-query.ts';
import type { Positions } from '../index/position-set.ts';
import { entryRange, entrySql, predicateOf } from '../search/predicate.ts';
import type { SourceScope } from '../search/source.ts';
import { rawSql, type Sql, sql } from '../sql-text.ts';
import type { Tally } from './tally.ts';

/** Counts by looking at rows: each is asked when it came, and whether it matches. */
export class RowCounter {
  readonly #scope: SourceScope;
  readonly #times: CountTimes;
  readonly #tally: Tally;

  constructor(scope: SourceScope, times: CountTimes, tally: Tally) {
    this.#scope = scope;
    this.#times = times;
    this.#tally = tally;
  }

  /** The matches among all rows of a stretch of the log. */
  scan(query: Query, { low, high }: Positions): void {
    this.#count(
      sql`notifications n WHERE n.entry BETWEEN ${entryRange(this.#scope.tenant, low, high)}`,
      query,
    );
  }

  /** The matches among some positions. */
  fetch(query: Query, positions: readonly number[]): void {
    this.#count(
      sql`json_each(${JSON.stringify(positions)}) j CROSS JOIN notifications n
        ON n.entry = ${entrySql(this.#scope.tenant, rawSql('j.value'))} WHERE 1`,
      query,
    );
  }

  #count(rows: Sql, query: Query): void {
    const { after, before, origin, bucketMs } = this.#times;
    const { text, values } = sql`
      SELECT CAST((n.received_at - ${origin}) / ${bucketMs} AS INTEGER) AS bucket, n.level AS level, count(*) AS count
      FROM ${rows} AND n.received_at >= ${after} AND n.received_at < ${before} AND ${predicateOf(query, this.#scope)}
      GROUP BY 1, 2`;
    const counts = this.#scope.db.prepare<unknown[], LevelCount>(text).all(...values);
    for (const count of counts) this.#tally.add(count);
  }
}
