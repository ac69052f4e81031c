/** Changes of a stored notification. Each runs inside the transaction of its batch. */
import type { ReceiptStore, ReceiptWrite } from '#core/history/receipts.ts';
import type { Clear, ClearOutcome, TenantId } from '#core/ports.ts';
import { type PanelAddress, reaches } from '#core/target.ts';
import { findById } from './log-lookup.ts';
import type { LogWriter } from './log-writer.ts';
import { tablesOf } from './partitions.ts';

type NewReceipts = Awaited<ReturnType<ReceiptStore['record']>>;

/** Takes a notification off its panels, if it is on any. */
export function clear(
  writer: LogWriter,
  tenant: TenantId,
  id: string,
  given: Pick<Clear, 'by' | 'reason' | 'at'>,
): ClearOutcome {
  const found = findById(writer.sql, tenant, id);
  if (!found) return { kind: 'not-found' };
  const live = writer.sql
    .of<[number], { expires_at: number | null }>('SELECT expires_at FROM live WHERE row = ?')
    .get(found.row);
  if (!live || (live.expires_at !== null && live.expires_at <= given.at)) return { kind: 'not-live' };
  return { kind: 'cleared', entry: writer.takeOff(tenant, found, id, given) };
}

/** Saves when a panel has shown, or removed, notifications that reach it. Returns the receipts that are new. */
export function recordReceipts(
  { sql, routes }: LogWriter,
  tenant: TenantId,
  panel: PanelAddress,
  receipts: readonly ReceiptWrite[],
): NewReceipts {
  const fresh: NewReceipts[number][] = [];
  for (const { id, state, at } of receipts) {
    const found = findById(sql, tenant, id);
    if (!found || !reaches(routes.get(tenant, found.route).target, panel)) continue;
    const column = `${state}_at`;
    const { changes } = sql
      .of(
        `INSERT INTO ${tablesOf(found.partition).receipts} (row, panel_id, ${column}) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET ${column} = excluded.${column} WHERE ${column} IS NULL`,
      )
      .run(found.row, panel.id, at);
    if (changes > 0) fresh.push({ id, state, at, receivedAt: found.receivedAt });
  }
  return fresh;
}
