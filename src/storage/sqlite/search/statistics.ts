/**
 * Counts the matches of a query by time and level, newest first. Where the index decides a query, no row is read: `row_minutes`
 * has the minute of each row, and the index has the rows of each level.
 */

import { isSearchedField, searchedValues } from '#contract/history/fields.ts';
import { labelStart } from '#contract/history/labels.ts';
import { resultOf } from '#core/limits/concurrency.ts';
import type { Notification } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import type { BusyHost, CountTimes, LevelCount, WantedValues } from '#core/log/statistics.ts';
import type { StoreTerms } from '#core/search/search-compile.ts';
import type { Query } from '#core/search/search-query.ts';
import {
  type CountPart,
  countInSteps,
  type LogRange,
  minuteMs,
  sortedValues,
  Tally,
  type TermRange,
  timer,
  typedPrefix,
  valueRanges,
  valuesMs,
  wantedValues,
  wantsLabelNames,
  withTimes,
} from '../../search/log-search.ts';
import type { RowSet } from '../../search/row-set.ts';
import { entriesFrom } from '../log/log-lookup.ts';
import { bounds } from '../log/log-reader.ts';
import { type Partition, readNewest, readPartitions, type Statements, tablesOf } from '../log/partitions.ts';
import { entryColumns, type LogConnection, type NotificationRow } from '../log/rows.ts';
import { type SqlitePart, SqliteSearch } from './search.ts';

/** A count needs all rows: reading these sets for a partition is faster than testing each row. */
const ofCounts: StoreTerms = { later: ['live', 'cleared', 'acknowledged', 'shown'], patterns: true };

/** How many rows' exact times are read at once: some 10 ms. */
const timesAtOnce = 10_000;

export interface CountRequest extends CountTimes {
  readonly now: number;
  /** Only positions below this one are left to count. */
  readonly next?: number;
  readonly timeoutMs?: number;
  /** `store` of the previous step, if there was one. */
  readonly store?: StoreTerms;
}

export interface CountStep extends CountPart {
  readonly counts: readonly LevelCount[];
  readonly tookMs: number;
  /** For the next step, so that it does not try again what took too long. */
  readonly store: StoreTerms;
}

/** Counts until `isOver` returns true. Each call makes progress. */
export async function countStep(
  connection: LogConnection,
  { tenant, query, request }: { tenant: TenantId; query: Query; request: CountRequest },
  isOver = timer(request.timeoutMs),
): Promise<CountStep> {
  const startedAt = performance.now();
  const { now, next, store = ofCounts } = request;
  const scope = { now, isOver, store, ...(next !== undefined && { before: next }) };
  const search = new SqliteSearch(connection, tenant, withTimes(query, request), scope);
  const { after, before } = search.compiled;
  const tally = new Tally({ ...request, after, before });
  const counter = new Counter(connection.sql, search, tally);
  const part = await resultOf(countInSteps(search, tally, (each) => counter.count(each), isOver));
  const tookMs = performance.now() - startedAt;
  return { ...part, counts: tally.rows(), store: search.store, tookMs };
}

/** The bucket that contains the whole minute; `none`: outside all buckets; `several`: the exact time of a row decides. */
type Bucket = number | 'none' | 'several';

/** Consecutive rows of one bucket, which begin with `first`. */
interface BucketRun {
  readonly first: number;
  readonly bucket: Bucket;
}

/** The rows of a partition that the terms find, and those of each level; undefined: the terms do not decide. */
interface FoundRows {
  readonly partition: Partition;
  readonly rows: RowSet | undefined;
  readonly levels: ReadonlyMap<string, RowSet>;
}

class Counter {
  readonly #sql: Statements;
  readonly #search: SqliteSearch;
  readonly #tally: Tally;
  #found: FoundRows | undefined;

  constructor(sql: Statements, search: SqliteSearch, tally: Tally) {
    this.#sql = sql;
    this.#search = search;
    this.#tally = tally;
  }

