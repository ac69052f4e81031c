/** Positions in a log become records of history. */
import type { Database } from 'better-sqlite3';
import type { HistoryRecord, TenantId } from '../../../core/ports.ts';
import {
  entryOf,
  type NotificationRow,
  notificationColumns,
  type RouteReader,
  toNotification,
} from '../rows.ts';

interface RecordRow extends NotificationRow {
  readonly token_name: string | null;
  readonly cleared_at: number | null;
  readonly cleared_by: string | null;
  readonly cleared_reason: string | null;
}

interface ReceiptCounts {
  readonly position: number;
  readonly shown: number;
  readonly expired: number;
  readonly cleared: number;
}

const noReceipts = { shown: 0, expired: 0, cleared: 0 };

/** The notifications at these positions, in their order; a position without one is left out. */
export function readRecords(
  db: Database,
  tenant: TenantId,
  positions: readonly number[],
  routes: RouteReader,
): HistoryRecord[] {
  if (positions.length === 0) return [];
  const asked = { tenant, list: JSON.stringify(positions) };
  const rows = db.prepare<[typeof asked], RecordRow>(recordsSql).all(asked);
  const counts = db.prepare<[typeof asked], ReceiptCounts>(receiptsSql).all(asked);
  const receipts = new Map(counts.map((row) => [row.position, row]));
  return rows.map((row) => {
    const { shown, expired, cleared } = receipts.get(row.position) ?? noReceipts;
    return {
      ...toNotification(row, routes),
      // A token's record outlives the token; should it be missing all the same, its id still tells senders apart.
      tokenName: row.token_name ?? row.token_id,
      cleared: clearedOf(row),
      receipts: { shown, expired, cleared },
    };
  });
}

function clearedOf(row: RecordRow): HistoryRecord['cleared'] {
  if (row.cleared_at === null) return null;
  return {
    at: row.cleared_at,
    by: row.cleared_by ?? '',
    reason: row.cleared_reason === 'replaced' ? 'replaced' : 'cleared',
  };
}

const recordsSql = `
  SELECT ${notificationColumns}, c.name AS token_name, k.at AS cleared_at, k.by AS cleared_by, k.reason AS cleared_reason
  FROM json_each(@list) j
  CROSS JOIN notifications n ON n.entry = ${entryOf('@tenant', 'j.value')}
  LEFT JOIN credentials c ON c.tenant = @tenant AND c.id = n.token_id
  LEFT JOIN clears k ON k.cleared = n.entry
  ORDER BY j.key`;

const receiptsSql = `
  SELECT r.position, count(r.shown_at) AS shown, count(r.expired_at) AS expired, count(r.cleared_at) AS cleared
  FROM json_each(@list) j CROSS JOIN receipts r ON r.tenant = @tenant AND r.position = j.value
  GROUP BY r.position`;
