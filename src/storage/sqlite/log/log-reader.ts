/** Reads of the log. Each must run inside a transaction, so that nothing changes during it. */
import type { AlarmCursor, AlarmPlace, AlarmPlaces, AlarmsWanted } from '#core/log/alarm-places.ts';
import type { DueReturn, Entry, LiveNotification, LivePosition, LogBounds, LogPage } from '#core/log/log.ts';
import type { ReceiptRow } from '#core/log/receipts.ts';
import type { TenantId } from '#core/log/route.ts';
import type { PanelAddress } from '#core/log/target.ts';
import { charsBySender, firstAlarmRank, leavesAt } from '../../log/history-rows.ts';
import { notificationFinder, readAcknowledged } from './alarms.ts';
import type { Leaving, StandingRow } from './live-order.ts';
import { entriesFrom, findById, idAt } from './log-lookup.ts';
import { findPartition, tablesOf } from './partitions.ts';
import { type EntryRow, entryColumns, type LogConnection, type NotificationRow } from './rows.ts';
import { readLog } from './tenant-log.ts';

export function bounds({ sql }: LogConnection, tenant: number): LogBounds {
  const { head, first } = readLog(sql, tenant);
  return { head, first };
}

export function heads({ sql }: LogConnection, tenants: readonly number[]): ReadonlyMap<number, number> {
  const heads = sql
    .of<[string], { tenant: number; head: number }>(
      'SELECT tenant, head FROM logs WHERE tenant IN (SELECT value FROM json_each(?))',
    )
    .all(JSON.stringify(tenants));
  return new Map(heads.map(({ tenant, head }) => [tenant, head]));
}

export function size({ sql }: LogConnection, tenant: number): { notifications: number; bytes: number } {
  const { notifications, bytes } = readLog(sql, tenant);
  return { notifications, bytes };
}

export function readAfter(
  connection: LogConnection,
  tenant: number,
  position: number,
  limit: number,
): LogPage {
  const { sql, reader } = connection;
  const { head, first } = bounds(connection, tenant);
  const after = Math.max(position, first - 1);
  const entries: Entry[] = [];
  if (after >= head) return { head, first, entries };
  const range = { tenant, from: after + 1, limit };
  const find = notificationFinder(connection);
  for (const { partition, rows } of entriesFrom<EntryRow>(sql, range, entryColumns))
    for (const row of rows) entries.push(reader.entry(row, partition, find));
  return { head, first, entries };
}

export function live(
  connection: LogConnection,
  tenant: number,
  panel: PanelAddress,
  { now, limit }: { readonly now: number; readonly limit: number },
): { head: number; positions: LivePosition[] } {
  const { sql, liveOrder } = connection;
  const { head } = bounds(connection, tenant);
  const routes = liveOrder.routesTo(tenant, panel);
  const positions = sql
    .of<[number, string, number, number], LivePosition>(
      `SELECT rank, position FROM temp.live_order o
       WHERE tenant = ? AND route IN (SELECT value FROM json_each(?))
         AND EXISTS (SELECT 1 FROM live l WHERE l.row = o.row AND (l.expires_at IS NULL OR l.expires_at > ?) AND l.shelved IS NULL)
       ORDER BY rank DESC, position DESC LIMIT ?`,
    )
    .all(tenant, JSON.stringify(routes), now, limit);
  return { head, positions };
}

export function readLive(
  connection: LogConnection,
  tenant: number,
  positions: readonly number[],
  { now, chars }: { readonly now: number; readonly chars: number },
): { notifications: LiveNotification[]; scanned: number } {
  const notifications: LiveNotification[] = [];
  let scanned = 0;
  let taken = 0;
  const rows = connection.liveOrder.rowsAt(tenant, positions);
  for (const position of positions) {
    const row = rows.get(position);
    const isShown = row && row.isOff === 0 && (row.expiresAt === null || row.expiresAt > now);
    const found = isShown ? readLiveRow(connection, tenant, row) : undefined;
    taken += found ? charsBySender(found) : 0;
    if (taken > chars && notifications.length > 0) break;
    scanned += 1;
    if (found) notifications.push(found);
  }
  return { notifications, scanned };
}

function readLiveRow(
  { sql, reader }: LogConnection,
  tenant: number,
  { row, expiresAt }: StandingRow,
): LiveNotification | undefined {
  const partition = findPartition(sql, row);
  if (!partition) return undefined;
  const { log, state } = tablesOf(partition);
  const found = sql
    .of<[number], NotificationRow & { counted: number | null }>(
      `SELECT ${entryColumns}, s.counted FROM ${log} n LEFT JOIN ${state} s ON s.row = n.row WHERE n.row = ?`,
    )
    .get(row);
  if (!found) return undefined;
  const acknowledged = readAcknowledged(sql, tenant, row);
  return { ...reader.notification(found, partition), expiresAt, count: found.counted ?? 0, acknowledged };
}

