/** A query made ready to run in one snapshot of a tenant's log. */
import type { Notification, TenantId } from '#core/ports.ts';
import { type CompiledQuery, compileQuery } from '#core/search/search-compile.ts';
import { matcherOf } from '#core/search/search-evaluate.ts';
import type { Query, SearchState } from '#core/search/search-query.ts';
import type { ClearedRow } from '../history-rows.ts';
import { rowAtOrAfter } from './log-lookup.ts';
import { type Partition, readNewest, readPartitions, type Statements, tablesOf } from './partitions.ts';
import { matchExpression, numbersIn, type RowRange } from './row-numbers.ts';
import { entryColumns, type NotificationRow, type PartitionName, type RowReader } from './rows.ts';

/** With more notifications on panels than this, "is:live" is answered from the index like any other search. */
const mostLiveRows = 50_000;

/** What reads the log on one connection. */
export interface LogConnection {
  readonly sql: Statements;
  readonly reader: RowReader;
}

export interface WalkedRow extends NotificationRow, ClearedRow {
  readonly shown: 0 | 1;
  readonly acknowledged: 0 | 1;
}

export interface PreparedQuery {
  readonly tenant: TenantId;
  readonly compiled: CompiledQuery;
  /** {@link CompiledQuery.terms} for FTS5. */
  readonly match: string;
  /** Rows to look at: those the tenant keeps, between the positions asked for. */
  readonly rows: RowRange;
  readonly partitions: readonly Partition[];
  readonly matches: (row: WalkedRow, partition: PartitionName) => boolean;
  readonly asksShown: boolean;
  readonly asksAcknowledged: boolean;
  /** Rows that are on panels now, when the query asks for such alone; in ascending order. */
  readonly live: Float64Array | undefined;
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
  { sql, reader }: LogConnection,
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
  const { now, before, after } = range;
  const end = before === undefined ? undefined : rowAtOrAfter(sql, tenant, before);
  const begin = after === undefined ? undefined : rowAtOrAfter(sql, tenant, after + 1);
  const isEmpty = after !== undefined && begin === undefined;
  const matches = matcherOf(query, now);
  return {
    tenant,
    compiled,
    match: matchExpression(compiled.terms),
    rows: {
      low: isEmpty ? Number.MAX_SAFE_INTEGER : Math.max(log.firstRow, begin ?? 0),
      high: end === undefined ? Number.MAX_SAFE_INTEGER : end - 1,
    },
    partitions,
    matches: (row, partition) =>
      row.tenant === tenant &&
      matches({
        ...reader.notification(row, partition),
        cleared: row.cleared_at !== null,
        shown: row.shown === 1,
        acknowledged: row.acknowledged === 1,
      }),
    asksShown: asks(query, 'unseen'),
    asksAcknowledged: asks(query, 'acknowledged'),
    live: compiled.live ? liveRows(sql, tenant, now) : undefined,
    head: log.head,
  };
}

function asks(query: Query, state: SearchState): boolean {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.terms.some((term) => asks(term, state));
    case 'not':
      return asks(query.term, state);
    default:
      return query.kind === 'is' && query.states.includes(state);
  }
}

/** undefined: there are too many. */
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

/** The tenant's notifications that are not indexed yet. */
export function readUnindexedNotifications({ sql, reader }: LogConnection, tenant: TenantId): Notification[] {
  const partition = readNewest(sql);
  // `+`: by the rows, which are few, and not by the index on the tenant, which has all of the partition.
  return sql
    .of<[number, number], NotificationRow>(
      `SELECT ${entryColumns} FROM ${tablesOf(partition).log} n WHERE row > ? AND +tenant = ? AND cleared IS NULL`,
    )
    .all(partition.indexed, tenant)
    .map((row) => reader.notification(row, partition));
}
