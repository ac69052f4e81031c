/** Searches of the log on one connection. Each must run inside a transaction, so that nothing changes during it. */

import { resultOf } from '#core/limits/concurrency.ts';
import type { HistoryRecord, RecordForm, SearchOptions, SearchPage } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { getOrMake } from '#core/maps.ts';
import { flagTerm, one } from '#core/search/index-terms.ts';
import { type CompiledQuery, compileQuery, type StoreTerms } from '#core/search/search-compile.ts';
import { type Matcher, matcherOf } from '#core/search/search-evaluate.ts';
import type { Query } from '#core/search/search-query.ts';
import { finite, toAcknowledged, toCleared, toMemory } from '../../log/history-rows.ts';
import {
  type FoundRow,
  type LogPart,
  type LogPlace,
  type LogRange,
  type LogSearch,
  minuteMs,
  searchInSteps,
  timer,
} from '../../search/log-search.ts';
import { RowSet } from '../../search/row-set.ts';
import { findById, rowAtOrAfter } from '../log/log-lookup.ts';
import { lastRowOf, type Partition, readPartitions, type Statements, tablesOf } from '../log/partitions.ts';
import { entryColumns, type LogConnection, type NotificationRow } from '../log/rows.ts';
import { readLog } from '../log/tenant-log.ts';
import { FtsIndex, unreadPatterns } from './fts-index.ts';
import { type RowState, readStates, SearchableRow } from './searchable-row.ts';
import { type StateRows, stateRows } from './state-rows.ts';

/** For pages. Usually few notifications are live or acknowledged. For cleared ones and patterns, testing rows is faster, because many match. */
const ofPages: StoreTerms = { later: ['live', 'shelved', 'suppressed', 'acknowledged'], patterns: false };
/** Rows read at once by their numbers: a usual page, and one more, which shows that there is a next page. */
const rowsAtOnce = 51;
/** The time limit is checked once for this many rows. */
const rowsACheck = 256;

/** Rows of one partition. */
export interface SqlitePart extends LogPart {
  readonly partition: Partition;
  readonly isIndexed: boolean;
}

interface SearchScope extends Pick<SearchOptions<RecordForm>, 'now' | 'before' | 'after' | 'form'> {
  /** What the store finds without reading rows of the log. */
  readonly store?: StoreTerms;
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
  readonly #store: StoreTerms;
  readonly #states: StateRows;
  readonly #unread = new Set<string>();
  readonly #isOver: () => boolean;
  readonly #hasPositionsOnly: boolean;
  #looked = 0;
  /** The rows of the last batch. Their states are read together, when the first one is needed. */
  #batch: readonly number[] = [];
  #statesOfBatch: ReadonlyMap<number, RowState> = new Map();

