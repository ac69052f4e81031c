/**
 * Counts the matches of a query by time and level, newest first and a step at a time, so that other searches need not wait
 * for the end of it. Where the index decides a query, numbers of rows are counted and no row is read: a row's time is known
 * from `row_minutes`, its level from the index too.
 */

import type { TenantId } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import type { CountTimes, LevelCount } from '#core/statistics.ts';
import {
  type CandidateRun,
  candidateRuns,
  liveRows,
  matchingRows,
  type PreparedQuery,
  placeOf,
  prepareQuery,
  type RowRange,
} from './candidates.ts';
import { type LevelsOfRows, rowsMatching } from './level-rows.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';
import type { RouteReader } from './routes.ts';

const minuteMs = 60_000;
const rowsALook = 256;

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

interface Counter {
  readonly sql: Statements;
  readonly routes: RouteReader;
  readonly levels: LevelsOfRows;
}

/** Counts until `isOver` says so, and at least something. */
export function countStep(
  { sql, routes, levels }: Counter,
  { tenant, query, request }: { tenant: TenantId; query: Query; request: CountRequest },
  isOver: () => boolean,
): CountStep {
  const { now, below, after, before } = request;
  const startedAt = performance.now();
  const timed: Query = {
    kind: 'and',
    terms: [...conjuncts(query), { kind: 'after', at: after }, { kind: 'before', at: before }],
  };
  const prepared = prepareQuery(sql, routes, { tenant, query: timed, range: { now } });
  if (!prepared) return { counts: [], below: null, searchedTo: null, tookMs: 0 };
  const asked = below === undefined ? prepared : { ...prepared, rows: upTo(prepared.rows, below - 1) };
  const { compiled } = prepared;
  const times = { ...request, after: compiled.after, before: compiled.before, levels: levelsAlone(query) };
  const counting = new Counting(sql, levels, asked, times);
  const stoppedAt = counting.run(now, isOver);
  const place = stoppedAt === undefined ? undefined : placeOf(sql, prepared, stoppedAt);
  return {
    counts: counting.tally.rows(),
    below: stoppedAt ?? null,
    searchedTo: stoppedAt === undefined ? null : (place?.at ?? now),
    tookMs: performance.now() - startedAt,
  };
}

const conjuncts = (query: Query) =>
  query.kind === 'and' ? query.terms : query.kind === 'all' ? [] : [query];

/** The levels that a query asks for when it asks for nothing else but times; `all` without any. */
function levelsAlone(query: Query): readonly string[] | 'all' | undefined {
  const [first, second] = conjuncts(query).filter(({ kind }) => kind !== 'after' && kind !== 'before');
  if (first === undefined) return 'all';
  return first.kind === 'level' && second === undefined ? first.names : undefined;
}

const upTo = ({ low, high }: RowRange, most: number): RowRange => ({ low, high: Math.min(high, most) });

interface Wanted extends CountTimes {
  readonly levels: readonly string[] | 'all' | undefined;
}

class Counting {
  readonly tally = new Tally();
  readonly #sql: Statements;
  readonly #levels: LevelsOfRows;
  readonly #query: PreparedQuery;
  readonly #times: Wanted;

  constructor(sql: Statements, levels: LevelsOfRows, query: PreparedQuery, times: Wanted) {
    this.#sql = sql;
    this.#levels = levels;
    this.#query = query;
    this.#times = times;
  }

