/** Queues notifications for channels. Runs inside the transaction of its batch. */
import { isResolve } from '#core/channels/channels.ts';
import type { Notification } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { isOffPanels } from '#core/log/route.ts';
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
      'UPDATE deliveries SET open_key = NULL WHERE tenant = ? AND open_key = ? RETURNING channel',
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
      .of('UPDATE deliveries SET open_key = NULL WHERE tenant = ? AND open_key = ? AND channel = ?')
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