export function findLive(
  { sql }: LogConnection,
  tenant: number,
  key: string,
  now: number,
): string | undefined {
  const found = sql
    .of<[number, string, number], { row: number }>(
      // SQLite would go through all that the tenant has on panels.
      `SELECT row FROM live INDEXED BY live_keys
       WHERE tenant = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY position DESC LIMIT 1`,
    )
    .get(tenant, key, now);
  return found && idAt(sql, found.row);
}

/** The most ids that `stayingBeyond` returns. */
const idsAtOnce = 5_000;

export function stayingBeyond(
  { sql, liveOrder }: LogConnection,
  tenant: number,
  limit: number,
  until: number,
): string[] {
  liveOrder.refresh();
  const rows = sql
    .of<number[], { row: number }>(
      `SELECT row FROM temp.live_order o WHERE tenant = ?
         AND EXISTS (SELECT 1 FROM live l WHERE l.row = o.row AND (l.expires_at IS NULL OR l.expires_at > ?))
       ORDER BY rank DESC, position DESC LIMIT ${idsAtOnce} OFFSET ?`,
    )
    .all(tenant, until, limit);
  return rows.map(({ row }) => idAt(sql, row));
}

/** How many live notifications one call scans for expired ones: some two milliseconds. */
const scannedAtOnce = 10_000;

/**
 * Scans the live notifications of all tenants in the rows after the given one, and returns the rows of at most `limit` that have expired.
 * `upTo`: the last row scanned; undefined at the end of the list.
 */
export function expired(
  { sql }: LogConnection,
  now: number,
  after: number,
  limit: number,
): { expired: number[]; upTo: number | undefined } {
  const scanned = sql
    .of<number[], [row: number, isExpired: 0 | 1 | null]>(
      `SELECT row, expires_at <= ? FROM live WHERE row > ? ORDER BY row LIMIT ${scannedAtOnce}`,
    )
    .raw()
    .all(now, after);
  const expired = scanned.flatMap(([row, isExpired]) => (isExpired === 1 ? row : [])).slice(0, limit);
  if (expired.length === limit) return { expired, upTo: expired.at(-1) };
  return { expired, upTo: scanned[scannedAtOnce - 1]?.[0] };
}

/** How many live notifications one call compares with the log: some five milliseconds. */
const comparedAtOnce = 1_000;

/**
 * Looks, in the rows after the given one, for live notifications that should leave at another time because the clock was set
 * ({@link leavesAt}). `upTo`: the last row compared; undefined at the end of the list.
 */
export function misdated(
  { sql }: LogConnection,
  now: number,
  after: number,
): { misdated: Leaving[]; upTo: number | undefined } {
  const compared = sql
    .of<[number], { row: number; leaves: number }>(
      `SELECT row, expires_at AS leaves FROM live WHERE row > ? AND expires_at IS NOT NULL ORDER BY row LIMIT ${comparedAtOnce}`,
    )
    .all(after);
  const misdated = compared.flatMap(({ row, leaves }): Leaving[] => {
    const partition = findPartition(sql, row);
    const stored =
      partition &&
      sql
        .of<[number], { receivedAt: number; expiresAt: number }>(
          `SELECT at AS receivedAt, at + lasts AS expiresAt FROM ${tablesOf(partition).log} WHERE row = ?`,
        )
        .get(row);
    const at = stored ? leavesAt({ ...stored, leaves }, now) : leaves;
    return at === leaves ? [] : [[row, at]];
  });
  return { misdated, upTo: compared[comparedAtOnce - 1]?.row };
}

export function receiptsOf(
  { sql }: LogConnection,
  tenant: number,
  ids: readonly string[],
): ReadonlyMap<string, readonly ReceiptRow[]> {
  const receipts = new Map<string, readonly ReceiptRow[]>();
  for (const id of ids) {
    const found = findById(sql, tenant, id);
    if (!found) continue;
    const rows = sql
      .of<[number], Omit<ReceiptRow, 'inGroup'> & { readonly inGroup: 1 | null }>(
        `SELECT panel_id AS panelId, shown_at AS shownAt, in_group AS inGroup, expired_at AS expiredAt, cleared_at AS clearedAt
         FROM ${tablesOf(found.partition).receipts} WHERE row = ? ORDER BY panel_id`,
      )
      .all(found.row)
      .map((row) => ({ ...row, inGroup: row.inGroup === 1 }));
    if (rows.length > 0) receipts.set(id, rows);
  }
  return receipts;
}

