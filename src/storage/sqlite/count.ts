/**
 * Counts the matches of a query by time and level, newest first and a step at a time, so that other searches need not wait
 * for the end of it. Where the index decides a query, numbers of rows are counted and no row is read: `row_minutes` has the
 * minute of each row, and `row_levels` its level.
 */

import type { TenantId } from '#core/ports.ts';
import { flagTerm } from '#core/search/index-terms.ts';
import type { TermExpression } from '#core/search/search-compile.ts';
import type { Query } from '#core/search/search-query.ts';
import type { CountTimes, LevelCount } from '#core/statistics.ts';
import { levelsAlone, minuteMs, Tally, withTimes } from '../counting.ts';
import { resultOf } from '../fair-queue.ts';
import { type CountPart, countInSteps, type LogRange, timer } from '../log-search.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';
import type { LogConnection, StoredText } from './rows.ts';
import { openSearch, type SqlitePart, type SqliteSearch } from './search.ts';

export interface CountRequest extends CountTimes {
  readonly now: number;
  /** Only positions below this one are left to count. */
  readonly next?: number;
  readonly timeoutMs?: number;
}

export interface CountStep extends CountPart {
  readonly counts: readonly LevelCount[];
  readonly tookMs: number;
}

/** Counts until `isOver` says so, and at least something. */
export async function countStep(
  connection: LogConnection,
  { tenant, query, request }: { tenant: TenantId; query: Query; request: CountRequest },
  isOver = timer(request.timeoutMs),
): Promise<CountStep> {
  const startedAt = performance.now();
  const { now, next } = request;
  const scope = { now, isOver, ...(next !== undefined && { before: next }) };
  const search = openSearch(connection, tenant, withTimes(query, request), scope);
  if (!search) return { counts: [], next: null, searchedTo: null, tookMs: 0 };
  const { after, before } = search.compiled;
  const tally = new Tally({ ...request, after, before });
  const counter = new Counter(connection, search, tally, levelsAlone(query));
  const part = await resultOf(countInSteps(search, tally, (each) => counter.count(each), isOver));
  return { ...part, counts: tally.rows(), tookMs: performance.now() - startedAt };
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
  readonly #connection: LogConnection;
  readonly #sql: Statements;
  readonly #search: SqliteSearch;
  readonly #tally: Tally;
  /** The levels of which all is counted. */
  readonly #levels: readonly string[] | 'all' | undefined;
  /** For a query that finds all but some rows: those. They are fewer, mostly, and what there is in all is known. */
  readonly #excluded: TermExpression | undefined;

  constructor(
    connection: LogConnection,
    search: SqliteSearch,
    tally: Tally,
    levels: readonly string[] | 'all' | undefined,
  ) {
    this.#connection = connection;
    this.#sql = connection.sql;
    this.#search = search;
    this.#tally = tally;
    const { terms } = search.compiled;
    const isAllButSome =
      terms?.kind === 'without' &&
      terms.of.kind === 'term' &&
      terms.of.term === flagTerm(search.tenant, 'all');
    this.#excluded = isAllButSome ? { kind: 'and', of: [terms.not, terms.of] } : undefined;
    this.#levels = levels ?? (isAllButSome ? 'all' : undefined);
  }

  /** Counts a part that the index decides; returns its end. */
  count(part: SqlitePart): number {
    if (!this.#levels || !this.#hasMinutes(part)) this.#countIndexed(part, this.#search.compiled.terms, 1);
    else {
      this.#countMinutes(part.partition, this.#levels);
      if (this.#excluded) this.#countIndexed(part, this.#excluded, -1);
    }
    return part.low;
  }

  /** Whether `minutes` has all of a partition that is asked for: then only rows at the ends of the time are read. */
  #hasMinutes({ partition }: SqlitePart): boolean {
    const { low, high } = this.#search.range;
    return this.#tally.isOfMinutes && low <= partition.firstRow && high >= partition.indexed;
  }

  #countMinutes(partition: Partition, levels: readonly string[] | 'all'): void {
    const { after, before, origin, bucketMs } = this.#tally.times;
    const [first, last] = [Math.ceil(after / minuteMs), Math.floor(before / minuteMs) - 1];
    // Numbers are bound as REAL, so this is no division of whole numbers.
    const counts = this.#sql
      .of<number[], LevelCount>(
        `SELECT floor((minute - ?) / ?) AS bucket, level, sum(count) AS count FROM minutes
         WHERE partition = ? AND tenant = ? AND minute BETWEEN ? AND ? GROUP BY 1, 2`,
      )
      .all(origin / minuteMs, bucketMs / minuteMs, partition.id, this.#search.tenant, first, last);
    for (const { bucket, level, count } of counts)
      if (levels === 'all' || levels.includes(level)) this.#tally.add(bucket, level, count);
    for (const minute of new Set([first - 1, last + 1])) this.#countRowsOf(minute, partition, levels);
  }

  /** Counts the rows of a minute of which the time asked for has a part. */
  #countRowsOf(minute: number, partition: Partition, levels: readonly string[] | 'all'): void {
    const { firstRow, indexed } = partition;
    // `+`: the end of the minute bounds the rows that are read, and not the end of the index.
    const rows = this.#sql
      .of<number[], { at: number; level: StoredText }>(
        `SELECT n.at, n.level FROM row_minutes m CROSS JOIN ${tablesOf(partition).log} n
           ON n.row >= m.row AND n.row < coalesce((SELECT min(o.row) FROM row_minutes o WHERE o.row > m.row), ?)
         WHERE m.row BETWEEN ? AND ? AND m.minute = ? AND +n.row <= ? AND +n.tenant = ? AND n.cleared IS NULL`,
      )
      .all(indexed + 1, firstRow, indexed, minute, indexed, this.#search.tenant);
    for (const row of rows) {
      const level = this.#connection.reader.text(row.level, partition);
      if (levels === 'all' || levels.includes(level)) this.#tally.addAt(row.at, level);
    }
  }

  /** Counts each row that an expression finds as so many. */
  #countIndexed({ partition, ...range }: SqlitePart, terms: TermExpression | undefined, each: 1 | -1): void {
    const rows = this.#search.find(partition, terms).last(Number.POSITIVE_INFINITY, range);
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
          if (count > 0) this.#tally.add(bucket as number, names[level] as string, count * each);
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
        if (bucket === 'several')
          this.#tally.addAt(this.#timeOf(partition, row), names[level] as string, each);
        else if (bucket !== 'none') counts[level] = (counts[level] as number) + 1;
      }
      flush();
    }
  }

  #levelChunks({ firstRow }: Partition, { low, high }: LogRange): Iterable<LevelChunk> {
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
  #minuteRuns({ firstRow }: Partition, { low, high }: LogRange) {
    return this.#sql
      .of<[number, number, number, number], { first: number; minute: number }>(
        `SELECT row AS first, minute FROM row_minutes
         WHERE row BETWEEN coalesce((SELECT max(row) FROM row_minutes WHERE row BETWEEN ? AND ?), ?) AND ? ORDER BY row`,
      )
      .all(firstRow, low, low, high);
  }

  #bucketOfMinute(minute: number): Bucket {
    const { after, before, origin, bucketMs } = this.#tally.times;
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
}
