/** Converts rows of the log to the types of core. */
import type { CountedNotification, Entry, HistoryRecord, Notification } from '#core/log/log.ts';
import type { Route, TenantId } from '#core/log/route.ts';
import {
  acknowledgedColumns,
  acknowledgedJoin,
  columnList,
  type EntryColumns,
  type MemoryRow,
  type NotificationColumns,
  returnReasons,
  rowBytesOver,
  rowBytesSqlOver,
  type StateRow,
  sharedFields,
  toAcknowledged,
  toChange,
  toCleared,
  toMemory,
} from '../../log/history-rows.ts';
import type { Connections } from '../connections.ts';

/** A row of the log `n`, as {@link entryColumns} selects it. */
export interface EntryRow extends EntryColumns {
  readonly id: string;
  readonly route: Route;
  /** Of an acknowledgement or shelf: until when. */
  readonly expires_at: number | null;
}

export interface NotificationRow extends EntryRow, NotificationColumns<string> {
  readonly message: string;
  readonly ttl: number;
  readonly throttled_on: string | null;
  readonly throttle_count: number;
}

/** As {@link readRecords} reads it. */
export interface RecordRow extends NotificationRow, StateRow, MemoryRow {
  readonly token_name: string | null;
  readonly is_live: boolean;
  readonly counted: number | null;
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
  SELECT ${entryColumns}, t.name AS token_name, s.cleared_at, s.cleared_by, s.cleared_reason, s.counted,
    l.row IS NOT NULL AS is_live, l.since, l.earlier, l.highest_level, l.highest_rank, l.shelved, l.owner, l.escalation, l.step, l.next_step_at,
    ${acknowledgedColumns}, coalesce(r.shown, 0) AS shown, coalesce(r.expired, 0) AS expired, coalesce(r.cleared, 0) AS cleared_on_panels
  FROM n LEFT JOIN credentials t ON t.tenant = n.tenant AND t.id = n.token_id ${acknowledgedJoin}
  LEFT JOIN live l ON l.tenant = n.tenant AND l.rank = n.rank AND l.position = n.position
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

/** Also reads the notifications of alarms that came off the shelf: their entries show them again. */
export async function toEntries(
  connections: Connections,
  tenant: TenantId,
  rows: readonly EntryRow[],
): Promise<Entry[]> {
  const back = rows.filter(
    ({ reason }) => reason === returnReasons.shelved || reason === returnReasons.suppressed,
  );
  const shown = await readNotifications(
    connections,
    tenant,
    back.map(({ id }) => id),
  );
  return rows.map((row) =>
    row.cleared === null
      ? toNotification(row as NotificationRow)
      : toChange({ ...row, until: row.expires_at }, () => shown.get(row.id)),
  );
}

/** Those that are kept, by their ids, with what throttles have counted on them. */
export async function readNotifications(
  connections: Connections,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CountedNotification>> {
  if (ids.length === 0) return new Map();
  const rows = await connections.query<NotificationRow & { counted: number | null }>(
    tenant,
    `WITH n AS MATERIALIZED (SELECT * FROM find_entries($1, $2::uuid[]))
     SELECT ${entryColumns}, s.counted FROM n
     LEFT JOIN states_of($1, (SELECT array_agg(row) FROM n)) s ON s.row = n.row`,
    [tenant, [...new Set(ids)]],
  );
  return new Map(rows.map((row) => [row.id, { ...toNotification(row), count: row.counted ?? 0 }]));
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
    alarm: row.is_live ? toMemory(row, { receivedAt: row.at, ...row }, row.counted ?? 0) : null,
  };
}

/** What a row takes of the disk beside its texts, as an estimate: columns, keys and terms. */
const rowOverheadBytes = 420;
export const rowBytes = rowBytesOver(rowOverheadBytes);
export const rowBytesSql = rowBytesSqlOver(rowOverheadBytes);
