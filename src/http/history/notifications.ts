import { type Static, Type } from 'typebox';
import type { ChannelDelivery } from '#contract/channels/channel.ts';
import { AcknowledgeAlarm, ClearAlarm } from '#contract/history/alarm.ts';
import { AcknowledgeAccepted } from '#contract/history/notification.ts';
import { ClearAccepted, type PanelReceipt, Receipts, ReceiptsAccepted } from '#contract/panels/panel.ts';
import { minRankOf } from '#contract/routing/level-styles.ts';
import { NotificationDetail } from '#contract/routing/routing.ts';
import { escalationOf } from '#core/alarms/escalations.ts';
import { deliveryView } from '#core/channels/channels.ts';
import { badRequest, notFound } from '#core/errors.ts';
import { historyView } from '#core/log/history-view.ts';
import type { HistoryRecord } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { reaches } from '#core/log/target.ts';
import { mayReadReceivers, mayUsePanel, type Principal } from '#core/people/access.ts';
import { traceOf } from '#core/routing/explain-request.ts';
import { notSuppressed, suppressionOf } from '#core/routing/explain-suppressed.ts';
import { instructionsOf } from '#core/routing/instructions.ts';
import type { TenantSnapshot } from '#core/tenants/tenancy.ts';
import { iso, isoOrNull } from '#core/time/time.ts';
import { IdPath, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';
import { acknowledgeOne, actOnOne, panelsOrMembers, toAction } from './alarm-actions.ts';

/** The most panels whose receipts one response lists; panels with receipts come first. */
const maxReceipts = 1_000;

/** One notification: its trace and deliveries, acknowledging and clearing it. */
export function notificationRoutes(app: App, services: Services): void {
  const { history, tenancy, receipts, metrics, now } = services;

  app.get(
    '/api/notifications/:id',
    route(
      { scope: 'notify', role: 'viewer' },
      {
        summary: 'A notification, its routing trace, and its state on each panel',
        description: 'A token can read only the notifications that it sent.',
        params: IdPath,
        response: { 200: NotificationDetail },
      },
    ),
    async ({ principal, params }) => {
      const record = await history.find(principal.tenant, params.id);
      if (!record || (principal.kind === 'token' && record.tokenId !== principal.id))
        throw notFound('notification');
      const snapshot = await tenancy.get(principal.tenant);
      // A sender needs to know no internal procedures, and no notifications of others.
      const suppression =
        principal.kind === 'token' ? notSuppressed : await suppressionOf(services, snapshot, record);
      return {
        ...historyView(record, snapshot, now()),
        trace: await traceOf(services, snapshot, record, suppression),
        suppressedBy: suppression.suppressedBy,
        instructions: principal.kind === 'token' ? [] : instructionsOf(record, snapshot.router),
        deliveries: await deliveries(services, snapshot, record),
        channels: await channelDeliveries(services, snapshot, record, principal),
        escalation: await escalationView(services, principal.tenant, record),
      };
    },
  );

  app.post(
    '/api/notifications/:id/clear',
    route(panelsOrMembers, {
      summary: 'Take a notification off every panel; history keeps it',
      description:
        'If it was replaced, this clears the one that is on panels in its place now: `id` says which. As `POST /api/alarms/{id}/clear`.',
      params: IdPath,
      body: Type.Union([ClearAlarm, Type.Null()]),
      response: { 200: ClearAccepted },
    }),
    async ({ principal, params, body }) => {
      const action = toAction(services, principal, { ...body, action: 'clear' });
      const outcome = await actOnOne(services, principal, params.id, action, 'notification');
      return { ok: true as const, id: outcome.id, cleared: outcome.kind === 'done' };
    },
  );

  app.post(
    '/api/notifications/:id/acknowledge',
    route(panelsOrMembers, {
      summary: 'Say that somebody has seen a notification and takes care of it',
      description:
        'Every panel shows who, when and the note. The first one counts: a later call of somebody else answers who that was, unless `take` is true. Who acknowledged it can change the note or the time. As `POST /api/alarms/{id}/acknowledge`, except that a repeated call without fields changes nothing. If the notification was replaced, by an escalation for example, this acknowledges the one that is on panels in its place now: `id` says which.',
      params: IdPath,
      body: Type.Union([AcknowledgeAlarm, Type.Null()]),
      response: { 200: AcknowledgeAccepted },
    }),
    async ({ principal, params, body }) => {
      const action = toAction(services, principal, { ...body, action: 'acknowledge' });
      // Older clients that repeat the call mean to change nothing.
      const changes = body?.note !== undefined || body?.forMs !== undefined || body?.take;
      const given = changes ? action : { ...action, over: undefined };
      return acknowledgeOne(services, principal, params.id, given, 'notification');
    },
  );

  app.post(
    '/api/panels/:id/receipts',
    route('panel', {
      summary: 'Receipts: what a panel showed, and how it ended there',
      description:
        'Only the first receipt for each state counts. Notifications that were not routed to this panel are ignored.',
      params: IdPath,
      body: Receipts,
      response: { 200: ReceiptsAccepted },
      rateLimit: 'by panel',
    }),
    async ({ principal, params, body }) => {
      const { tenant } = principal;
      const panel = await tenancy.findPanel(tenant, params.id);
      if (!panel || !mayUsePanel(principal, panel.id)) throw notFound('panel');
      const fresh = await receipts.record(
        tenant,
        panel,
        body.map(({ id, state, at, inGroup }) => ({
          id,
          state,
          at: receiptTime(at, now()),
          ...(inGroup && state === 'shown' && { inGroup }),
        })),
      );
      const ofTenant = metrics.of(tenant);
      for (const { state, receivedAt } of fresh) {
        ofTenant.delivered(state, 1);
        if (state === 'shown') ofTenant.shownAfter(Math.max(0, now() - receivedAt) / 1000);
      }
      return { ok: true as const, recorded: fresh.length };
    },
  );
}

/** The time that a panel reports, but at most `now`, because the panel's clock may be ahead. */
function receiptTime(at: string | number, now: number): number {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  if (!Number.isFinite(ms)) throw badRequest('at must be an ISO 8601 time or Unix milliseconds');
  return Math.min(ms, now);
}

/** The next step of a notification, and what it was escalated from and to, as answers have them. */
export async function escalationView(services: Services, tenant: TenantId, record: HistoryRecord) {
  const { next, ...others } = await escalationOf(services, tenant, record);
  return { next: next && { ...next, at: iso(next.at) }, ...others };
}

/** For each channel that it was queued for. */
async function channelDeliveries(
  services: Services,
  { record: { id: tenant }, channels }: TenantSnapshot,
  { id, title, route }: HistoryRecord,
  principal: Principal,
): Promise<ChannelDelivery[]> {
  if (!route.channels) return [];
  const rows = await services.deliveries.listByNotification(tenant, id);
  const shown = mayReadReceivers(principal) ? rows : rows.map((row) => ({ ...row, answer: null }));
  return shown.map((row) => deliveryView(row, channels.get(row.channel)?.name ?? '', title));
}

/** For each panel: whether it was sent, and the receipts. */
async function deliveries(
  { receipts, presence, directory, usage }: Services,
  { record: { id: tenant }, levels }: TenantSnapshot,
  record: HistoryRecord,
): Promise<Static<typeof PanelReceipt>[]> {
  if (record.route.muted || record.throttledOn !== null) return [];
  // Panels are read from the directory, because the tenant snapshot has outdated cursors of offline panels.
  const [rows, { panels: connected }, panels] = await Promise.all([
    receipts.of(tenant, [record.id]),
    presence.online(tenant),
    directory.panels.list(tenant),
  ]);
  const receiptOf = new Map((rows.get(record.id) ?? []).map((row) => [row.panelId, row]));
  const reached = panels.filter((panel) => reaches(record.route.target, panel));
  const listed = reached
    .sort((a, b) => Number(receiptOf.has(b.id)) - Number(receiptOf.has(a.id)))
    .slice(0, maxReceipts);
  return listed.map((panel) => {
    const row = receiptOf.get(panel.id);
    const cursor = connected.get(panel.id)?.cursor ?? usage.lastContact(panel)?.cursor ?? panel.cursor ?? 0;
    return {
      panel: { id: panel.id, name: panel.name },
      online: connected.has(panel.id),
      sent: cursor >= record.position && panel.createdAt <= record.receivedAt ? true : row !== undefined,
      hidden: record.rank < minRankOf(panel.display, levels),
      shownAt: isoOrNull(row?.shownAt),
      inGroup: row?.inGroup ?? false,
      expiredAt: isoOrNull(row?.expiredAt),
      clearedAt: isoOrNull(row?.clearedAt),
    };
  });
}
