/** Searches of the log on one connection. Each must run inside a transaction, so that nothing changes during it. */
import type { HistoryRecord, SearchOptions, SearchPage, TenantId } from '#core/ports.ts';
import { type CompiledQuery, compileQuery, type TermExpression } from '#core/search/search-compile.ts';
import { type Matcher, matcherOf } from '#core/search/search-evaluate.ts';
import type { Query } from '#core/search/search-query.ts';
import { resultOf } from '../fair-queue.ts';
import { toAcknowledged, toCleared } from '../history-rows.ts';
import {
  emptyPage,
  type LogPart,
  type LogPlace,
  type LogRange,
  type LogSearch,
  searchInSteps,
  timer,
} from '../log-search.ts';
import { findById, rowAtOrAfter } from './log-lookup.ts';
import { lastRowOf, type Partition, readPartitions, type Statements, tablesOf } from './partitions.ts';
import { finite, rowsInTimes } from './row-minutes.ts';
import { RowSet } from './row-set.ts';
import { entryColumns, type LogConnection, type NotificationRow } from './rows.ts';
import { readState, SearchableRow } from './searchable-row.ts';
import { TermIndex } from './term-index.ts';

/** With more notifications on panels than this, "is:live" is answered from the index like any other search. */
const mostLiveRows = 50_000;
/** Rows read at once by their numbers. */
const rowsAtOnce = 64;
/** The time is checked after so many rows. */
const rowsACheck = 256;

/** Rows of one partition. */
export interface SqlitePart extends LogPart {
  readonly partition: Partition;
  readonly isIndexed: boolean;
}

interface SearchScope extends Pick<SearchOptions, 'now' | 'before' | 'after'> {
  readonly isOver: () => boolean;
}

