/** What panels report of the notifications that they were sent. */
import type { ReceiptRow, ReceiptStore } from '#core/history/receipts.ts';
import { isUuid } from '../../log/history-rows.ts';
import type { Connections } from '../connections.ts';

export const createReceiptStore = (reads: Connections, writes: Connections): ReceiptStore => ({
  async record(tenant, panel, receipts) {
    const fresh = [];
    for (const state of ['shown', 'expired', 'cleared'] as const) {
      const times = new Map<string, number>();
      for (const { id, at, ...receipt } of receipts)
        if (receipt.state === state && isUuid(id) && !times.has(id.toLowerCase()))
          times.set(id.toLowerCase(), at);
      if (times.size === 0) continue;
      // A row that another call has just written is looked at again, so each state is new once.
      const rows = await writes.query<{ id: string; at: number; receivedAt: number }>(
        tenant,
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
  },

  async firstShown(tenant, ids) {
    const rows = await reads.query<{ id: string; at: number }>(
      tenant,
      `WITH n AS MATERIALIZED (SELECT row, id FROM find_entries($1, $2::uuid[]))
         SELECT n.id, min(r.shown_at) AS at FROM n JOIN receipts_of($1, (SELECT array_agg(row) FROM n)) r ON r.row = n.row
         WHERE r.shown_at IS NOT NULL GROUP BY n.id`,
      [tenant, ids],
    );
    return new Map(rows.map(({ id, at }) => [id, at]));
  },

  async of(tenant, ids) {
    const rows = await reads.query<ReceiptRow & { readonly id: string }>(
      tenant,
      `WITH n AS MATERIALIZED (SELECT row, id FROM find_entries($1, $2::uuid[]))
         SELECT n.id, r.panel_id AS "panelId", r.shown_at AS "shownAt", r.expired_at AS "expiredAt", r.cleared_at AS "clearedAt"
         FROM n JOIN receipts_of($1, (SELECT array_agg(row) FROM n)) r ON r.row = n.row ORDER BY r.panel_id`,
      [tenant, ids.filter(isUuid)],
    );
    const receipts = new Map<string, ReceiptRow[]>();
    for (const { id, ...receipt } of rows) {
      const earlier = receipts.get(id);
      if (earlier) earlier.push(receipt);
      else receipts.set(id, [receipt]);
    }
    return receipts;
  },
});
