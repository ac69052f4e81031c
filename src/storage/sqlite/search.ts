/** Searches of the log on one connection. Each must run inside a transaction, so that nothing changes during it. */
import type { HistoryRecord, SearchOptions, SearchPage, TenantId } from '#core/ports.ts';
import { type CompiledQuery, compileQuery } from '#core/search/search-compile.ts';
import { type Matcher, matcherOf } from '#core/search/search-evaluate.ts';
import type { Query } from '#core/search/search-query.ts';
import { resultOf } from '../fair-queue.ts';
import { acknowledgedColumns, acknowledgedJoin, toAcknowledged, toCleared } from '../history-rows.ts';
import {
  emptyPage,
  type LogPart,
  type LogPlace,
  type LogRange,
  type LogSearch,
  type StateRow,
  searchInSteps,
  timer,
  toSearchable,
} from '../log-search.ts';
import { findById, rowAtOrAfter } from './log-lookup.ts';
import { lastRowOf, type Partition, readPartitions, type Statements, tablesOf } from './partitions.ts';
import { finite, matchExpression, numbersIn, rowsInTimes, rowsMatching } from './row-numbers.ts';
import { entryColumns, type NotificationRow, type RowReader } from './rows.ts';

/** With more notifications on panels than this, "is:live" is answered from the index like any other search. */
const mostLiveRows = 50_000;
/** Rows read at once by their numbers. */
const rowsAtOnce = 64;
/** The time is checked after so many rows. */
const rowsACheck = 256;
/** The index narrows what is live where it finds fewer than this many times as many rows. */
const mostFoundPerLive = 4;

/** What reads the log on one connection. */
export interface LogConnection {
  readonly sql: Statements;
  readonly reader: RowReader;
}

export interface StoredRow extends NotificationRow, StateRow {}

/** Rows of one partition. */
export interface SqlitePart extends LogPart {
  readonly partition: Partition;
  readonly isIndexed: boolean;
  /** Those of them that are on panels, in ascending order; undefined if others may match too. */
  readonly live: Float64Array | undefined;
}

interface SearchScope extends Pick<SearchOptions, 'now' | 'before' | 'after'> {
  readonly isOver: () => boolean;
}

export class SqliteSearch implements LogSearch<SqlitePart, StoredRow> {
  readonly head: number;
  readonly range: LogRange;
  readonly compiled: CompiledQuery;
  /** {@link CompiledQuery.terms} for FTS5. */
  readonly match: string;
  readonly tenant: TenantId;
  readonly #connection: LogConnection;
  readonly #sql: Statements;
  readonly #partitions: readonly Partition[];
  readonly #matches: Matcher;
  readonly #live: Float64Array | undefined;
  readonly #isOver: () => boolean;
  #looked = 0;

  constructor(
    connection: LogConnection,
    log: { readonly tenant: TenantId; readonly head: number; readonly firstRow: number },
    query: Query,
    { now, before, after, isOver }: SearchScope,
  ) {
    const { sql } = connection;
    const { tenant, head, firstRow } = log;
    this.#connection = connection;
    this.#sql = sql;
    this.tenant = tenant;
    this.head = head;
    const end = before === undefined ? undefined : rowAtOrAfter(sql, tenant, before);
    const isEmpty = after !== undefined && after >= head;
    const begin = after === undefined || isEmpty ? undefined : rowAtOrAfter(sql, tenant, after + 1);
    this.range = {
      low: isEmpty ? Number.MAX_SAFE_INTEGER : Math.max(firstRow, begin ?? 0),
      high: (end ?? Number.MAX_SAFE_INTEGER) - 1,
    };
    this.#partitions = readPartitions(sql);
    this.compiled = compileQuery(query, tenant);
    this.match = matchExpression(this.compiled.terms);
    this.#matches = matcherOf(query, now);
    this.#live = this.compiled.live ? liveRows(sql, tenant, now) : undefined;
    this.#isOver = isOver;
  }

