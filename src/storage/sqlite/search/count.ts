/**
 * Counts the matches of a query by time and level, newest first and a step at a time, so that other searches need not wait
 * for the end of it. Where the index decides a query, numbers of rows are counted and no row is read: `row_minutes` has the
 * minute of each row, and `row_levels` its level.
 */

import type { TenantId } from '#core/ports.ts';
import type { StoreTerms } from '#core/search/search-compile.ts';
import type { Query } from '#core/search/search-query.ts';
import type { CountTimes, LevelCount } from '#core/statistics.ts';
import { minuteMs, Tally, withTimes } from '../../counting.ts';
import { resultOf } from '../../fair-queue.ts';
import { type CountPart, countInSteps, type LogRange, timer } from '../../log-search.ts';
import type { RowSet } from '../../row-set.ts';
import { type Partition, type Statements, tablesOf } from '../log/partitions.ts';
import type { LogConnection } from '../log/rows.ts';
import { openSearch, type SqlitePart, type SqliteSearch } from './search.ts';

/** A count needs all rows: reading these sets for a partition is faster than testing each row. */
const ofCounts: StoreTerms = { later: ['live', 'cleared', 'acknowledged', 'shown'], patterns: true };

/** Rows whose own times are read at once: some 10 ms. */
const timesAtOnce = 10_000;

export interface CountRequest extends CountTimes {
  readonly now: number;
  /** Only positions below this one are left to count. */
  readonly next?: number;
  readonly timeoutMs?: number;
  /** That of the step before, if there was one. */
  readonly store?: StoreTerms;
}

export interface CountStep extends CountPart {
  readonly counts: readonly LevelCount[];
  readonly tookMs: number;
  /** For the next step, so that it does not try again what took too long. */
  readonly store: StoreTerms;
}

/** Counts until `isOver` says so, and at least something. */
export async function countStep(
  connection: LogConnection,
  { tenant, query, request }: { tenant: TenantId; query: Query; request: CountRequest },
  isOver = timer(request.timeoutMs),
): Promise<CountStep> {
  const startedAt = performance.now();
  const { now, next, store = ofCounts } = request;
  const scope = { now, isOver, store, ...(next !== undefined && { before: next }) };
  const search = openSearch(connection, tenant, withTimes(query, request), scope);
  if (!search) return { counts: [], next: null, searchedTo: null, store, tookMs: 0 };
  const { after, before } = search.compiled;
  const tally = new Tally({ ...request, after, before });
  const counter = new Counter(connection.sql, search, tally);
  const part = await resultOf(countInSteps(search, tally, (each) => counter.count(each), isOver));
  const tookMs = performance.now() - startedAt;
  return { ...part, counts: tally.rows(), store: search.store, tookMs };
}

/** The levels of rows from `row` on: a number in `names` for each of them. */
interface LevelChunk {
  readonly row: number;
  readonly names: readonly string[];
  readonly levels: Buffer;
}

/** The one bucket in which all of a minute lies; `several`: a row's own time decides. */
type Bucket = number | 'none' | 'several';

/** Rows from `first` on that are in one bucket. */
interface BucketRun {
  readonly first: number;
  readonly bucket: Bucket;
}

class Counter {
  readonly #sql: Statements;
  readonly #search: SqliteSearch;
  readonly #tally: Tally;
  #found: { readonly partition: Partition; readonly rows: RowSet | undefined } | undefined;

  constructor(sql: Statements, search: SqliteSearch, tally: Tally) {
    this.#sql = sql;
    this.#search = search;
    this.#tally = tally;
  }

  /** Counts the newest rows of a part; returns the last one that is counted. undefined: the index does not decide it. */
  count({ partition, ...part }: SqlitePart): number | undefined {
    const rows = this.#find(partition);
    if (!rows || rows.isEmpty) return rows && part.low;
    const runs = this.#bucketRuns(partition, part);
    const range = { low: endOfTimes(rows, runs, part), high: part.high };
    let run = 0;
    for (const chunk of this.#levelChunks(partition, range)) {
      const last = Math.min(chunk.row + chunk.levels.length - 1, range.high);
      for (let low = Math.max(chunk.row, range.low), high = 0; low <= last; low = high + 1) {
        while ((runs[run + 1]?.first ?? Number.POSITIVE_INFINITY) <= low) run += 1;
        high = Math.min(last, (runs[run + 1]?.first ?? Number.POSITIVE_INFINITY) - 1);
        this.#countRun(partition, { low, high }, { rows, chunk, bucket: runs[run]?.bucket ?? 'none' });
      }
    }
    return range.low;
  }