export class SqliteSearch implements LogSearch<SqlitePart, NotificationRow> {
  readonly head: number;
  readonly range: LogRange;
  readonly compiled: CompiledQuery;
  readonly tenant: TenantId;
  readonly #connection: LogConnection;
  readonly #sql: Statements;
  readonly #partitions: readonly Partition[];
  readonly #matches: Matcher;
  /** The rows that are on panels, if that makes notifications match; undefined also if there are too many. */
  readonly #live: readonly number[] | undefined;
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
    this.#matches = matcherOf(query, now);
    const { terms, termsUnlessLive } = this.compiled;
    this.#live = terms === termsUnlessLive ? undefined : liveRows(sql, tenant, now);
    this.#isOver = isOver;
  }

  *parts(): Iterable<SqlitePart> {
    if (!this.compiled.terms) return;
    for (const partition of this.#partitions) {
      const low = Math.max(this.range.low, partition.firstRow);
      const high = Math.min(this.range.high, lastRowOf(partition));
      const unindexed = { low: Math.max(low, partition.indexed + 1), high };
      const indexed = { low, high: Math.min(high, partition.indexed) };
      const isExact = this.compiled.exact;
      if (partition.lastRow === null && unindexed.low <= high)
        yield { ...unindexed, partition, isIndexed: false, isExact: false };
      if (low > indexed.high) continue;
      const inTimes = rowsInTimes(this.#sql, partition, this.compiled, indexed);
      if (inTimes.low <= inTimes.high) yield { ...inTimes, partition, isIndexed: true, isExact };
    }
  }

  look(part: SqlitePart, take: (row: NotificationRow) => boolean): number {
    for (const row of this.#rows(part)) {
      this.#looked += 1;
      if (this.#looked % rowsACheck === 0 && this.#isOver()) return row.row + 1;
      if (!take(row)) return row.row;
    }
    return part.low;
  }

  matches(row: NotificationRow, { partition }: SqlitePart): boolean {
    return this.#matches(new SearchableRow(this.#connection, row, partition));
  }

  levelOf(row: NotificationRow, { partition }: SqlitePart): string {
    return this.#connection.reader.text(row.level, partition);
  }

  toRecord(row: NotificationRow, { partition }: SqlitePart): HistoryRecord {
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

  /** The rows of a partition that terms find. */
  find(partition: Partition, terms: TermExpression | undefined): RowSet {
    return terms ? new TermIndex(this.#sql, partition, this.tenant).find(terms) : new RowSet(partition);
  }

  /** All matches of an indexed part, and maybe other rows: all of them are, if the terms decide the query and `isCut` is false. */
  #found({ partition, low, high }: SqlitePart): { readonly rows: RowSet; readonly isCut: boolean } {
    const { terms, termsUnlessLive } = this.compiled;
    const index = new TermIndex(this.#sql, partition, this.tenant);
    const all = RowSet.all(partition);
    const rows = termsUnlessLive ? index.narrow(all, termsUnlessLive) : new RowSet(partition);
    if (!this.#live || !terms) return { rows, isCut: index.isCut };
    const live = new RowSet(partition);
    for (const row of this.#live) if (row >= low && row <= high) live.add(row);
    return { rows: rows.addAll(index.narrow(live, terms)), isCut: index.isCut };
  }

  *#rows(part: SqlitePart): Iterable<NotificationRow> {
    const { partition, low, isIndexed } = part;
    const { log } = tablesOf(partition);
    const inTimes = 'n.at >= ? AND n.at < ? ORDER BY n.row DESC';
    const times = [finite(this.compiled.after), finite(this.compiled.before)] as const;
    if (!isIndexed) {
      // `+`: not by the index on the tenant, which has all of the partition.
      const where = `WHERE n.row BETWEEN ? AND ? AND +n.tenant = ? AND n.cleared IS NULL AND ${inTimes}`;
      const read = this.#sql.of<number[], NotificationRow>(selectRows(log, where));
      return yield* read.iterate(low, part.high, this.tenant, ...times);
    }
    // `narrow` finds any entry of the partition where the query asks for all.
    const where = `WHERE n.row IN (SELECT value FROM json_each(?)) AND +n.tenant = ? AND n.cleared IS NULL AND ${inTimes}`;
    const read = this.#sql.of<[string, ...number[]], NotificationRow>(selectRows(log, where));
    const { rows, isCut } = this.#found(part);
    let { high } = part;
    for (;;) {
      const numbers = rows.last(rowsAtOnce, { low, high });
      if (numbers.length === 0) return;
      const found = read.all(`[${numbers.join()}]`, this.tenant, ...times);
      yield* isCut && part.isExact ? found.filter((row) => this.matches(row, part)) : found;
      high = (numbers[0] as number) - 1;
    }
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
  const select = selectRows(tablesOf(partition).log, 'WHERE n.row = ?');
  const row = connection.sql.of<[number], NotificationRow>(select).get(found.row);
  return row && toRecord(connection, row, partition);
}

function toRecord({ sql, reader }: LogConnection, row: NotificationRow, partition: Partition): HistoryRecord {
  const notification = reader.notification(row, partition);
  const { tokenId } = notification;
  const token = sql
    .of<[number, string], { name: string }>('SELECT name FROM credentials WHERE tenant = ? AND id = ?')
    .get(row.tenant, tokenId);
  const { shown, expired, cleared, ...state } = readState(sql, row, partition);
  return {
    ...notification,
    // A token's record outlives the token; should it be missing all the same, its id still tells senders apart.
    tokenName: token?.name ?? tokenId,
    cleared: toCleared(state),
    acknowledged: toAcknowledged(state),
    receipts: { shown, expired, cleared },
  };
}

const selectRows = (log: string, where: string) => `SELECT ${entryColumns} FROM ${log} n ${where}`;

/** undefined: there are too many. */
function liveRows(sql: Statements, tenant: TenantId, now: number): number[] | undefined {
  const found = sql
    .of<[number, number, number], { rows: string }>(
      `SELECT json_group_array(row) AS rows FROM (
         SELECT row FROM live WHERE tenant = ? AND (expires_at IS NULL OR expires_at > ?) LIMIT ?)`,
    )
    .get(tenant, now, mostLiveRows + 1);
  const rows = JSON.parse(found?.rows ?? '[]') as number[];
  return rows.length > mostLiveRows ? undefined : rows;
}