  *parts(): Iterable<SqlitePart> {
    for (const partition of this.#partitions) {
      const low = Math.max(this.range.low, partition.firstRow);
      const high = Math.min(this.range.high, lastRowOf(partition));
      const unindexed = { low: Math.max(low, partition.indexed + 1), high };
      const indexed = { low, high: Math.min(high, partition.indexed) };
      if (partition.lastRow === null) yield* this.#part(partition, false, unindexed);
      if (low <= indexed.high)
        yield* this.#part(partition, true, rowsInTimes(this.#sql, partition, this.compiled, indexed));
    }
  }

  look(part: SqlitePart, take: (row: StoredRow) => boolean): number {
    for (const row of this.#rows(part)) {
      this.#looked += 1;
      if (this.#looked % rowsACheck === 0 && this.#isOver()) return row.row + 1;
      if (!take(row)) return row.row;
    }
    return part.low;
  }

  matches(row: StoredRow, { partition }: SqlitePart): boolean {
    return this.#matches(toSearchable(this.#connection.reader.notification(row, partition), row));
  }

  levelOf(row: StoredRow, { partition }: SqlitePart): string {
    return this.#connection.reader.text(row.level, partition);
  }

  toRecord(row: StoredRow, { partition }: SqlitePart): HistoryRecord {
    return toRecord(this.#connection, row, partition);
  }

  placeAt(row: number): LogPlace | undefined {
    for (const partition of this.#partitions.toReversed()) {
      if (lastRowOf(partition) < row) continue;
      const found = this.#sql
        .of<[number, number, number], LogPlace>(
          `SELECT position, at FROM ${tablesOf(partition).log} WHERE row BETWEEN ? AND ? AND +tenant = ? ORDER BY row LIMIT 1`,
        )
        .get(row, this.range.high, this.tenant);
      if (found) return found;
    }
    return undefined;
  }

  *#part(partition: Partition, isIndexed: boolean, range: LogRange): Iterable<SqlitePart> {
    if (range.low > range.high) return;
    const live = this.#live && within(this.#live, range);
    if (live?.length === 0) return;
    yield { ...range, partition, isIndexed, live, isExact: isIndexed && this.compiled.exact };
  }

  #rows(part: SqlitePart): Iterable<StoredRow> {
    const { partition, isIndexed, live } = part;
    if (live) return this.#rowsNumbered(partition, isIndexed ? this.#narrowed(part, live) : live);
    const { log, terms } = tablesOf(partition);
    // `+`: not by the index on the tenant, which has all of the partition.
    const ofQuery = '+n.tenant = ? AND n.cleared IS NULL AND n.at >= ? AND n.at < ?';
    const values = [this.tenant, finite(this.compiled.after), finite(this.compiled.before)];
    // Whole numbers as such: FTS5 would not narrow its search by others.
    const rows = [BigInt(part.low), BigInt(part.high)];
    if (!isIndexed) {
      const where = `WHERE n.row BETWEEN ? AND ? AND ${ofQuery} ORDER BY n.row DESC`;
      return this.#sql
        .of<unknown[], StoredRow>(selectRows(partition, `${log} n`, where))
        .iterate(...rows, ...values);
    }
    const from = `${terms} t CROSS JOIN ${log} n ON n.row = t.rowid`;
    const where = `WHERE t.${terms} MATCH ? AND t.rowid BETWEEN ? AND ? AND ${ofQuery} ORDER BY t.rowid DESC`;
    return this.#sql
      .of<unknown[], StoredRow>(selectRows(partition, from, where))
      .iterate(this.match, ...rows, ...values);
  }

  /** The live rows that the index finds too; all live rows if it finds so many that it would exclude few. */
  #narrowed({ partition, low, high }: SqlitePart, live: Float64Array): Float64Array {
    if (live.length <= rowsAtOnce) return live;
    const limit = live.length * mostFoundPerLive;
    const found = rowsMatching(this.#sql, partition, this.match, { low, high, limit });
    if (found.length === limit) return live;
    const both = new Set(found);
    return live.filter((row) => both.has(row));
  }

  *#rowsNumbered(partition: Partition, numbers: Float64Array): Iterable<StoredRow> {
    const where = 'WHERE n.row IN (SELECT value FROM json_each(?)) ORDER BY n.row DESC';
    const read = this.#sql.of<[string], StoredRow>(
      selectRows(partition, `${tablesOf(partition).log} n`, where),
    );
    for (let end = numbers.length; end > 0; end -= rowsAtOnce)
      yield* read.all(`[${numbers.subarray(Math.max(0, end - rowsAtOnce), end).join()}]`);
  }
}

