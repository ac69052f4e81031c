/** Acknowledgements. Each is an entry of the log, and a row that is read together with its notification. */
import type { Acknowledged, Acknowledgement, AcknowledgeOutcome, TenantId } from '#core/ports.ts';
import { type AcknowledgedRow, acknowledgedReason, toAcknowledged } from '../../log/history-rows.ts';
import { type FoundRow, findById } from './log-lookup.ts';
import type { LogWriter } from './log-writer.ts';
import type { Statements } from './partitions.ts';

/** Runs inside the caller's transaction. */
export function acknowledge(
  writer: LogWriter,
  tenant: TenantId,
  id: string,
  given: Acknowledged,
): AcknowledgeOutcome {
  const found = findById(writer.sql, tenant, id);
  if (!found) return { kind: 'not-found' };
  const acknowledged = readAcknowledged(writer.sql, tenant, found.row);
  if (acknowledged) return { kind: 'already', acknowledged };
  return { kind: 'acknowledged', entry: insertAcknowledgement(writer, tenant, found, { ...given, id }) };
}

/** Adds the entry, and adds or replaces the row. */
export function insertAcknowledgement(
  writer: LogWriter,
  tenant: TenantId,
  { row, position: of, route }: Pick<FoundRow, 'row' | 'position' | 'route'>,
  { id, at, by, note }: Acknowledged & { readonly id: string },
): Acknowledgement {
  const change = { reason: acknowledgedReason, by, at, note };
  const position = writer.insertChange(tenant, { route, position: of }, id, change);
  writer.sql
    .of('INSERT OR REPLACE INTO acknowledgements (tenant, row, at, by, note) VALUES (?, ?, ?, ?, ?)')
    .run(tenant, row, at, by, note);
  return { kind: 'acknowledgement', position, id, at, by, note, route: writer.routes.get(tenant, route) };
}

export function readAcknowledged(sql: Statements, tenant: TenantId, row: number): Acknowledged | null {
  const found = sql
    .of<[number, number], AcknowledgedRow>(
      `SELECT at AS acknowledged_at, by AS acknowledged_by, note AS acknowledged_note
       FROM acknowledgements WHERE tenant = ? AND row = ?`,
    )
    .get(tenant, row);
  return toAcknowledged(found);
}
