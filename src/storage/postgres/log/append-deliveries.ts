/** Queues the deliveries of notifications in the statement that appends them. */
import { isResolve } from '#core/channels/channels.ts';
import type { NotificationDraft, TenantId } from '#core/ports.ts';

interface Appended {
  readonly tenant: TenantId;
  readonly draft: NotificationDraft;
}

/** The channel is locked until the commit, so that a transaction that deletes it sees what was queued for it. */
export const appendAndQueue = `WITH appended AS MATERIALIZED (SELECT * FROM append_notifications($1, $2)),
  wanted AS MATERIALIZED (
    SELECT w.tenant, c.id AS channel, a.at_position, w.id, w.at, w.open_key FROM appended a
    JOIN jsonb_to_recordset($3) w(n bigint, tenant bigint, id text, at bigint, channel text, open_key text) ON w.n = a.job_n
    JOIN channels c ON c.tenant = w.tenant AND c.id = w.channel AND c.enabled = 1
    WHERE a.kind = 'stored' FOR KEY SHARE OF c
  ),
  closed AS (
    UPDATE deliveries d SET open_key = NULL FROM wanted w
    WHERE d.tenant = w.tenant AND d.open_key = w.open_key AND d.channel = w.channel
  ),
  queued AS (
    INSERT INTO deliveries (tenant, channel, position, notification, state, queued_at, open_key)
    SELECT tenant, channel, at_position, id, 'pending', at, open_key FROM wanted
  ),
  resolved AS MATERIALIZED (
    SELECT r.n, queue_resolve(r.tenant, r.key, r.id, a.at_position, r.at, r.channels) AS count FROM appended a
    JOIN jsonb_to_recordset($4) r(n bigint, tenant bigint, key text, id text, at bigint, channels text[]) ON r.n = a.job_n
    WHERE a.kind = 'stored'
  )
  SELECT a.*, r.count AS resolved FROM appended a LEFT JOIN resolved r ON r.n = a.job_n ORDER BY job_n`;

/** One for each channel that its route names. */
export function toDeliveries({ tenant, draft }: Appended, n: number) {
  const { id, receivedAt: at, route, throttledOn, key } = draft;
  if (throttledOn !== null) return [];
  const openKey = isResolve(draft) ? null : key;
  return (route.channels ?? []).map((channel) => ({ n, tenant, id, at, channel, open_key: openKey }));
}

/** The end of an alert, which also goes to the channels that had the alert; `channels`: those that get it anyway. */
export function toResolve({ tenant, draft }: Appended, n: number) {
  const { id, receivedAt: at, route, throttledOn, key } = draft;
  if (!isResolve(draft) || route.muted) return [];
  return [{ n, tenant, key, id, at, channels: throttledOn === null ? (route.channels ?? []) : [] }];
}