  /** Counts the newest rows of a part; returns the lowest row that it counted. undefined: the index does not decide the part. */
  count({ partition, ...part }: SqlitePart): number | undefined {
    if (this.#found?.partition !== partition) this.#found = { partition, ...this.#search.find(partition) };
    const { rows, levels } = this.#found;
    if (!rows || rows.isEmpty) return rows && part.low;
    const runs = this.#bucketRuns(partition, part);
    const lowest = endOfTimes(rows, runs, part);
    let { high } = part;
    for (const { first, bucket } of runs.toReversed()) {
      const range = { low: Math.max(first, lowest), high };
      high = first - 1;
      if (range.low > range.high || bucket === 'none') continue;
      if (bucket === 'several') this.#countTimes(partition, rows.last(timesAtOnce, range), levels);
      else
        for (const [level, ofLevel] of levels)
          this.#tally.add(bucket, level, rows.countShared(ofLevel, range));
    }
    return lowest;
  }

  /** Counts rows by their exact times. */
  #countTimes(partition: Partition, rows: readonly number[], levels: FoundRows['levels']): void {
    for (const [row, at] of this.#timesOf(partition, rows))
      for (const [level, ofLevel] of levels) if (ofLevel.has(row)) this.#tally.addAt(at, level);
  }

  /** The rows at which a bucket begins, in order. The first bucket contains `low`. */
  #bucketRuns({ firstRow }: Partition, { low, high }: LogRange): BucketRun[] {
    const runs: BucketRun[] = [];
    // One JSON text is read in half the time of single rows.
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

/** The lowest row of a range to count in one step: it ends after `timesAtOnce` exact times are read, so that others get a turn. */
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

/** The overview's reads of the log. */

/** Entries read for the busiest hosts: some 20 ms. */
const newestEntries = 10_000;

/** The most frequent hosts since `from` among the newest entries, the most frequent first. */
export function busiestHosts(
  connection: LogConnection,
  tenant: TenantId,
  from: number,
  limit: number,
): BusyHost[] {
  const { sql, reader } = connection;
  const hosts = new Map<string, { host: string; count: number; level: string; rank: number }>();
  const { head, first } = bounds(connection, tenant);
  const range = { tenant, from: Math.max(first, head + 1 - newestEntries), limit: newestEntries };
  const read = entriesFrom<Pick<NotificationRow, 'host' | 'level' | 'rank' | 'at' | 'cleared'>>(
    sql,
    range,
    'n.host, n.level, n.rank, n.at, n.cleared',
  );
  for (const { partition, rows } of read) {
    for (const { rank, at, cleared, ...row } of rows) {
      if (cleared !== null) continue;
      const host = reader.text(row.host, partition);
      if (host === null || at < from) continue;
      const level = reader.text(row.level, partition);
      const known = hosts.get(host.toLowerCase());
      if (!known) hosts.set(host.toLowerCase(), { host, count: 1, level, rank });
      else {
        known.count += 1;
        if (rank > known.rank) Object.assign(known, { host, level, rank });
      }
    }
  }
  return [...hosts.entries()]
    .sort(([a, one], [b, other]) => other.count - one.count || (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([, { host, count, level }]) => ({ host, count, level }));
}

/** The values of a field in the log, for the completion of a search. */

/** The first values of a field that start with `prefix`, in order. */
export function fieldValues(connection: LogConnection, tenant: TenantId, wanted: WantedValues): string[] {
  const { sql } = connection;
  const { field, limit } = wanted;
  const prefix = typedPrefix(wanted);
  const ranges = valueRanges(tenant, wanted);
  const until = performance.now() + valuesMs;
  const found = new Set<string>();
  for (const notification of readUnindexedNotifications(connection, tenant)) {
    const values = isSearchedField(field)
      ? searchedValues(field, notification)
      : [notification[field === 'source' ? 'sourceIp' : field]];
    for (const value of values)
      if (value?.startsWith(prefix)) found.add(wantsLabelNames(wanted) ? labelStart(value) : value);
  }
  for (const partition of readPartitions(sql)) {
    let values: string[] = [];
    for (const range of ranges) {
      if (values.length < limit)
        values = values.concat(wantedValues(termsBetween(sql, partition, range), wanted));
    }
    for (const value of values) found.add(value);
    if (performance.now() > until) break;
  }
  return sortedValues(found, field).slice(0, limit);
}

/** The tenant's notifications that are not indexed yet. */
function readUnindexedNotifications({ sql, reader }: LogConnection, tenant: TenantId): Notification[] {
  const partition = readNewest(sql);
  // `+`: SQLite must not use the index on the tenant, which covers the whole partition. The range of rows is short.
  return sql
    .of<[number, number], NotificationRow>(
      `SELECT ${entryColumns} FROM ${tablesOf(partition).log} n WHERE row > ? AND +tenant = ? AND cleared IS NULL`,
    )
    .all(partition.indexed, tenant)
    .map((row) => reader.notification(row, partition));
}

function termsBetween(sql: Statements, partition: Partition, { from, upTo, limit }: TermRange): string[] {
  const { terms } = tablesOf(partition);
  sql.db.exec(
    `CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary_${terms} USING fts5vocab(main, ${terms}, 'row')`,
  );
  return sql
    .of<[string, string, number], { term: string }>(
      `SELECT term FROM temp.vocabulary_${terms} WHERE term >= ? AND term <= ? ORDER BY term LIMIT ?`,
    )
    .all(from, upTo, limit)
    .map(({ term }) => term);
}