  /** Answers the row at which it stopped: that one and those above are counted. */
  run(now: number, isOver: () => boolean): number | undefined {
    const live = liveRows(this.#sql, this.#query, now);
    if (live) {
      for (const row of live) if (this.#query.matches(row)) this.#add(row.at, row.level);
      return undefined;
    }
    for (const run of candidateRuns(this.#sql, this.#query)) {
      const stopped = this.#count(run, isOver);
      if (stopped !== undefined) return stopped;
      if (isOver() && run.range.low > this.#query.rows.low) return run.range.low;
    }
    return undefined;
  }

  #count(run: CandidateRun, isOver: () => boolean): number | undefined {
    if (run.indexed && this.#query.compiled.exact) {
      if (!this.#countMinutes(run)) this.#countIndexed(run);
      return undefined;
    }
    let scanned = 0;
    let stoppedAt: number | undefined;
    const onRow = ({ row }: { row: number }) => {
      scanned += 1;
      if (scanned % rowsALook === 0 && isOver()) stoppedAt = row + 1;
      return stoppedAt !== undefined;
    };
    for (const { at, level } of matchingRows(this.#sql, this.#query, run, onRow)) this.#add(at, level);
    return stoppedAt;
  }

  #countIndexed({ partition, range }: CandidateRun): void {
    const { tenant, match } = this.#query;
    const rows = rowsMatching(this.#sql, partition, match, range);
    if (rows.length === 0) return;
    const levels = this.#levels.of(this.#sql, tenant, partition);
    let next = 0;
    for (const { first, last, minute } of this.#minuteRuns(partition, range)) {
      const bucket = this.#bucketOfMinute(minute);
      for (; next < rows.length && (rows[next] as number) <= last; next++) {
        const row = rows[next] as number;
        if (row < first || bucket === 'none') continue;
        const level = levels.at(row);
        if (bucket === 'several') this.#add(this.#timeOf(partition, row), level);
        else this.tally.add(bucket, level, 1);
      }
    }
  }

  /** Counts a whole partition by what is known of its minutes; false when that does not suffice. */
  #countMinutes({ partition }: CandidateRun): boolean {
    const { tenant, rows } = this.#query;
    const { levels, bucketMs } = this.#times;
    const { id, firstRow, indexed } = partition;
    if (!levels || bucketMs < minuteMs || rows.low > firstRow || rows.high < indexed) return false;
    const counts = this.#sql
      .of<[number, number], { minute: number; level: string; count: number }>(
        'SELECT minute, level, count FROM minutes WHERE partition = ? AND tenant = ?',
      )
      .all(id, tenant);
    const cut = new Set<number>();
    for (const { minute, level, count } of counts) {
      const bucket = this.#bucketOfMinute(minute);
      if (bucket === 'several') cut.add(minute);
      else if (bucket !== 'none' && (levels === 'all' || levels.includes(level)))
        this.tally.add(bucket, level, count);
    }
    if (cut.size > 0) this.#countRowsOf(cut, partition, levels);
    return true;
  }

  /** Counts the rows of minutes that a bucket or the time asked for begins or ends in. */
  #countRowsOf(minutes: ReadonlySet<number>, partition: Partition, levels: readonly string[] | 'all'): void {
    const rows = this.#sql.of<[number, number, number], { at: number; level: string }>(
      `SELECT at, level FROM ${tablesOf(partition).log} WHERE row BETWEEN ? AND ? AND +tenant = ? AND cleared IS NULL`,
    );
    for (const { first, last, minute } of this.#minuteRuns(partition, { low: 0, high: partition.indexed })) {
      if (!minutes.has(minute)) continue;
      for (const { at, level } of rows.all(first, last, this.#query.tenant))
        if (levels === 'all' || levels.includes(level)) this.#add(at, level);
    }
  }

  /** Runs of rows that were received in one minute, in order. */
  #minuteRuns({ firstRow }: Partition, { low, high }: RowRange) {
    const starts = this.#sql
      .of<[number, number], { row: number; minute: number }>(
        'SELECT row, minute FROM row_minutes WHERE row BETWEEN ? AND ? ORDER BY row',
      )
      .all(firstRow, high);
    return starts
      .map(({ row, minute }, i) => ({ first: row, last: (starts[i + 1]?.row ?? high + 1) - 1, minute }))
      .filter(({ last }) => last >= low);
  }

  /** The one bucket in which all of a minute lies; `several`: a row's own time decides. */
  #bucketOfMinute(minute: number): number | 'none' | 'several' {
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

  #add(at: number, level: string): void {
    const { after, before, origin, bucketMs } = this.#times;
    if (at >= after && at < before) this.tally.add(Math.floor((at - origin) / bucketMs), level, 1);
  }
}

/** Counts by bucket and level. */
export class Tally {
  readonly #counts = new Map<string, Map<number, number>>();

  add(bucket: number, level: string, count: number): void {
    let buckets = this.#counts.get(level);
    if (!buckets) {
      buckets = new Map();
      this.#counts.set(level, buckets);
    }
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + count);
  }

  rows(): LevelCount[] {
    return [...this.#counts].flatMap(([level, buckets]) =>
      [...buckets].map(([bucket, count]) => ({ bucket, level, count })),
    );
  }
}
