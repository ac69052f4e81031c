/** How the log's rows become what core speaks of. */
import type { Entry, HistoryRecord, Notification, Route } from '#core/ports.ts';
import {
  acknowledgedColumns,
  acknowledgedJoin,
  rowBytesOver,
  rowBytesSqlOver,
  toAcknowledged,
  toChange,
  toCleared,
} from '../history-rows.ts';
import type { StateRow } from '../log-search.ts';
import type { Partition } from './partitions.ts';

/** A row of the log `n`, as {@link entryColumns} selects it. */
export interface EntryRow {
  readonly row: number;
  readonly position: number;
  readonly id: string;
  readonly at: number;
  readonly route: Route;
  /** null: a notification, whose columns are set as in {@link NotificationRow}. */
  readonly cleared: number | null;
  readonly by: string | null;
  readonly reason: string | null;
  /** The note of an acknowledgement; null for a clearing. */
  readonly message: string | null;
}

export interface NotificationRow extends EntryRow {
  readonly title: string;
  readonly message: string;
  readonly level: string;
  readonly rank: number;
  readonly ttl: number;
  readonly sent_level: string | null;
  readonly sent_ttl: number | null;
  readonly expires_at: number | null;
  readonly ip: string | null;
  readonly host: string | null;
  readonly key: string | null;
  readonly url: string | null;
  readonly source_ip: string;
  readonly token_id: string;
  readonly throttled_on: string | null;
  readonly throttle_count: number;
}

/** As {@link recordsIn} reads it. */
export interface RecordRow extends NotificationRow, StateRow {
  readonly token_name: string | null;
  readonly expired: number;
  readonly cleared_on_panels: number;
}

/** Goes with `FROM log n`. */
export const entryColumns = `n.row, n.position, n.id, n.at, n.route, n.cleared, n."by", n.reason, n.title, n.message, n.level,
  n.rank, n.ttl, n.sent_level, n.sent_ttl, n.expires_at, n.ip, n.host, n.key, n.url, n.source_ip, n.token_id, n.throttled_on,
  n.throttle_count`;

/**
 * Reads records, newest first, where `found` selects rows of a partition's log. No other partition is looked at.
 * OFFSET 0: the planner, which does not know how few they are, shall not read the states of all rows.
 */
export const recordsIn = ({ low }: Partition, found: string) => `SELECT ${entryColumns}, t.name AS token_name,
    s.cleared_at, s.cleared_by, s.cleared_reason, ${acknowledgedColumns}, r.shown, r.expired, r.cleared_on_panels
  FROM (${found}) n LEFT JOIN credentials t ON t.tenant = n.tenant AND t.id = n.token_id
  ${acknowledgedJoin} LEFT JOIN LATERAL (SELECT * FROM log_state_${low} WHERE row = n.row OFFSET 0) s ON true
  CROSS JOIN LATERAL (SELECT count(shown_at) AS shown, count(expired_at) AS expired, count(cleared_at) AS cleared_on_panels
    FROM receipts_${low} WHERE row = n.row) r
  ORDER BY n.position DESC`;

export function toEntry(row: EntryRow): Entry {
  return row.cleared === null ? toNotification(row as NotificationRow) : toChange(row);
}

export function toNotification(row: NotificationRow): Notification {
  return {
    kind: 'notification',
    position: row.position,
    id: row.id,
    receivedAt: row.at,
    title: row.title,
    message: row.message,
    level: row.level,
    rank: row.rank,
    ttl: row.ttl,
    sentLevel: row.sent_level ?? row.level,
    sentTtl: row.sent_ttl,
    expiresAt: row.expires_at,
    ip: row.ip,
    host: row.host,
    key: row.key,
    url: row.url,
    sourceIp: row.source_ip,
    tokenId: row.token_id,
    route: row.route,
    throttledOn: row.throttled_on,
    throttleCount: row.throttle_count,
  };
}

export function toRecord(row: RecordRow): HistoryRecord {
  return {
    ...toNotification(row),
    // A token's record outlives the token; should it be missing all the same, its id still tells senders apart.
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
