/**
 * Counts the matches of a query by time and level, newest first and a step at a time, so that other searches need not wait
 * for the end of it. Where the index decides a query, numbers of rows are counted and no row is read: `row_minutes` has the
 * minute of each row, and `row_levels` its level.
 */

import type { TenantId } from '#core/ports.ts';
import { flagTerm } from '#core/search/index-terms.ts';
import type { Query } from '#core/search/search-query.ts';
import type { CountTimes, LevelCount } from '#core/statistics.ts';
import { levelsAlone, Tally, withTimes } from '../counting.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';
import { type LogConnection, type PreparedQuery, placeOf, prepareQuery } from './prepared-query.ts';
import { matchExpression, type RowRange, rowsMatching } from './row-numbers.ts';
import type { StoredText } from './rows.ts';
import { type Run, Walk } from './walk.ts';

const minuteMs = 60_000;

export interface CountRequest extends CountTimes {
  readonly now: number;
  /** Only rows below this one are left to count. */
  readonly below?: number;
}

export interface CountStep {
  readonly counts: readonly LevelCount[];
  /** `below` for the next step; null when all is counted. */
  readonly below: number | null;
  /** As in Counted; null with `below`. */
  readonly searchedTo: number | null;
  readonly tookMs: number;
}

/** Counts until `isOver` says so, and at least something. */
export function countStep(
  connection: LogConnection,
  { tenant, query, request }: { tenant: TenantId; query: Query; request: CountRequest },
  isOver: () => boolean,
): CountStep {
  const { now, below } = request;
  const startedAt = performance.now();
  const prepared = prepareQuery(connection, { tenant, query: withTimes(query, request), range: { now } });
  if (!prepared) return { counts: [], below: null, searchedTo: null, tookMs: 0 };
  const { sql } = connection;
  const { low, high } = prepared.rows;
  const asked = { ...prepared, rows: { low, high: Math.min(high, (below ?? high + 1) - 1) } };
  const counter = new Counter(connection, asked, { ...request, levels: levelsAlone(query) });
  const walk = new Walk(sql, asked, isOver);
  for (const run of walk.runs()) counter.count(walk, run);
  const { stoppedAt } = walk;
  return {
    counts: counter.tally.rows(),
    below: stoppedAt ?? null,
    searchedTo: stoppedAt === undefined ? null : (placeOf(sql, prepared, stoppedAt)?.at ?? now),
    tookMs: performance.now() - startedAt,
  };
}

interface Wanted extends CountTimes {
  readonly levels: readonly string[] | 'all' | undefined;
}

/** The levels of rows from `row` on: a number in `names` for each of them. */
interface LevelChunk {
  readonly row: number;
  readonly names: readonly string[];
  readonly levels: Buffer;
}

/** The one bucket in which all of a minute lies; `several`: a row's own time decides. */
type Bucket = number | 'none' | 'several';

class Counter {
  readonly tally = new Tally();
  readonly #connection: LogConnection;
  readonly #sql: Statements;
  readonly #query: PreparedQuery;
  readonly #times: Wanted;
  /** For a query that finds all but some rows: those. They are fewer, mostly, and what there is in all is known. */
  readonly #excluded: string | undefined;

  constructor(connection: LogConnection, query: PreparedQuery, wanted: Wanted) {
    this.#connection = connection;
    this.#sql = connection.sql;
    this.#query = query;
    const { after, before } = query.compiled;
    this.#times = { ...wanted, after, before };
    const { terms } = query.compiled;
    const isAllButSome =
      terms.kind === 'without' && terms.of.kind === 'term' && terms.of.term === flagTerm(query.tenant, 'all');
    this.#excluded = isAllButSome ? matchExpression({ kind: 'and', of: [terms.of, terms.not] }) : undefined;
  }

