/** How the log's rows become what core speaks of. Every reader of the log goes through here. */
import type { Clear, Entry, Notification } from '#core/ports.ts';
import type { RouteReader } from './routes.ts';

/** A row of a partition's log `n`, as {@link entryColumns} selects it. */
export interface EntryRow {
  readonly row: number;
  readonly tenant: number;
  readonly position: number;
  readonly id: Buffer;
  readonly at: number;
  readonly route: number;
  /** null: a notification, whose columns below `reason` are set as in {@link NotificationRow}. */
  readonly cleared: number | null;
  readonly by: string | null;
  readonly reason: string | null;
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
  readonly throttled_on: Buffer | null;
  readonly throttle_count: number;
}

/** Goes with `FROM <log> n`. */
export const entryColumns = `n.row, n.tenant, n.position, n.id, n.at, n.route, n.cleared, n."by", n.reason, n.title,
  n.message, n.level, n.rank, n.ttl, n.sent_level, n.sent_ttl, n.expires_at, n.ip, n.host, n.key, n.url, n.source_ip,
  n.token_id, n.throttled_on, n.throttle_count`;

export function toEntry(row: EntryRow, routes: RouteReader): Entry {
  return row.cleared === null ? toNotification(row as NotificationRow, routes) : toClear(row, routes);
}

export function toNotification(row: NotificationRow, routes: RouteReader): Notification {
  return {
    kind: 'notification',
    position: row.position,
    id: uuidToText(row.id),
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
    route: routes.get(row.tenant, row.route),
    throttledOn: row.throttled_on === null ? null : uuidToText(row.throttled_on),
    throttleCount: row.throttle_count,
  };
}

function toClear(row: EntryRow, routes: RouteReader): Clear {
  return {
    kind: 'clear',
    position: row.position,
    id: uuidToText(row.id),
    reason: row.reason === 'replaced' ? 'replaced' : 'cleared',
    by: row.by ?? '',
    at: row.at,
    route: routes.get(row.tenant, row.route),
  };
}

/** 16 bytes to the canonical lower-case text. */
export function uuidToText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Text to 16 bytes; undefined when it is no UUID, which is how a foreign id in a request turns into "not found". */
export function uuidToBlob(text: string): Buffer | undefined {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return undefined;
  return Buffer.from(text.replaceAll('-', ''), 'hex');
}

/** What a row takes of the disk beside its texts, as an estimate: columns, keys and terms. */
const rowOverheadBytes = 220;

/** What a notification takes of the disk, as an estimate. */
export const rowBytes = (title: string, message: string): number =>
  rowOverheadBytes + Buffer.byteLength(title) + Buffer.byteLength(message);

/** The same of a row that is stored. */
export const rowBytesSql = `${rowOverheadBytes} + octet_length(title) + octet_length(message)`;