export function firstShown(
  connection: LogConnection,
  tenant: number,
  ids: readonly string[],
): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const [id, receipts] of receiptsOf(connection, tenant, ids)) {
    const shown = receipts.flatMap(({ shownAt }) => shownAt ?? []);
    if (shown.length > 0) times.set(id, Math.min(...shown));
  }
  return times;
}

export function titles(
  connection: LogConnection,
  tenant: TenantId,
  ids: readonly string[],
): ReadonlyMap<string, string> {
  const find = notificationFinder(connection);
  return new Map(ids.flatMap((id) => find(tenant, id) ?? []).map(({ id, title }) => [id, title]));
}

/** The lowest revision of rules in the stored routes; undefined without any. */
export function oldestRevision({ sql }: LogConnection, tenant: number): number | undefined {
  const found = sql
    .of<[number], { revision: number | null }>(
      "SELECT min(route ->> '$.revision') AS revision FROM routes WHERE tenant = ?",
    )
    .get(tenant);
  return found?.revision ?? undefined;
}

/** Alarms. */

export function alarms(
  { sql, liveOrder }: LogConnection,
  tenant: TenantId,
  { now, among, states, after, limit }: AlarmsWanted,
): AlarmPlaces {
  liveOrder.refresh();
  const isAmong = among && new Set(among);
  const standing = sql
    .of<[number, number], Omit<AlarmPlace, 'id'> & { row: number }>(
      `SELECT l.position, l.row, l.rank, coalesce(l.since, 0) AS since,
         CASE WHEN l.suppressed IS NOT NULL THEN 'suppressed' WHEN l.shelved IS NOT NULL THEN 'shelved' WHEN a.row IS NOT NULL THEN 'acknowledged' ELSE 'open' END AS state
       FROM temp.live_order o CROSS JOIN live l ON l.row = o.row
       LEFT JOIN acknowledgements a ON a.tenant = o.tenant AND a.row = o.row
       WHERE o.tenant = ? AND (l.expires_at IS NULL OR l.expires_at > ?) AND l.rank >= ${firstAlarmRank}
       ORDER BY l.rank DESC, since DESC, l.position DESC`,
    )
    .all(tenant, now)
    .filter(({ position }) => isAmong?.has(position) ?? true);
  const counts = { open: 0, acknowledged: 0, shelved: 0, suppressed: 0 };
  for (const { state } of standing) counts[state] += 1;
  const page = standing
    .filter((place) => states.includes(place.state) && (!after || isAfter(place, after)))
    .slice(0, limit);
  return { places: page.map(({ row, ...place }) => ({ ...place, id: idAt(sql, row) })), counts };
}

/** In the order of a list. */
function isAfter(place: AlarmCursor, { rank, since, position }: AlarmCursor): boolean {
  return (rank - place.rank || since - place.since || position - place.position) > 0;
}

export function dueReturns({ sql }: Pick<LogConnection, 'sql'>, now: number, limit: number): DueReturn[] {
  return sql
    .of<[{ now: number; limit: number }], { tenant: TenantId; row: number; isShelved: 0 | 1 }>(
      `SELECT tenant, row, shelved IS NOT NULL AS isShelved FROM live INDEXED BY live_returns
       WHERE returns_at <= @now AND (expires_at IS NULL OR expires_at > @now) ORDER BY returns_at LIMIT @limit`,
    )
    .all({ now, limit })
    .map(({ tenant, row, isShelved }) => ({
      tenant,
      id: idAt(sql, row),
      kind: isShelved === 1 ? 'unshelve' : 'unacknowledge',
    }));
}

export function entriesOf(
  connection: LogConnection,
  tenant: TenantId,
  ids: readonly string[],
  limit: number,
): Entry[] {
  const { sql } = connection;
  const positions = ids.flatMap((id) => {
    const found = findById(sql, tenant, id);
    if (!found) return [];
    return sql
      .of<[number, number, number], { position: number }>(
        'SELECT position FROM alarm_entries WHERE tenant = ? AND row = ? ORDER BY position DESC LIMIT ?',
      )
      .all(tenant, found.row, limit)
      .map(({ position }) => position);
  });
  const newest = positions.sort((a, b) => a - b).slice(-limit);
  return newest.flatMap((position) => entryAt(connection, tenant, position) ?? []);
}

/** The entry at a position, if it is kept. */
export function entryAt(connection: LogConnection, tenant: TenantId, position: number): Entry | undefined {
  const { sql, reader } = connection;
  for (const { partition, rows } of entriesFrom<EntryRow>(
    sql,
    { tenant, from: position, limit: 1 },
    entryColumns,
  ))
    for (const row of rows)
      if (row.position === position) return reader.entry(row, partition, notificationFinder(connection));
  return undefined;
}