/** undefined: the tenant has no log. */
export function openSearch(
  connection: LogConnection,
  tenant: TenantId,
  query: Query,
  scope: SearchScope,
): SqliteSearch | undefined {
  const log = connection.sql
    .of<[number], { tenant: number; head: number; firstRow: number }>(
      'SELECT tenant, head, first_row AS firstRow FROM logs WHERE tenant = ?',
    )
    .get(tenant);
  return log && new SqliteSearch(connection, log, query, scope);
}

/** The newest matches of a query: what was committed before the call is found, indexed or not. */
export async function searchPage(
  connection: LogConnection,
  { tenant, query, options }: { tenant: TenantId; query: Query; options: SearchOptions },
  isOver = timer(options.timeoutMs),
): Promise<SearchPage> {
  const search = openSearch(connection, tenant, query, { ...options, isOver });
  return search ? resultOf(searchInSteps(search, options, isOver)) : emptyPage;
}

/** The tenant's notification with this id; undefined when there is none. */
export function findRecord(
  connection: LogConnection,
  tenant: TenantId,
  id: string,
): HistoryRecord | undefined {
  const found = findById(connection.sql, tenant, id);
  if (!found) return undefined;
  const { partition } = found;
  const select = selectRows(partition, `${tablesOf(partition).log} n`, 'WHERE n.row = ?');
  const row = connection.sql.of<[number], StoredRow>(select).get(found.row);
  return row && toRecord(connection, row, partition);
}

function toRecord({ sql, reader }: LogConnection, row: StoredRow, partition: Partition): HistoryRecord {
  const notification = reader.notification(row, partition);
  const { tokenId } = notification;
  const token = sql
    .of<[number, string], { name: string }>('SELECT name FROM credentials WHERE tenant = ? AND id = ?')
    .get(row.tenant, tokenId);
  const receipts = sql
    .of<[number], HistoryRecord['receipts']>(
      `SELECT count(shown_at) AS shown, count(expired_at) AS expired, count(cleared_at) AS cleared
       FROM ${tablesOf(partition).receipts} WHERE row = ?`,
    )
    .get(row.row);
  return {
    ...notification,
    // A token's record outlives the token; should it be missing all the same, its id still tells senders apart.
    tokenName: token?.name ?? tokenId,
    cleared: toCleared(row),
    acknowledged: toAcknowledged(row),
    receipts: receipts ?? { shown: 0, expired: 0, cleared: 0 },
  };
}

/** A statement on rows of a log `n`. */
function selectRows(partition: Partition, from: string, where: string): string {
  const { state, receipts } = tablesOf(partition);
  return `SELECT ${entryColumns}, s.cleared_at, s.cleared_by, s.cleared_reason, ${acknowledgedColumns},
      (SELECT count(shown_at) FROM ${receipts} r WHERE r.row = n.row) AS shown
    FROM ${from} LEFT JOIN ${state} s ON s.row = n.row ${acknowledgedJoin} ${where}`;
}

/** In ascending order; undefined: there are too many. */
function liveRows(sql: Statements, tenant: TenantId, now: number): Float64Array | undefined {
  const rows = sql
    .of<[number, number, number], { text: string | null }>(
      `SELECT group_concat(row) AS text FROM (
         SELECT row FROM live WHERE tenant = ? AND (expires_at IS NULL OR expires_at > ?) LIMIT ?)`,
    )
    .get(tenant, now, mostLiveRows + 1);
  const live = numbersIn(rows?.text ?? '', 0).sort();
  return live.length > mostLiveRows ? undefined : live;
}

/** The numbers of a sorted list that lie in a range. */
function within(numbers: Float64Array, { low, high }: LogRange): Float64Array {
  const first = numbers.findIndex((number) => number >= low);
  if (first < 0) return numbers.subarray(0, 0);
  return numbers.subarray(first, numbers.findLastIndex((number) => number <= high) + 1);
}
