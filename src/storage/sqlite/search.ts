/** Searches of history on one connection. */
import type { HistoryRecord, SearchOptions, SearchPage, TenantId } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import {
  type CandidateRow,
  candidateRuns,
  liveRows,
  matchingRows,
  type PreparedQuery,
  placeOf,
  prepareQuery,
} from './candidates.ts';
import { findById, partitionOf } from './log-lookup.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';
import type { RouteReader } from './routes.ts';
import { entryColumns, toNotification } from './rows.ts';

/** Looks whether to stop after so many rows. */
const rowsALook = 64;

interface Found {
  /** Newest first; at most one more than the page takes. */
  readonly rows: readonly CandidateRow[];
  /** The row down to which all was looked at, when there was no time for the rest. */
  readonly stoppedAt: number | undefined;
}

/**
 * The newest matches of a query, newest first, out of one snapshot: what was committed before the call is found, indexed or
 * not. `isOver` is asked now and then; once it says so, the page ends with what was found, after at least one step forward.
 */
export function searchPage(
  { sql, routes }: { readonly sql: Statements; readonly routes: RouteReader },
  { tenant, query, options }: { tenant: TenantId; query: Query; options: SearchOptions },
  isOver: () => boolean = () => false,
): SearchPage {
  const { limit, before, after, now } = options;
  const prepared = prepareQuery(sql, routes, { tenant, query, range: { now, before, after } });
  if (!prepared) return { records: [], next: null, searchedTo: null, head: 0 };
  const { rows, stoppedAt } = findRows(sql, prepared, { limit: limit + 1, now }, isOver);
  const page = rows.slice(0, limit);
  const records = page.map((row) => toRecord(row, { sql, routes, partitions: prepared.partitions }));
  // Asked for none, a page says whether there are more.
  if (rows.length > limit)
    return { records, next: page.at(-1)?.position ?? before ?? null, searchedTo: null, head: prepared.head };
  const stop = stoppedAt === undefined ? undefined : placeOf(sql, prepared, stoppedAt);
  return { records, next: stop?.position ?? null, searchedTo: stop?.at ?? null, head: prepared.head };
}

/** The tenant's notification with this id; undefined when there is none. */
export function findRecord(
  { sql, routes }: { readonly sql: Statements; readonly routes: RouteReader },
  tenant: TenantId,
  id: string,
): HistoryRecord | undefined {
  const found = findById(sql, tenant, id);
  if (!found) return undefined;
  const { log, state } = tablesOf(found.partition);
  const row = sql
    .of<[number], CandidateRow>(
      `SELECT ${entryColumns}, s.cleared_at, s.cleared_by, s.cleared_reason
       FROM ${log} n LEFT JOIN ${state} s ON s.row = n.row WHERE n.row = ?`,
    )
    .get(found.row);
  return row && toRecord(row, { sql, routes, partitions: [found.partition] });
}

function findRows(
  sql: Statements,
  query: PreparedQuery,
  { limit, now }: { readonly limit: number; readonly now: number },
  isOver: () => boolean,
): Found {
  const rows: CandidateRow[] = [];
  let scanned = 0;
  let stoppedAt: number | undefined;
  const onRow = ({ row }: CandidateRow) => {
    scanned += 1;
    if (scanned % rowsALook === 0 && isOver()) stoppedAt = row + 1;
    return stoppedAt !== undefined;
  };
  const live = liveRows(sql, query, now);
  if (live) {
    for (const row of live) {
      if (onRow(row)) break;
      if (query.matches(row)) rows.push(row);
      if (rows.length === limit) break;
    }
    return { rows, stoppedAt };
  }
  for (const run of candidateRuns(sql, query)) {
    for (const row of matchingRows(sql, query, run, onRow)) {
      rows.push(row);
      if (rows.length === limit) return { rows, stoppedAt: undefined };
    }
    // A page that has nothing behind it would begin where this one did.
    if (stoppedAt === undefined && isOver() && placeOf(sql, query, run.range.low)) stoppedAt = run.range.low;
    if (stoppedAt !== undefined) break;
  }
  return { rows, stoppedAt };
}

function toRecord(
  row: CandidateRow,
  {
    sql,
    routes,
    partitions,
  }: {
    readonly sql: Statements;
    readonly routes: RouteReader;
    readonly partitions: readonly Partition[];
  },
): HistoryRecord {
  const token = sql
    .of<[number, string], { name: string }>('SELECT name FROM credentials WHERE tenant = ? AND id = ?')
    .get(row.tenant, row.token_id);
  return {
    ...toNotification(row, routes),
    // A token's record outlives the token; should it be missing all the same, its id still tells senders apart.
    tokenName: token?.name ?? row.token_id,
    cleared:
      row.cleared_at === null
        ? null
        : {
            at: row.cleared_at,
            by: row.cleared_by ?? '',
            reason: row.cleared_reason === 'replaced' ? 'replaced' : 'cleared',
          },
    receipts: receiptsOf(sql, partitionOf(partitions, row.row), row.row),
  };
}

function receiptsOf(
  sql: Statements,
  partition: Partition | undefined,
  row: number,
): HistoryRecord['receipts'] {
  const counts =
    partition &&
    sql
      .of<[number], HistoryRecord['receipts']>(
        `SELECT count(shown_at) AS shown, count(expired_at) AS expired, count(cleared_at) AS cleared
         FROM ${tablesOf(partition).receipts} WHERE row = ?`,
      )
      .get(row);
  return counts ?? { shown: 0, expired: 0, cleared: 0 };
}