  constructor(
    connection: LogConnection,
    tenant: TenantId,
    query: Query,
    { now, before, after, isOver, form, store = ofPages }: SearchScope,
  ) {
    const { sql } = connection;
    const { head, firstRow } = readLog(sql, tenant);
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
    this.compiled = compileQuery(query, tenant, store);
    this.#matches = matcherOf(query, now);
    this.#store = store;
    this.#states = stateRows(sql, { tenant, now, range: this.range });
    this.#isOver = isOver;
    this.#hasPositionsOnly = form === 'position';
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
    const found = part.isIndexed ? this.#found(part) : undefined;
    const isTested = part.isExact && found?.mayHaveFalsePositives;
    const isRead = !part.isExact || isTested || !this.#hasPositionsOnly;
    for (const row of this.#rows(part, found?.rows, isRead ? entryColumns : 'n.row, n.position, n.at')) {
      this.#looked += 1;
      if (this.#looked % rowsACheck === 0 && this.#isOver()) return row.row + 1;
      if (isTested && !this.matches(row, part)) continue;
      if (!take(row)) return row.row;
    }
    return part.low;
  }

  matches(row: NotificationRow, { partition }: SqlitePart): boolean {
    return this.#matches(new SearchableRow(this.#connection, row, partition, this.#stateOf));
  }

  levelOf(row: NotificationRow, { partition }: SqlitePart): string {
    return this.#connection.reader.text(row.level, partition);
  }

  toRecords(found: readonly FoundRow<NotificationRow, SqlitePart>[]): HistoryRecord[] {
    return toRecords(this.#connection, this.tenant, found);
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

  readonly #stateOf = (row: number, partition: Partition): RowState => {
    if (!this.#statesOfBatch.has(row)) {
      const rows = this.#batch.includes(row) ? this.#batch : [row];
      this.#statesOfBatch = readStates(this.#sql, { tenant: this.tenant, partition }, rows);
    }
    return this.#statesOfBatch.get(row) as RowState;
  };

  #indexOf(partition: Partition): FtsIndex {
    const scope = { tenant: this.tenant, states: this.#states, unread: this.#unread };
    return new FtsIndex(this.#sql, partition, scope);
  }

  /** What the store finds without reading rows, without the states and patterns for which there was too much to read. */
  get store(): StoreTerms {
    const later = this.#store.later.filter((state) => !this.#unread.has(flagTerm(this.tenant, state)));
    return { later, patterns: this.#store.patterns && !this.#unread.has(unreadPatterns) };
  }

  /** The rows of a partition that the terms find, and those of each level. undefined: unknown, because there is too much to read. */
  find(partition: Partition): {
    readonly rows: RowSet | undefined;
    readonly levels: ReadonlyMap<string, RowSet>;
  } {
    const index = this.#indexOf(partition);
    const rows = this.compiled.terms && index.find(this.compiled.terms);
    return { rows, levels: rows && !rows.isEmpty ? index.levels() : new Map() };
  }

  /**
   * All matches of an indexed part, and maybe other rows. There are no others if the terms decide the query and
   * `mayHaveFalsePositives` is false.
   */
  #found({ partition }: SqlitePart): { readonly rows: RowSet; readonly mayHaveFalsePositives: boolean } {
    const index = this.#indexOf(partition);
    const { terms } = this.compiled;
    const rows = terms ? index.narrow(RowSet.all(partition), terms) : new RowSet(partition);
    // If values were not tested against a pattern, rows of other tenants may be among them.
    const own = index.mayHaveFalsePositives ? index.narrow(rows, one(flagTerm(this.tenant, 'all'))) : rows;
    return { rows: own, mayHaveFalsePositives: index.mayHaveFalsePositives };
  }

  /** `rows`: the rows that the index finds; undefined for a part that is not indexed. */
  *#rows(part: SqlitePart, rows: RowSet | undefined, columns: string): Iterable<NotificationRow> {
    const { partition, low } = part;
    const { log } = tablesOf(partition);
    const inTimes = 'n.at >= ? AND n.at < ? ORDER BY n.row DESC';
    const times = [finite(this.compiled.after), finite(this.compiled.before)] as const;
    if (!rows) {
      // `+`: SQLite must not use the index on the tenant, which covers the whole partition.
      const where = `WHERE n.row BETWEEN ? AND ? AND +n.tenant = ? AND n.cleared IS NULL AND ${inTimes}`;
      const read = this.#sql.of<number[], NotificationRow>(selectRows(log, where, columns));
      return yield* read.iterate(low, part.high, this.tenant, ...times);
    }
    // If the query has no condition, `narrow` finds entries of every kind, so this tests `cleared`.
    const where = `WHERE n.row IN (SELECT value FROM json_each(?)) AND +n.tenant = ? AND n.cleared IS NULL AND ${inTimes}`;
    const read = this.#sql.of<[string, ...number[]], NotificationRow>(selectRows(log, where, columns));
    let { high } = part;
    for (;;) {
      const numbers = rows.last(rowsAtOnce, { low, high });
      if (numbers.length === 0) return;
      this.#batch = numbers;
      yield* read.all(`[${numbers.join()}]`, this.tenant, ...times);
      high = (numbers[0] as number) - 1;
    }
  }
}

/** The newest matches of a query. It finds everything that was committed before the call, indexed or not. */
export async function searchPage<Form extends RecordForm = 'record'>(
  connection: LogConnection,
  { tenant, query, options }: { tenant: TenantId; query: Query; options: SearchOptions<Form> },
  isOver = timer(options.timeoutMs),
): Promise<SearchPage<Form>> {
  const search = new SqliteSearch(connection, tenant, query, { ...options, isOver });
  return resultOf(searchInSteps(search, options, isOver));
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
  return row && toRecords(connection, tenant, [{ row, part: { partition } }])[0];
}

/** The notifications at these positions, in the given order. Those that stand are found at once, the others one by one. */
export function recordsAt(
  connection: LogConnection,
  tenant: TenantId,
  positions: readonly number[],
): HistoryRecord[] {
  const { sql, liveOrder } = connection;
  const { first } = readLog(sql, tenant);
  const kept = positions.filter((position) => position >= first);
  const standing = liveOrder.rowsAt(tenant, kept);
  const rows = new Set(
    kept.flatMap((position) => standing.get(position)?.row ?? rowAtOrAfter(sql, tenant, position) ?? []),
  );
  const found = new Map<number, FoundRow<NotificationRow, Pick<SqlitePart, 'partition'>>>();
  for (const partition of readPartitions(sql)) {
    const inside = [...rows].filter((row) => partition.firstRow <= row && row <= lastRowOf(partition));
    if (inside.length === 0) continue;
    const where = 'WHERE n.row IN (SELECT value FROM json_each(?)) AND n.cleared IS NULL';
    const select = selectRows(tablesOf(partition).log, where);
    for (const row of sql.of<[string], NotificationRow>(select).all(JSON.stringify(inside)))
      found.set(row.position, { row, part: { partition } });
  }
  return toRecords(
    connection,
    tenant,
    positions.flatMap((position) => found.get(position) ?? []),
  );
}

function toRecords(
  { sql, reader }: LogConnection,
  tenant: TenantId,
  found: readonly FoundRow<NotificationRow, Pick<SqlitePart, 'partition'>>[],
): HistoryRecord[] {
  const states = new Map<number, RowState>();
  for (const [partition, of] of Map.groupBy(found, ({ part }) => part.partition)) {
    const rows = of.map(({ row }) => row.row);
    for (const [row, state] of readStates(sql, { tenant, partition }, rows)) states.set(row, state);
  }
  const tokenNames = new Map<string, string>();
  // The record of a deleted token stays. If there is none, its id is shown as the name.
  const nameOf = (tokenId: string) =>
    sql
      .of<[number, string], string>('SELECT name FROM credentials WHERE tenant = ? AND id = ?')
      .pluck()
      .get(tenant, tokenId) ?? tokenId;
  return found.map(({ row, part }) => {
    const notification = reader.notification(row, part.partition);
    const { shown, expired, cleared, memory, counted, ...state } = states.get(row.row) as RowState;
    return {
      ...notification,
      tokenName: getOrMake(tokenNames, notification.tokenId, nameOf),
      cleared: toCleared(state),
      acknowledged: toAcknowledged(state),
      receipts: { shown, expired, cleared },
      alarm: memory && toMemory(memory, notification, counted),
    };
  });
}

const selectRows = (log: string, where: string, columns = entryColumns) =>
  `SELECT ${columns} FROM ${log} n ${where}`;

/** The minutes in which the rows of a partition were received. */

/** Narrows indexed rows to those that may be from these times. Rows of other times may be among them, because clocks may go back. */
function rowsInTimes(
  sql: Statements,
  { firstRow, firstMinute, lastMinute }: Partition,
  { after, before }: { readonly after: number; readonly before: number },
  { low, high }: LogRange,
): LogRange {
  const nothing = { low: 1, high: 0 };
  const [first, last] = [after, before - 1].map((at) => Math.floor(finite(at) / minuteMs)) as [
    number,
    number,
  ];
  if (firstMinute === null || lastMinute === null || lastMinute < first || firstMinute > last) return nothing;
  if (first <= firstMinute && lastMinute <= last) return { low, high };
  const { from, upTo, end } = sql
    .of<[{ firstRow: number; high: number; first: number; last: number }], Record<string, number | null>>(
      `WITH runs AS MATERIALIZED (
         SELECT (SELECT min(row) FROM row_minutes WHERE row BETWEEN @firstRow AND @high AND minute >= @first) AS "from",
           (SELECT max(row) FROM row_minutes WHERE row BETWEEN @firstRow AND @high AND minute <= @last) AS "upTo"
       ) SELECT *, (SELECT min(row) FROM row_minutes WHERE row > runs."upTo") AS "end" FROM runs`,
    )
    .get({ firstRow, high, first, last }) as Record<string, number | null>;
  if (from == null || upTo == null) return nothing;
  return { low: Math.max(low, from), high: Math.min(high, (end ?? high + 1) - 1) };
}
