/**
 * Queues notifications, and what happens to their alarms, for channels. Runs inside the transaction of its batch. Without the name of
 * the index, SQLite goes through all deliveries of a tenant.
 */
import type { AlarmEvent, ChannelKind } from '#contract/channels/channel-fields.ts';
import { isResolve } from '#core/channels/channels.ts';
import { updatesOf, wantedUpdates } from '#core/channels/updates.ts';
import type { Notification } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { isOffPanels } from '#core/log/route.ts';
import { type FoundRow, findById, keyAt } from './log-lookup.ts';
import type { Inserted, LogWriter } from './log-writer.ts';
import type { Statements } from './partitions.ts';
import type { DraftRow } from './rows.ts';

/**
 * To the channels that its route names, unless a throttle counted it; the end of an alert also to those that had the alert, unless it
 * is muted: then the answer is true. A channel that is deleted or disabled gets nothing.
 */
export function queueDeliveries(
  { sql }: LogWriter,
  tenant: TenantId,
  draft: DraftRow,
  { position, decided }: Inserted,
): boolean {
  const { id, receivedAt, key, throttledOn } = draft;
  const ends = isResolve(draft);
  const own = throttledOn === null && !isOffPanels(decided) ? (decided.channels ?? []) : [];
  const had = ends && !decided.muted ? closeAlert(sql, tenant, key) : [];
  for (const channel of new Set([...own, ...had])) {
    const openKey = ends ? null : key;
    queueDelivery(sql, tenant, channel, { id, position, at: receivedAt, openKey });
  }
  return had.length > 0;
}

/** Returns the channels that had an alert with this key, and not its end. */
function closeAlert(sql: Statements, tenant: TenantId, key: string | null): string[] {
  const closed = sql
    .of<[number, string | null], { channel: string }>(
      'UPDATE deliveries INDEXED BY deliveries_open SET open_key = NULL WHERE tenant = ? AND open_key = ? RETURNING channel',
    )
    .all(tenant, key);
  return closed.map(({ channel }) => channel);
}

interface Queued {
  readonly id: string;
  readonly position: number;
  readonly at: number;
  /** The key of an alert, whose end then goes to this channel, too. */
  readonly openKey: string | null;
}

function queueDelivery(
  sql: Statements,
  tenant: TenantId,
  channel: string,
  { id, position, at, openKey }: Queued,
): void {
  if (openKey !== null)
    sql
      .of(
        'UPDATE deliveries INDEXED BY deliveries_open SET open_key = NULL WHERE tenant = ? AND open_key = ? AND channel = ?',
      )
      .run(tenant, openKey, channel);
  sql
    .of(
      `INSERT INTO deliveries (tenant, channel, position, notification, state, queued_at, open_key)
       SELECT tenant, id, ?, ?, 'pending', ?, ? FROM channels WHERE tenant = ? AND id = ? AND enabled = 1`,
    )
    .run(position, id, at, openKey, tenant, channel);
}

/** What was suppressed when it came goes to its channels when it is on the panels for the first time. */
export function queueReturned(
  sql: Statements,
  tenant: TenantId,
  { id, position, key, route: { suppressed, channels = [] } }: Notification,
  at: number,
): void {
  if (suppressed === undefined) return;
  const known = sql
    .of<[number, string], string>('SELECT channel FROM deliveries WHERE tenant = ? AND notification = ?')
    .pluck()
    .all(tenant, id);
  for (const channel of channels)
    if (!known.includes(channel)) queueDelivery(sql, tenant, channel, { id, position, at, openKey: key });
}

/** What happened to an alarm, as the entry at `position` has it. */
interface Update {
  readonly event: AlarmEvent;
  readonly position: number;
  readonly at: number;
  /** The channel from which it came. */
  readonly from?: string | undefined;
}

/** For the channels that had a notification of the alarm since it began, and want to be told. The end of an alarm is none. */
export function queueUpdate(
  writer: LogWriter,
  tenant: TenantId,
  alarm: { readonly found: FoundRow; readonly id: string; readonly since: number | null },
  { event, position, at, from }: Update,
): void {
  const { sql } = writer;
  const wanted = wantedUpdates[event];
  const key = keyAt(sql, alarm.found);
  if (isResolve({ key, rank: alarm.found.rank })) return;
  const had = channelsOf(writer, tenant, { ...alarm, key });
  for (const [channel, notification] of had) {
    if (channel === from) continue;
    const found = sql
      .of<[number, string], { kind: ChannelKind; settings: string }>(
        'SELECT kind, settings FROM channels WHERE tenant = ? AND id = ? AND enabled = 1',
      )
      .get(tenant, channel);
    if (!found || !wanted[found.kind]?.includes(updatesOf(JSON.parse(found.settings)))) continue;
    sql
      .of(
        `INSERT INTO deliveries (tenant, channel, position, notification, state, queued_at, event)
         VALUES (?, ?, ?, ?, 'pending', ?, ?)`,
      )
      .run(tenant, channel, position, notification, at, event);
  }
}

/** The newest notification of the alarm that each channel had. */
function channelsOf(
  writer: LogWriter,
  tenant: TenantId,
  { found, id, since, key }: Parameters<typeof queueUpdate>[2] & { readonly key: string | null },
): ReadonlyMap<string, string> {
  const from = [id, ...escalatedIds(writer, tenant, found)];
  const rows = writer.sql
    .of<[object], { channel: string; notification: string }>(
      `SELECT channel, notification FROM (
         SELECT d.* FROM json_each(@ids) i CROSS JOIN deliveries d INDEXED BY deliveries_notification
           ON d.tenant = @tenant AND d.notification = i.value
         UNION ALL SELECT * FROM deliveries INDEXED BY deliveries_open WHERE tenant = @tenant AND open_key = @key
       ) WHERE event IS NULL AND state <> 'failed' AND queued_at >= @since ORDER BY position`,
    )
    .all({
      ...{ tenant, ids: JSON.stringify(from), key },
      since: since ?? found.receivedAt,
    });
  return new Map(rows.map(({ channel, notification }) => [channel, notification]));
}

/** The most escalations that are followed. */
const mostFollowed = 100;

/** The notifications that it escalates, from each to the one before. */
function escalatedIds(writer: LogWriter, tenant: TenantId, { route }: FoundRow): string[] {
  const ids: string[] = [];
  let { escalates } = writer.routes.get(tenant, route);
  while (escalates !== undefined && ids.length < mostFollowed) {
    ids.push(escalates);
    const earlier = findById(writer.sql, tenant, escalates);
    escalates = earlier && writer.routes.get(tenant, earlier.route).escalates;
  }
  return ids;
}
