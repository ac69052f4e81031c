import { sql } from 'kysely';
import { AppError } from '#core/errors.ts';
import type { Entry, Notification, TenantId } from '#core/ports.ts';
import { acknowledgedReason } from '../history-rows.ts';
import type { Storage } from '../storage.ts';
import type { TransferDatabase, TransferReceipt } from '../transfer-database.ts';
import { toDecision, toJob } from './append-queue.ts';
import { partitionRows } from './partitions.ts';

/**
 * @throws AppError `conflict` while a node runs on the database.
 */
export async function openPostgresTransfer(storage: Storage): Promise<TransferDatabase> {
  const { builder, executor, history } = storage;
  const running = await executor.read(sql`select 1 from nodes where alive_until > now()`.compile(builder));
  if (running.length > 0)
    throw new AppError('conflict', 'a Belfry node runs on the PostgreSQL database: stop all of them first');
  return {
    builder,
    executor,
    log: history,

    async receiptsOf(tenant, entries) {
      const [first, last] = [entries[0]?.position ?? 0, entries.at(-1)?.position ?? -1];
      return executor.read(
        sql<TransferReceipt>`select n.id, r.panel_id as "panelId", r.shown_at as "shownAt", r.expired_at as "expiredAt",
            r.cleared_at as "clearedAt"
          from log n join receipts r on r.row = n.row
          where n.tenant = ${tenant} and n.position between ${first} and ${last} and n.cleared is null
          order by n.position, r.panel_id`.compile(builder),
      );
    },

    async importPage(tenant, { entries, receipts }) {
      const notifications = entries.filter((entry) => entry.kind === 'notification');
      const changes = entries
        .filter((entry) => entry.kind !== 'notification')
        .map((entry) => (entry.kind === 'clear' ? entry : { ...entry, reason: acknowledgedReason }));
      await executor.write([
        sql`select make_partitions(${partitionRows}, ${entries.length})`.compile(builder),
        // A new partition has no statistics: the planner would read all of it to find one id.
        sql`set local enable_seqscan = off`.compile(builder),
        sql`select import_entries(${tenant}, ${jobsOf(tenant, notifications)}, ${JSON.stringify(changes)},
          ${JSON.stringify(receipts)})`.compile(builder),
      ]);
    },

    async afterTenants() {
      await executor.write([
        sql`select setval(pg_get_serial_sequence('tenants', 'id'), greatest(1, (select max(id) from tenants)))`.compile(
          builder,
        ),
      ]);
    },

    storedId: { toText: String, fromText: (id) => id },

    async close() {
      await storage.close();
    },
  };
}

function jobsOf(tenant: TenantId, notifications: readonly (Entry & Notification)[]): string {
  return JSON.stringify(
    notifications.map((draft) => ({
      ...toJob({ tenant, draft, idempotency: null, claims: [] }, draft.position),
      ...toDecision(draft.route),
    })),
  );
}