  /** The rows of a partition that the terms find. */
  #find(partition: Partition): RowSet | undefined {
    if (this.#found?.partition !== partition) this.#found = { partition, rows: this.#search.find(partition) };
    return this.#found.rows;
  }

  /** Counts the rows of a range, all in one bucket, of which `chunk` has the levels. */
  #countRun(
    partition: Partition,
    range: LogRange,
    { rows, chunk, bucket }: { readonly rows: RowSet; readonly chunk: LevelChunk; readonly bucket: Bucket },
  ): void {
    const { row: first, names, levels } = chunk;
    if (bucket === 'none') return;
    if (bucket === 'several') {
      for (const [row, at] of this.#timesOf(partition, rows.last(timesAtOnce, range)))
        this.#tally.addAt(at, names[levels[row - first] as number] as string);
      return;
    }
    const counts = names.map(() => 0);
    rows.forEach(range, (row) => {
      const level = levels[row - first] as number;
      counts[level] = (counts[level] as number) + 1;
    });
    for (let level = 0; level < counts.length; level++) {
      const count = counts[level] as number;
      if (count > 0) this.#tally.add(bucket, names[level] as string, count);
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

  /** Where in the rows a bucket begins, in order, from the one on that `low` is in. */
  #bucketRuns({ firstRow }: Partition, { low, high }: LogRange): BucketRun[] {
    const runs: BucketRun[] = [];
    // As JSON they are read in half the time.
    const found = this.#sql
      .of<[number, number, number, number], { rows: string; minutes: string }>(
        `SELECT json_group_array(row) AS rows, json_group_array(minute) AS minutes FROM (SELECT row, minute FROM row_minutes
         WHERE row BETWEEN coalesce((SELECT max(row) FROM row_minutes WHERE row BETWEEN ? AND ?), ?) AND ? ORDER BY row)`,
      )
      .get(firstRow, low, low, high);
    const rows = JSON.parse(found?.rows ?? '[]') as number[];
    const minutes = JSON.parse(found?.minutes ?? '[]') as number[];
    let last: Bucket | undefined;
    for (let i = 0; i < rows.length; i++) {
      const bucket = this.#bucketOfMinute(minutes[i] as number);
      if (bucket !== last) runs.push({ first: rows[i] as number, bucket });
      last = bucket;
    }
    return runs;
  }

  #bucketOfMinute(minute: number): Bucket {
    const { after, before, origin, bucketMs } = this.#tally.times;
    const [first, last] = [minute * minuteMs, minute * minuteMs + minuteMs - 1];
    if (last < after || first >= before) return 'none';
    if (first < after || last >= before) return 'several';
    const bucket = Math.floor((first - origin) / bucketMs);
    return bucket === Math.floor((last - origin) / bucketMs) ? bucket : 'several';
  }

  /** Rows with their times. */
  #timesOf(partition: Partition, rows: readonly number[]): [row: number, at: number][] {
    if (rows.length === 0) return [];
    const found = this.#sql
      .of<[string], { times: string }>(
        `SELECT json_group_array(json_array(row, at)) AS times FROM ${tablesOf(partition).log}
         WHERE row IN (SELECT value FROM json_each(?))`,
      )
      .get(`[${rows.join()}]`);
    return JSON.parse(found?.times ?? '[]');
  }
}

/** The row down to which a range is counted at once: after so many rows whose own times are read, others may have a turn. */
function endOfTimes(rows: RowSet, runs: readonly BucketRun[], { low, high }: LogRange): number {
  let left = timesAtOnce;
  let last = high;
  for (const { first, bucket } of runs.toReversed()) {
    const found = bucket === 'several' ? rows.last(left, { low: Math.max(first, low), high: last }) : [];
    left -= found.length;
    if (left === 0) return found[0] as number;
    last = first - 1;
  }
  return low;
}
