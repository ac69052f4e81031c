/** Converts rows of the log to the types of core. */
import type { Entry, HistoryRecord, Notification, Route, TenantId } from '#core/log/log.ts';
import {
  acknowledgedColumns,
  acknowledgedJoin,
  columnList,
  type EntryColumns,
  type NotificationColumns,
  rowBytesOver,
  rowBytesSqlOver,
  type StateRow,
  sharedFields,
  toAcknowledged,
  toChange,
  toCleared,
} from '../../log/history-rows.ts';
import type { Connections } from '../connections.ts';

/** A row of the log `n`, as {@link entryColumns} selects it. */
export interface EntryRow extends EntryColumns {
  readonly id: string;
  readonly route: Route;
}

export interface NotificationRow extends EntryRow, NotificationColumns<string> {
  readonly message: string;
  readonly ttl: number;
  readonly expires_at: number | null;
  readonly throttled_on: string | null;
  readonly throttle_count: number;
}

/** As {@link readRecords} reads it. */
export interface RecordRow extends NotificationRow, StateRow {
  readonly token_name: string | null;
  readonly expired: number;
  readonly cleared_on_panels: number;
}

/** Goes with `FROM log n`. */
export const entryColumns = `n.row, n.position, n.id, n.at, n.route, n.cleared, n."by", n.reason, n.ttl, n.expires_at, n.throttled_on, n.throttle_count,
  ${columnList.map(([, { column }]) => `n.${column}`).join(', ')}`;

/** As {@link readRecords} reads it. */
const recordsOf = (
  found: string,
) => `WITH n AS MATERIALIZED (${found}), given AS MATERIALIZED (SELECT array_agg(row) AS rows FROM n)
  SELECT ${entryColumns}, t.name AS token_name, s.cleared_at, s.cleared_by, s.cleared_reason,
    ${acknowledgedColumns}, coalesce(r.shown, 0) AS shown, coalesce(r.expired, 0) AS expired, coalesce(r.cleared, 0) AS cleared_on_panels
  FROM n LEFT JOIN credentials t ON t.tenant = n.tenant AND t.id = n.token_id ${acknowledgedJoin}
  LEFT JOIN states_of($1, (SELECT rows FROM given)) s ON s.row = n.row
  LEFT JOIN (
    SELECT row, count(shown_at) AS shown, count(expired_at) AS expired, count(cleared_at) AS cleared
    FROM receipts_of($1, (SELECT rows FROM given)) GROUP BY row
  ) r ON r.row = n.row
  ORDER BY n.position DESC`;

/** Reads the records of notifications, newest first; `found` selects these from the log. Only the partitions of these rows are looked at. */
export const readRecords = (
  connections: Connections,
  tenant: TenantId,
  found: string,
  values: readonly unknown[],
): Promise<RecordRow[]> => connections.query(tenant, recordsOf(found), values);

export function toEntry(row: EntryRow): Entry {
  return row.cleared === null ? toNotification(row as NotificationRow) : toChange(row);
}

export function toNotification(row: NotificationRow): Notification {
  return {
    ...sharedFields(row, (text) => text),
    id: row.id,
    ttl: row.ttl,
    expiresAt: row.expires_at,
    route: row.route,
    throttledOn: row.throttled_on,
  };
}

export function toRecord(row: RecordRow): HistoryRecord {
  return {
    ...toNotification(row),
    // The record of a deleted token stays. If there is none, its id is shown as the name.
    tokenName: row.token_name ?? row.token_id,
    cleared: toCleared(row),
    acknowledged: toAcknowledged(row),
    receipts: { shown: row.shown, expired: row.expired, cleared: row.cleared_on_panels },
  };
}

/** What a row takes of the disk beside its texts, as an estimate: columns, keys and terms. */
const rowOverheadBytes = 420;
export const rowBytes = rowBytesOver(rowOverheadBytes);
export const rowBytesSql = rowBytesSqlOver(rowOverheadBytes);
