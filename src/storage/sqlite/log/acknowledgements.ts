/** Who has seen a notification: an entry of the log, and a row for whoever asks for the notification. */
import type {
  Acknowledged,
  Acknowledgement,
  AcknowledgeOutcome,
  Idempotency,
  TenantId,
} from '#core/ports.ts';
import { type AcknowledgedRow, acknowledgedReason, toAcknowledged } from '../../history-rows.ts';
import { type FoundRow, findById } from './log-lookup.ts';
import type { AppendResult, LogWriter } from './log-writer.ts';
import type { Statements } from './partitions.ts';
import type { DraftRow } from './rows.ts';

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
  return { kind: 'acknowledgement', position, id, at, by, note, route: writer.routes.get(tenant, route) };
}

/**
 * Appends a notification. What was acknowledged stays so when it is repeated, unless at a higher level: from the time of the
 * repeat. What Belfry sends because a sender is silent is no repeat.
 */
export function appendRepeat(
  writer: LogWriter,
  tenant: TenantId,
  draft: DraftRow,
  idempotency: Idempotency | null,
): AppendResult {
  const result = writer.append(tenant, draft, idempotency);
  const { sql } = writer;
  const replacedId = result.kind === 'stored' ? result.clears.at(-1)?.id : undefined;
  if (result.kind !== 'stored' || replacedId === undefined || !draft.shown || !hasAny(sql, tenant))
    return result;
  const replaced = findById(sql, tenant, replacedId);
  const found = findById(sql, tenant, draft.id);
  if (!replaced || !found || draft.rank > replaced.rank) return result;
  if (writer.routes.get(tenant, found.route).origin !== undefined) return result;
  const given = readAcknowledged(sql, tenant, replaced.row);
  if (!given) return result;
  const { id, receivedAt: at } = draft;
  return { ...result, acknowledgement: insertAcknowledgement(writer, tenant, found, { ...given, id, at }) };
}

const hasAny = (sql: Statements, tenant: TenantId): boolean =>
  sql
    .of<[number], { one: 1 }>('SELECT 1 AS one FROM acknowledgements WHERE tenant = ? LIMIT 1')
    .get(tenant) !== undefined;

export function readAcknowledged(sql: Statements, tenant: TenantId, row: number): Acknowledged | null {
  const found = sql
    .of<[number, number], AcknowledgedRow>(
      `SELECT at AS acknowledged_at, by AS acknowledged_by, note AS acknowledged_note
       FROM acknowledgements WHERE tenant = ? AND row = ?`,
    )
    .get(tenant, row);
  return toAcknowledged(found);
}
