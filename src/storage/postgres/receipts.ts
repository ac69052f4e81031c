/** What panels report of the notifications that they were sent. */
import type { TenantId } from '#core/ports.ts';
import type { ReceiptRow, ReceiptStore, ReceiptWrite } from '#core/receipts.ts';
import type { PanelAddress } from '#core/target.ts';
import { isUuid } from '../history-rows.ts';
import type { Connections } from './connections.ts';
import { againIfDropped } from './partitions.ts';

type FreshReceipts = Awaited<ReturnType<ReceiptStore['record']>>;

/** As {@link ReceiptStore} promises. */
export async function recordReceipts(
  writes: Connections,
  tenant: TenantId,
  panel: PanelAddress,
  receipts: readonly ReceiptWrite[],
): Promise<FreshReceipts> {
  const fresh: FreshReceipts[number][] = [];
  for (const state of ['shown', 'expired', 'cleared'] as const) {
    const times = new Map<string, number>();
    for (const { id, at, ...receipt } of receipts)
      if (receipt.state === state && isUuid(id) && !times.has(id.toLowerCase()))
        times.set(id.toLowerCase(), at);
    if (times.size === 0) continue;
    // A row that another call has just written is looked at again, so each state is new once.
    const rows = await writes.query<{ id: string; at: number; receivedAt: number }>(
      tenant,
      `record-${state}`,
      `WITH sent AS MATERIALIZED (
           SELECT w.id, w.at, n.row, n.at AS received_at FROM unnest($2::uuid[], $3::bigint[]) AS w (id, at)
           JOIN find_entries($1, $2::uuid[]) n ON n.id = w.id
           WHERE (n.route->'target'->>'all')::boolean OR n.route->'target'->'ids' ? $4
             OR n.route->'target'->'tags' ?| $5::text[]
         ), written AS (
           INSERT INTO receipts (row, tenant, panel_id, ${state}_at) SELECT row, $1, $4, at FROM sent ORDER BY row
           ON CONFLICT (row, panel_id) DO UPDATE SET ${state}_at = excluded.${state}_at WHERE receipts.${state}_at IS NULL
           RETURNING row
         )
         SELECT sent.id, sent.at, sent.received_at AS "receivedAt" FROM sent JOIN written ON written.row = sent.row`,
      [tenant, [...times.keys()], [...times.values()], panel.id, panel.tags],
    );
    for (const row of rows) fresh.push({ ...row, state });
  }
  return fresh;
}

/** As {@link ReceiptStore} promises. */
export async function firstShown(
  reads: Connections,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await againIfDropped(() =>
    reads.query<{ id: string; at: number }>(
      tenant,
      'first-shown',
      `SELECT n.id, min(r.shown_at) AS at FROM find_entries($1, $2::uuid[]) n JOIN receipts r ON r.row = n.row
       WHERE r.shown_at IS NOT NULL GROUP BY n.id`,
      [tenant, ids],
    ),
  );
  return new Map(rows.map(({ id, at }) => [id, at]));
}

/** As {@link ReceiptStore} promises. */
export async function receiptsOf(
  reads: Connections,
  tenant: TenantId,
  id: string,
): Promise<readonly ReceiptRow[]> {
  if (!isUuid(id)) return [];
  return againIfDropped(() =>
    reads.query<ReceiptRow>(
      tenant,
      'receipts-of',
      `SELECT r.panel_id AS "panelId", r.shown_at AS "shownAt", r.expired_at AS "expiredAt", r.cleared_at AS "clearedAt"
       FROM find_entry($1, $2) n JOIN receipts r ON r.row = n.row ORDER BY r.panel_id`,
      [tenant, id],
    ),
  );
}