  count(walk: Walk, run: Run): void {
    if (run.indexed && this.#query.compiled.exact) {
      const levels = this.#times.levels ?? (this.#excluded && 'all');
      if (!levels || !this.#isOfMinutes(run)) return this.#countIndexed(run, this.#query.match, 1);
      this.#countMinutes(run.partition, levels);
      if (this.#excluded) this.#countIndexed(run, this.#excluded, -1);
      return;
    }
    const { reader } = this.#connection;
    for (const { at, level } of walk.rows(run)) this.#add(at, reader.text(level, run.partition), 1);
  }

  /** Whether `minutes` has all of a partition that is asked for: then only rows at the ends of the time are read. */
  #isOfMinutes({ partition }: Run): boolean {
    const { rows } = this.#query;
    const { origin, bucketMs } = this.#times;
    if (origin % minuteMs !== 0 || bucketMs % minuteMs !== 0) return false;
    return rows.low <= partition.firstRow && rows.high >= partition.indexed;
  }

  #countMinutes(partition: Partition, levels: readonly string[] | 'all'): void {
    const { after, before, origin, bucketMs } = this.#times;
    const [first, last] = [Math.ceil(after / minuteMs), Math.floor(before / minuteMs) - 1];
    // Numbers are bound as REAL, so this is no division of whole numbers.
    const counts = this.#sql
      .of<number[], LevelCount>(
        `SELECT floor((minute - ?) / ?) AS bucket, level, sum(count) AS count FROM minutes
         WHERE partition = ? AND tenant = ? AND minute BETWEEN ? AND ? GROUP BY 1, 2`,
      )
      .all(origin / minuteMs, bucketMs / minuteMs, partition.id, this.#query.tenant, first, last);
    for (const { bucket, level, count } of counts)
      if (levels === 'all' || levels.includes(level)) this.tally.add(bucket, level, count);
    for (const minute of new Set([first - 1, last + 1])) this.#countRowsOf(minute, partition, levels);
  }

  /** Counts the rows of a minute of which the time asked for has a part. */
  #countRowsOf(minute: number, partition: Partition, levels: readonly string[] | 'all'): void {
    const { firstRow, indexed } = partition;
    const rows = this.#sql
      .of<number[], { at: number; level: StoredText }>(
        `SELECT n.at, n.level FROM row_minutes m CROSS JOIN ${tablesOf(partition).log} n
           ON n.row >= m.row AND n.row < coalesce((SELECT min(o.row) FROM row_minutes o WHERE o.row > m.row), ?)
         WHERE m.row BETWEEN ? AND ? AND m.minute = ? AND n.row <= ? AND +n.tenant = ? AND n.cleared IS NULL`,
      )
      .all(indexed + 1, firstRow, indexed, minute, indexed, this.#query.tenant);
    for (const row of rows) {
      const level = this.#connection.reader.text(row.level, partition);
      if (levels === 'all' || levels.includes(level)) this.#add(row.at, level, 1);
    }
  }

  /** Counts each row that an expression finds as so many. */
  #countIndexed({ partition, range }: Run, match: string, each: 1 | -1): void {
    const rows = rowsMatching(this.#sql, partition, match, range);
    if (rows.length === 0) return;
    const runs = this.#minuteRuns(partition, range);
    let run = 0;
    let next = 0;
    let minute: number | undefined;
    let bucket: Bucket = 'none';
    for (const { row: first, names, levels } of this.#levelChunks(partition, range)) {
      const counts = new Uint32Array(names.length);
      const flush = () => {
        for (const [level, count] of counts.entries())
          if (count > 0) this.tally.add(bucket as number, names[level] as string, count * each);
        counts.fill(0);
      };
      for (; next < rows.length && (rows[next] as number) < first + levels.length; next++) {
        const row = rows[next] as number;
        while ((runs[run + 1]?.first ?? Number.POSITIVE_INFINITY) <= row) run += 1;
        if (runs[run]?.minute !== minute) {
          flush();
          minute = runs[run]?.minute ?? 0;
          bucket = this.#bucketOfMinute(minute);
        }
        const level = levels[row - first] as number;
        if (bucket === 'several') this.#add(this.#timeOf(partition, row), names[level] as string, each);
        else if (bucket !== 'none') counts[level] = (counts[level] as number) + 1;
      }
      flush();
    }
  }

  #levelChunks({ firstRow }: Partition, { low, high }: RowRange): Iterable<LevelChunk> {
    // Nearly all have the same names.
    const known = new Map<string, readonly string[]>();
    const parse = (text: string): readonly string[] => {
      const names = known.get(text) ?? (JSON.parse(text) as string[]);
      known.set(text, names);
      return names;
    };
    return this.#sql
      .of<[number, number, number], { row: number; names: string; levels: Buffer }>(
        `SELECT row, names, levels FROM row_levels
         WHERE row BETWEEN (SELECT max(row) FROM row_levels WHERE row BETWEEN ? AND ?) AND ? ORDER BY row`,
      )
      .all(firstRow, low, high)
      .map(({ row, names, levels }) => ({ row, names: parse(names), levels }));
  }

  /** Where in the rows a minute begins, in order, from the one on that `low` is in. */
  #minuteRuns({ firstRow }: Partition, { low, high }: RowRange) {
    return this.#sql
      .of<[number, number, number, number], { first: number; minute: number }>(
        `SELECT row AS first, minute FROM row_minutes
         WHERE row BETWEEN coalesce((SELECT max(row) FROM row_minutes WHERE row BETWEEN ? AND ?), ?) AND ? ORDER BY row`,
      )
      .all(firstRow, low, low, high);
  }

  #bucketOfMinute(minute: number): Bucket {
    const { after, before, origin, bucketMs } = this.#times;
    const [first, last] = [minute * minuteMs, minute * minuteMs + minuteMs - 1];
    if (last < after || first >= before) return 'none';
    if (first < after || last >= before) return 'several';
    const bucket = Math.floor((first - origin) / bucketMs);
    return bucket === Math.floor((last - origin) / bucketMs) ? bucket : 'several';
  }

  #timeOf(partition: Partition, row: number): number {
    const found = this.#sql
      .of<[number], { at: number }>(`SELECT at FROM ${tablesOf(partition).log} WHERE row = ?`)
      .get(row);
    return found?.at ?? Number.NaN;
  }

  #add(at: number, level: string, count: number): void {
    const { after, before, origin, bucketMs } = this.#times;
    if (at >= after && at < before) this.tally.add(Math.floor((at - origin) / bucketMs), level, count);
  }
}
