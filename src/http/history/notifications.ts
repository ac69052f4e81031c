import { type Static, Type } from 'typebox';
import { minRankOf } from '#contract/level-styles.ts';
import { ClearAccepted, type PanelReceipt, Receipts, ReceiptsAccepted } from '#contract/panel.ts';
import { NotificationDetail } from '#contract/routing.ts';
import { actorOf, mayUsePanel, type Principal } from '#core/access.ts';
import { badRequest, notFound } from '#core/errors.ts';
import { historyView } from '#core/history-view.ts';
import type { HistoryRecord } from '#core/ports.ts';
import { traceOf } from '#core/routing/explain-request.ts';
import { iso } from '#core/stream/frames.ts';
import { reaches } from '#core/target.ts';
import type { TenantSnapshot } from '#core/tenancy.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';

const Id = Type.Object({ id: Type.String() });

/** Panels whose receipts one answer tells, the ones that said something first. */
const receiptsTold = 1_000;

/** One notification: what became of it, and taking it off the panels. */
export function notificationRoutes(app: App, services: Services): void {
  const { history, tenancy, bus, receipts, metrics, now } = services;

  app.get(
    '/api/notifications/:id',
    {
      config: { policy: { scope: 'notify', role: 'viewer' } },
      schema: {
        tags: ['sending', 'dashboard'],
        summary: 'A notification, why it is (or is not) on which panels, and what became of it there',
        description: 'A token sees the notifications it sent itself.',
        security: [{ token: [] }, { key: [] }],
        params: Id,
        response: { 200: NotificationDetail, ...problems(401, 403, 404) },
      },
    },
    async ({ principal, params }) => {
      const record = await history.find(principal.tenant, params.id);
      if (!record || (principal.kind === 'token' && record.tokenId !== principal.id))
        throw notFound('notification');
      const snapshot = await tenancy.get(principal.tenant);
      return {
        ...historyView(record, snapshot, now()),
        trace: [...(await traceOf(services, snapshot, record))],
        deliveries: await deliveries(services, snapshot, record),
      };
    },
  );

  app.post(
    '/api/notifications/:id/clear',
    {
      config: { policy: { scope: 'panel', role: 'member' } },
      schema: {
        tags: ['panels', 'dashboard'],
        summary: 'Take a notification off every panel; history keeps it',
        security: [{ token: [] }, { key: [] }],
        params: Id,
        response: { 200: ClearAccepted, ...problems(401, 403, 404, 503) },
      },
    },
    async ({ principal, params }) => {
      await refuseForeignScreen(services, principal, params.id);
      const outcome = await history.clear(principal.tenant, params.id, actorOf(principal), now());
      if (outcome.kind === 'not-found') throw notFound('notification');
      if (outcome.kind === 'cleared') bus.publish(principal.tenant, [outcome.entry]);
      return { ok: true as const, cleared: outcome.kind === 'cleared' };
    },
  );

  app.post(
    '/api/panels/:id/receipts',
    {
      config: { policy: { scope: 'panel' }, rateLimit: 'by panel' },
      schema: {
        tags: ['panels'],
        summary: 'What a panel showed, and what became of it there',
        description:
          'The first word on each state counts. Notifications that were not routed to this panel are ignored.',
        security: [{ token: [] }],
        params: Id,
        body: Receipts,
        response: { 200: ReceiptsAccepted, ...problems(400, 401, 403, 404, 503) },
      },
    },
    async ({ principal, params, body }) => {
      const { tenant } = principal;
      const panel = (await tenancy.get(tenant)).panels.get(params.id);
      if (!panel || !mayUsePanel(principal, panel.id)) throw notFound('panel');
      const fresh = await receipts.record(
        tenant,
        panel,
        body.map(({ id, state, at }) => ({ id, state, at: instant(at, now()) })),
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

/** When a panel says it was; a clock that runs ahead of ours cannot have been there yet. */
function instant(at: string | number, now: number): number {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  if (!Number.isFinite(ms)) throw badRequest('at must be an ISO 8601 time or Unix milliseconds');
  return Math.min(ms, now);
}

/** A screen's own token clears what that screen is shown, and nothing else. */
async function refuseForeignScreen(
  { history, tenancy }: Services,
  principal: Principal,
  id: string,
): Promise<void> {
  if (principal.kind !== 'token' || principal.panelId === null) return;
  const record = await history.find(principal.tenant, id);
  const panel = (await tenancy.get(principal.tenant)).panels.get(principal.panelId);
  if (!record || !panel || !reaches(record.route.target, panel)) throw notFound('notification');
}

/** Per panel: whether it was sent, and what the panel said of it. */
async function deliveries(
  { receipts, tenantStreams, directory, usage }: Services,
  { record: { id: tenant }, levels }: TenantSnapshot,
  record: HistoryRecord,
): Promise<Static<typeof PanelReceipt>[]> {
  if (record.route.muted || record.throttledOn !== null) return [];
  // Panels come from the directory: in memory, the cursor of one that has gone is as old as its last change.
  const [rows, { panels: connected }, panels] = await Promise.all([
    receipts.of(tenant, record.id),
    tenantStreams.online(tenant),
    directory.panels.list(tenant),
  ]);
  const said = new Map(rows.map((row) => [row.panelId, row]));
  const reached = panels.filter((panel) => reaches(record.route.target, panel));
  const told = reached.sort((a, b) => Number(said.has(b.id)) - Number(said.has(a.id))).slice(0, receiptsTold);
  const time = (at: number | null | undefined) => (at === null || at === undefined ? null : iso(at));
  return told.map((panel) => {
    const row = said.get(panel.id);
    const cursor =
      connected.get(panel.id)?.cursor ?? usage.lastContact(panel.id)?.cursor ?? panel.cursor ?? 0;
    return {
      panel: { id: panel.id, name: panel.name },
      online: connected.has(panel.id),
      sent: cursor >= record.position && panel.createdAt <= record.receivedAt ? true : row !== undefined,
      hidden: record.rank < minRankOf(panel.display, levels),
      shownAt: time(row?.shownAt),
      expiredAt: time(row?.expiredAt),
      clearedAt: time(row?.clearedAt),
    };
  });
}
