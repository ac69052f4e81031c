/** Searches of the log on one connection. Each must run inside a transaction, so that nothing changes during it. */
import type { HistoryRecord, RecordForm, SearchOptions, SearchPage, TenantId } from '#core/ports.ts';
import { flagTerm } from '#core/search/index-terms.ts';
import { type CompiledQuery, compileQuery, type StoreTerms } from '#core/search/search-compile.ts';
import { type Matcher, matcherOf } from '#core/search/search-evaluate.ts';
import type { Query } from '#core/search/search-query.ts';
import { one } from '#core/search/term-expression.ts';
import { resultOf } from '../../fair-queue.ts';
import { finite, toAcknowledged, toCleared } from '../../history-rows.ts';
import {
  emptyPage,
  type FoundRow,
  type LogPart,
  type LogPlace,
  type LogRange,
  type LogSearch,
  searchInSteps,
  timer,
} from '../../log-search.ts';
import { RowSet } from '../../row-set.ts';
import { findById, rowAtOrAfter } from '../log/log-lookup.ts';
import { lastRowOf, type Partition, readPartitions, type Statements, tablesOf } from '../log/partitions.ts';
import { entryColumns, type LogConnection, type NotificationRow } from '../log/rows.ts';
import { PatternBudget } from './fts-index.ts';
import { rowsInTimes } from './row-minutes.ts';
import { type RowState, readStates, SearchableRow } from './searchable-row.ts';
import { StateIndex, type StateRows, stateRows } from './state-index.ts';

/** Usually few notifications are live or acknowledged. Many are cleared, and many values may match a pattern: for pages, testing rows is faster. */
const ofPages: StoreTerms = { later: ['live', 'acknowledged'], patterns: false };
/** Rows read at once by their numbers: a usual page, and the one that shows that there is a next. */
const rowsAtOnce = 51;
/** The time is checked after so many rows. */
const rowsACheck = 256;

/** Rows of one partition. */
export interface SqlitePart extends LogPart {
  readonly partition: Partition;
  readonly isIndexed: boolean;
}

interface SearchScope extends Pick<SearchOptions, 'now' | 'before' | 'after'> {
  /** What is found without reading rows of the log. */
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
  #budget = new PatternBudget();
  readonly #isOver: () => boolean;
  readonly #tokenNames = new Map<string, string>();
  #looked = 0;
  /** The rows of the last batch. Their states are read together, when the first one is needed. */
  #batch: readonly number[] = [];
  #statesOfBatch: ReadonlyMap<number, RowState> = new Map();

  constructor(
    connection: LogConnection,
    log: { readonly tenant: TenantId; readonly head: number; readonly firstRow: number },
    query: Query,
    { now, before, after, isOver, store = ofPages }: SearchScope,
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
    this.compiled = compileQuery(query, tenant, store);
    this.#matches = matcherOf(query, now);
    this.#store = store;
    this.#states = stateRows(sql, { tenant, now, range: this.range });
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
    const found = part.isIndexed ? this.#found(part) : undefined;
    const isTested = part.isExact && found?.isCut;
    for (const row of this.#rows(part, found?.rows)) {
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
    const { tenant } = this;
    return [...Map.groupBy(found, ({ part }) => part.partition)].flatMap(([partition, of]) =>
      toRecords(
        this.#connection,
        { tenant, partition },
        of.map(({ row }) => row),
        this.#tokenNames,
      ),
    );
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

  #indexOf(partition: Partition): StateIndex {
    // Once spent, it stays so: to try again would take as long.
    if (!this.#budget.isSpent) this.#budget = new PatternBudget();
    return new StateIndex(this.#sql, partition, {
      ...{ tenant: this.tenant, states: this.#states, budget: this.#budget, unread: this.#unread },
    });
  }

  /** What is found without reading rows, except where there was too much to read. */
  get store(): StoreTerms {
    const later = this.#store.later.filter((state) => !this.#unread.has(flagTerm(this.tenant, state)));
    return { later, patterns: this.#store.patterns && !this.#budget.isSpent };
  }

  /** The rows of a partition that the terms find; undefined: unknown, because there is too much to read. */
  find(partition: Partition): RowSet | undefined {
    const { terms } = this.compiled;
    return terms && this.#indexOf(partition).find(terms);
  }

  /** All matches of an indexed part, and maybe other rows: all of them are, if the terms decide the query and `isCut` is false. */
  #found({ partition }: SqlitePart): { readonly rows: RowSet; readonly isCut: boolean } {
    const index = this.#indexOf(partition);
    const { terms } = this.compiled;
    const rows = terms ? index.narrow(RowSet.all(partition), terms) : new RowSet(partition);
    // Where values were not tested against a pattern, rows of other tenants may be left.
    const own = index.isCut ? index.narrow(rows, one(flagTerm(this.tenant, 'all'))) : rows;
    return { rows: own, isCut: index.isCut };
  }

  /** `rows`: those of an indexed part that the index finds. */
  *#rows(part: SqlitePart, rows: RowSet | undefined): Iterable<NotificationRow> {
    const { partition, low } = part;
    const { log } = tablesOf(partition);
    const inTimes = 'n.at >= ? AND n.at < ? ORDER BY n.row DESC';
    const times = [finite(this.compiled.after), finite(this.compiled.before)] as const;
    if (!rows) {
      // `+`: not by the index on the tenant, which has all of the partition.
      const where = `WHERE n.row BETWEEN ? AND ? AND +n.tenant = ? AND n.cleared IS NULL AND ${inTimes}`;
      const read = this.#sql.of<number[], NotificationRow>(selectRows(log, where));
      return yield* read.iterate(low, part.high, this.tenant, ...times);
    }
    // `narrow` finds any entry of the partition where the query asks for all.
    const where = `WHERE n.row IN (SELECT value FROM json_each(?)) AND +n.tenant = ? AND n.cleared IS NULL AND ${inTimes}`;
    const read = this.#sql.of<[string, ...number[]], NotificationRow>(selectRows(log, where));
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
export async function searchPage<Form extends RecordForm = 'record'>(
  connection: LogConnection,
  { tenant, query, options }: { tenant: TenantId; query: Query; options: SearchOptions<Form> },
  isOver = timer(options.timeoutMs),
): Promise<SearchPage<Form>> {
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
  return row && toRecords(connection, { tenant, partition }, [row])[0];
}

function toRecords(
  { sql, reader }: LogConnection,
  { tenant, partition }: { readonly tenant: TenantId; readonly partition: Partition },
  rows: readonly NotificationRow[],
  tokenNames = new Map<string, string>(),
): HistoryRecord[] {
  const states = readStates(
    sql,
    { tenant, partition },
    rows.map(({ row }) => row),
  );
  return rows.map((row) => {
    const notification = reader.notification(row, partition);
    const { tokenId } = notification;
    let tokenName = tokenNames.get(tokenId);
    if (tokenName === undefined) {
      const token = sql
        .of<[number, string], { name: string }>('SELECT name FROM credentials WHERE tenant = ? AND id = ?')
        .get(tenant, tokenId);
      // The record of a deleted token stays. If there is none, its id is shown as the name.
      tokenName = token?.name ?? tokenId;
      tokenNames.set(tokenId, tokenName);
    }
    const { shown, expired, cleared, ...state } = states.get(row.row) as RowState;
    return {
      ...notification,
      tokenName,
      cleared: toCleared(state),
      acknowledged: toAcknowledged(state),
      receipts: { shown, expired, cleared },
    };
  });
}

const selectRows = (log: string, where: string) => `SELECT ${entryColumns} FROM ${log} n ${where}`;
