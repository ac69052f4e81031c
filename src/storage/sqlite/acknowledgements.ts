/** Who has seen a notification: an entry of the log, and a row for whoever asks for the notification. */
import type { Acknowledged, Acknowledgement, AcknowledgeOutcome, TenantId } from '#core/ports.ts';
import { type AcknowledgedRow, acknowledgedReason, toAcknowledged } from '../history-rows.ts';
import type { Job } from './jobs.ts';
import { type FoundRow, findById } from './log-lookup.ts';
import type { LogWriter } from './log-writer.ts';
import type { Statements } from './partitions.ts';

/** As many as one transaction deletes. */
const maxDeleted = 10_000;

/** Runs inside the caller's transaction. */
export function acknowledge(
  writer: LogWriter,
  { tenant, id, given }: Extract<Job, { kind: 'acknowledge' }>,
): AcknowledgeOutcome {
  const found = findById(writer.sql, tenant, id);
  if (!found) return { kind: 'not-found' };
  const acknowledged = readAcknowledged(writer.sql, tenant, found.row);
  if (acknowledged) return { kind: 'already', acknowledged };
  return { kind: 'acknowledged', entry: insertAcknowledgement(writer, tenant, found, { ...given, id }) };
}

/** Adds the entry and the row, whether or not there was one before. */
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
  return { kind: 'acknowledgement', position, id, at, by, note, route: writer.routes.get(route) };
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

/** Forgets who acknowledged what is no longer kept. */
export function dropAcknowledgements(sql: Statements, tenant: TenantId, firstRow: number): void {
  sql
    .of(`DELETE FROM acknowledgements WHERE tenant = ? AND row < ? LIMIT ${maxDeleted}`)
    .run(tenant, firstRow);
}
