/** Rows that a query may mean, newest first: from the index, from what is not indexed yet, or from the list of what is live. */
import type { TenantId } from '#core/ports.ts';
import { type CompiledQuery, compileQuery } from '#core/search/search-compile.ts';
import { type Matcher, matcherOf } from '#core/search/search-evaluate.ts';
import type { Query } from '#core/search/search-query.ts';
import { partitionOf, rowAtOrAfter } from './log-lookup.ts';
import { matchExpression } from './match-expression.ts';
import { lastRowOf, type Partition, readPartitions, type Statements, tablesOf } from './partitions.ts';
import type { RouteReader } from './routes.ts';
import { entryColumns, type NotificationRow, toNotification } from './rows.ts';

const minuteMs = 60_000;
/** With more notifications on panels than this, "is:live" is answered from the index like any other search. */
const mostLiveRows = 10_000;

export interface CandidateRow extends NotificationRow {
  readonly cleared_at: number | null;
  readonly cleared_by: string | null;
  readonly cleared_reason: string | null;
  readonly shown: 0 | 1;
}

export interface RowRange {
  readonly low: number;
  readonly high: number;
}

/** A query made ready to run in one snapshot of the log. */
export interface PreparedQuery {
  readonly tenant: TenantId;
  readonly compiled: CompiledQuery;
  readonly match: string;
  /** Rows to look at: those the tenant keeps, between the positions asked for. */
  readonly rows: RowRange;
  readonly partitions: readonly Partition[];
  readonly matches: (row: CandidateRow) => boolean;
  readonly asksShown: boolean;
  readonly head: number;
}

interface QueryRange {
  readonly now: number;
  /** Positions strictly between these. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

/** undefined: the tenant has no log. */
export function prepareQuery(
  sql: Statements,
  routes: RouteReader,
  { tenant, query, range }: { readonly tenant: TenantId; readonly query: Query; readonly range: QueryRange },
): PreparedQuery | undefined {
  const log = sql
    .of<[number], { head: number; first: number; firstRow: number }>(
      'SELECT head, first, first_row AS firstRow FROM logs WHERE tenant = ?',
    )
    .get(tenant);
  if (!log) return undefined;
  const partitions = readPartitions(sql);
  const compiled = compileQuery(query, tenant);
  const { before, after } = range;
  const end = before === undefined ? undefined : rowAtOrAfter(sql, partitions, tenant, before);
  const begin = after === undefined ? undefined : rowAtOrAfter(sql, partitions, tenant, after + 1);
  const isEmpty = after !== undefined && begin === undefined;
  return {
    tenant,
    compiled,
    match: matchExpression(compiled.terms),
    rows: {
      low: isEmpty ? Number.MAX_SAFE_INTEGER : Math.max(log.firstRow, begin ?? 0),
      high: end === undefined ? Number.MAX_SAFE_INTEGER : end - 1,
    },
    partitions,
    matches: rowMatcher(matcherOf(query, range.now), tenant, routes),
    asksShown: asksShown(query),
    head: log.head,
  };
}

function rowMatcher(matches: Matcher, tenant: TenantId, routes: RouteReader): PreparedQuery['matches'] {
  return (row) =>
    row.tenant === tenant &&
    matches({ ...toNotification(row, routes), cleared: row.cleared_at !== null, shown: row.shown === 1 });
}

function asksShown(query: Query): boolean {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.terms.some(asksShown);
    case 'not':
      return asksShown(query.term);
    default:
      return query.kind === 'is' && query.states.includes('unseen');
  }
}

/** One run of rows to be gone through, newest first. */
export interface CandidateRun {
  readonly partition: Partition;
  readonly range: RowRange;
  /** The rows of the run that the index finds, or (unindexed) all of them. */
  readonly indexed: boolean;
}

/** What a query has to go through, newest first; parts whose times cannot match are left out. */
export function* candidateRuns(sql: Statements, query: PreparedQuery): Iterable<CandidateRun> {
  for (const partition of query.partitions) {
    const low = Math.max(query.rows.low, partition.firstRow);
    const high = Math.min(query.rows.high, lastRowOf(partition));
    if (low > high) continue;
    const rest = { low: Math.max(low, partition.indexed + 1), high };
    if (partition.lastRow === null && rest.low <= rest.high) yield { partition, range: rest, indexed: false };
    const range = withinTimes(sql, query, partition, { low, high: Math.min(high, partition.indexed) });
    if (range.low <= range.high) yield { partition, range, indexed: true };
  }
}

/** Narrows indexed rows to where the times of a query can be met. Clocks go back, so what is left may have others among it. */
function withinTimes(
  sql: Statements,
  { compiled: { after, before } }: PreparedQuery,
  { firstRow, firstMinute, lastMinute }: Partition,
  { low, high }: RowRange,
): RowRange {
  const nothing = { low: 1, high: 0 };
  if (firstMinute === null || lastMinute === null) return nothing;
  const [first, last] = [Math.floor(after / minuteMs), Math.floor((before - 1) / minuteMs)];
  if (lastMinute < first || firstMinute > last) return nothing;
  const range = { low, high };
  if (firstMinute < first) {
    const run = sql
      .of<[number, number, number], { row: number | null }>(
        'SELECT min(row) AS row FROM row_minutes WHERE row BETWEEN ? AND ? AND minute >= ?',
      )
      .get(firstRow, high, first);
    range.low = Math.max(low, run?.row ?? Number.MAX_SAFE_INTEGER);
  }
  if (lastMinute > last) {
    const run = sql
      .of<[number, number, number], { row: number | null }>(
        `SELECT (SELECT min(m.row) FROM row_minutes m WHERE m.row > r.row) AS row
         FROM row_minutes r WHERE r.row BETWEEN ? AND ? AND r.minute <= ? ORDER BY r.row DESC LIMIT 1`,
      )
      .get(firstRow, high, last);
    if (!run) return nothing;
    range.high = Math.min(high, (run.row ?? Number.MAX_SAFE_INTEGER) - 1);
  }
  return range;
}

