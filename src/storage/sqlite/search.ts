/** Searches of history on one connection. */
import type { HistoryRecord, SearchOptions, SearchPage, TenantId } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import { toCleared } from '../history-rows.ts';
import { readAcknowledged } from './acknowledgements.ts';
import { findById } from './log-lookup.ts';
import { type Partition, tablesOf } from './partitions.ts';
import { type LogConnection, placeOf, prepareQuery, type WalkedRow } from './prepared-query.ts';
import { entryColumns } from './rows.ts';
import { Walk } from './walk.ts';

interface FoundRow {
  readonly row: WalkedRow;
  readonly partition: Partition;
}

/**
 * The newest matches of a query, newest first, out of one snapshot: what was committed before the call is found, indexed or
 * not. `isOver` is asked now and then; once it says so, the page ends with what was found, after at least one step forward.
 */
export function searchPage(
  connection: LogConnection,
  { tenant, query, options }: { tenant: TenantId; query: Query; options: SearchOptions },
  isOver: () => boolean = () => false,
): SearchPage {
  const { limit, before, after, now } = options;
  const { sql } = connection;
  const prepared = prepareQuery(connection, { tenant, query, range: { now, before, after } });
  if (!prepared) return { records: [], next: null, searchedTo: null, head: 0 };
  const { head } = prepared;
  const walk = new Walk(sql, prepared, isOver);
  const found = findRows(walk, limit + 1);
  const page = found.slice(0, limit);
  const records = page.map((each) => toRecord(connection, each));
  // Asked for none, a page says whether there are more.
  if (found.length > limit)
    return { records, next: page.at(-1)?.row.position ?? before ?? null, searchedTo: null, head };
  const stop = walk.stoppedAt === undefined ? undefined : placeOf(sql, prepared, walk.stoppedAt);
  return { records, next: stop?.position ?? null, searchedTo: stop?.at ?? null, head };
}

function findRows(walk: Walk, limit: number): FoundRow[] {
  const found: FoundRow[] = [];
  for (const run of walk.runs()) {
    for (const row of walk.rows(run)) {
      found.push({ row, partition: run.partition });
      if (found.length === limit) return found;
    }
  }
  return found;
}

/** The tenant's notification with this id; undefined when there is none. */
export function findRecord(
  connection: LogConnection,
  tenant: TenantId,
  id: string,
): HistoryRecord | undefined {
  const { sql } = connection;
  const found = findById(sql, tenant, id);
  if (!found) return undefined;
  const { partition } = found;
  const { log, state } = tablesOf(partition);
  const row = sql
    .of<[number], WalkedRow>(
      `SELECT ${entryColumns}, s.cleared_at, s.cleared_by, s.cleared_reason
       FROM ${log} n LEFT JOIN ${state} s ON s.row = n.row WHERE n.row = ?`,
    )
    .get(found.row);
  return row && toRecord(connection, { row, partition });
}

function toRecord({ sql, reader }: LogConnection, { row, partition }: FoundRow): HistoryRecord {
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
    acknowledged: readAcknowledged(sql, row.tenant, row.row),
    receipts: receipts ?? { shown: 0, expired: 0, cleared: 0 },
  };
}