/** The rows of a run that match, newest first. `onRow` is called with each row that was looked at; true ends the run. */
export function* matchingRows(
  sql: Statements,
  query: PreparedQuery,
  run: CandidateRun,
  onRow: (row: CandidateRow) => boolean,
): Iterable<CandidateRow> {
  const { compiled } = query;
  for (const row of candidateRows(sql, query, run)) {
    if (onRow(row)) return;
    if (run.indexed && compiled.exact ? row.tenant === query.tenant : query.matches(row)) yield row;
  }
}

function candidateRows(
  sql: Statements,
  { tenant, match, compiled, asksShown }: PreparedQuery,
  { partition, range, indexed }: CandidateRun,
): IterableIterator<CandidateRow> {
  const { log, terms } = tablesOf(partition);
  const times = [finite(compiled.after), finite(compiled.before)] as const;
  const rows = [BigInt(range.low), BigInt(Math.min(range.high, Number.MAX_SAFE_INTEGER))] as const;
  const columns = `${entryColumns}, ${stateColumns(partition, asksShown)}`;
  if (!indexed) {
    // `+`: by the rows, which are few, and not by the index on the tenant, which has all of the partition.
    return sql
      .of<unknown[], CandidateRow>(
        `SELECT ${columns} FROM ${log} n ${stateJoin(partition)}
         WHERE n.row BETWEEN ? AND ? AND +n.tenant = ? AND n.cleared IS NULL AND n.at >= ? AND n.at < ? ORDER BY n.row DESC`,
      )
      .iterate(...rows, tenant, ...times);
  }
  // Whole numbers as such: FTS5 would not narrow its search by others.
  return sql
    .of<unknown[], CandidateRow>(
      `SELECT ${columns} FROM ${terms} t CROSS JOIN ${log} n ON n.row = t.rowid ${stateJoin(partition)}
       WHERE t.${terms} MATCH ? AND t.rowid BETWEEN ? AND ? AND n.at >= ? AND n.at < ? ORDER BY t.rowid DESC`,
    )
    .iterate(match, ...rows, ...times);
}

/** The tenant's first entry at or above a row, of those asked for: `before` for the page that goes on below it. */
export function placeOf(
  sql: Statements,
  { tenant, partitions, rows }: PreparedQuery,
  row: number,
): { readonly position: number; readonly at: number } | undefined {
  for (const partition of [...partitions].reverse()) {
    if (partition.lastRow !== null && partition.lastRow < row) continue;
    const found = sql
      .of<[number, number, number], { position: number; at: number }>(
        `SELECT position, at FROM ${tablesOf(partition).log} WHERE row BETWEEN ? AND ? AND +tenant = ? ORDER BY row LIMIT 1`,
      )
      .get(row, rows.high, tenant);
    if (found) return found;
  }
  return undefined;
}

/** Rows that are on panels now, when the query asks for such alone and they are few; else undefined. */
export function liveRows(
  sql: Statements,
  query: PreparedQuery,
  now: number,
): Iterable<CandidateRow> | undefined {
  const { compiled, tenant, rows, partitions, asksShown } = query;
  if (!compiled.live) return undefined;
  const live = sql
    .of<unknown[], { row: number }>(
      'SELECT row FROM live WHERE tenant = ? AND (expires_at IS NULL OR expires_at > ?) LIMIT ?',
    )
    .all(tenant, now, mostLiveRows + 1);
  if (live.length > mostLiveRows) return undefined;
  const numbers = live.map(({ row }) => row).filter((row) => row >= rows.low && row <= rows.high);
  return fetchRows(sql, { numbers: numbers.sort((a, b) => b - a), partitions, asksShown });
}

function* fetchRows(
  sql: Statements,
  {
    numbers,
    partitions,
    asksShown,
  }: Pick<PreparedQuery, 'partitions' | 'asksShown'> & { readonly numbers: readonly number[] },
): Iterable<CandidateRow> {
  for (const number of numbers) {
    const partition = partitionOf(partitions, number);
    if (!partition) continue;
    const row = sql
      .of<[number], CandidateRow>(
        `SELECT ${entryColumns}, ${stateColumns(partition, asksShown)}
         FROM ${tablesOf(partition).log} n ${stateJoin(partition)} WHERE n.row = ?`,
      )
      .get(number);
    if (row) yield row;
  }
}

const stateJoin = (partition: Partition) => `LEFT JOIN ${tablesOf(partition).state} s ON s.row = n.row`;

const stateColumns = (partition: Partition, asksShown: boolean) =>
  `s.cleared_at, s.cleared_by, s.cleared_reason, ${
    asksShown
      ? `EXISTS (SELECT 1 FROM ${tablesOf(partition).receipts} r WHERE r.row = n.row AND r.shown_at IS NOT NULL)`
      : '0'
  } AS shown`;

/** SQLite has no infinity that compares with whole numbers. */
const finite = (at: number) => Math.max(-8.64e15, Math.min(8.64e15, at));
