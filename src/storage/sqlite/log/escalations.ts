/** The escalation of an alarm: columns of its live row, written in the transaction that stores a notification of it. */
import type { AppendOutcome, DueStep } from '#core/log/log.ts';
import type { Route, TenantId } from '#core/log/route.ts';
import { type EscalationRow, escalationRow, toEscalation, toOff } from '../../log/history-rows.ts';
import { readAcknowledged, readStanding, readUnder, staysShelved } from './alarms.ts';
import { findById, idAt } from './log-lookup.ts';
import type { LogWriter, RememberingRow } from './log-writer.ts';
import { findPartition, type Statements, tablesOf } from './partitions.ts';
import type { DraftRow, LogConnection } from './rows.ts';

/** What a notification has to do with the escalation of its alarm, as in `AppendTerms`. */
export interface EscalationTerms {
  /** JSON. */
  readonly escalation: string | null;
  readonly step: number;
  readonly replaces: string | null;
}

export type ChangedAlarm = Extract<AppendOutcome, { kind: 'changed' }>;

/** The escalation in the live row of a new notification. `changed`: its draft was not made for the alarm as it is. */
export function escalate(
  writer: LogWriter,
  tenant: TenantId,
  draft: DraftRow,
  { escalation, step, replaces }: EscalationTerms,
): Partial<EscalationRow> | ChangedAlarm {
  const { sql } = writer;
  const { key, receivedAt: at, throttledOn } = draft;
  if (replaces !== null) {
    const found = findById(sql, tenant, replaces);
    const last = found && readStanding(sql, found.row, at);
    if (!last?.escalation || last.next_step_at === null || last.step !== step)
      return { kind: 'changed', id: null, step: 0 };
    return escalationRow(toEscalation(last.escalation), step + 1, at);
  }
  const last = key === null ? undefined : readUnder(sql, tenant, key, at).at(-1);
  const continued = last?.escalation && !isAnew(writer, tenant, draft, last) ? last : undefined;
  const id = continued ? idAt(sql, continued.row) : null;
  const changed = { kind: 'changed', id, step: continued?.step ?? 0 } as const;
  if (throttledOn !== null) return id === null || id === throttledOn ? {} : changed;
  if (changed.step !== step) return changed;
  if (!continued) return escalation === null ? {} : escalationRow(toEscalation(escalation), 0, at);
  const isOver = isEndedByShowing(sql, continued);
  if (isOver) return { escalation: continued.escalation, step, step_at: null, next_step_at: null };
  const { step_at } = continued;
  // While it was suppressed, none was due.
  const next_step_at = toOff(continued.shelved).suppressed ? step_at : continued.next_step_at;
  return { escalation: continued.escalation, step, step_at, next_step_at };
}

/** Whether the alarm was acknowledged or shelved, and is open again with this notification. */
function isAnew(writer: LogWriter, tenant: TenantId, draft: DraftRow, last: RememberingRow): boolean {
  if (toOff(last.shelved).shelved) return !staysShelved(last, draft.rank);
  const isNews = draft.rank > last.rank || (JSON.parse(draft.route) as Route).origin !== undefined;
  return isNews && readAcknowledged(writer.sql, tenant, last.row) !== null;
}

/** A panel has shown it, and its next step is for one that no panel has shown. */
function isEndedByShowing(sql: Statements, { row, escalation, step }: RememberingRow): boolean {
  const next = toEscalation(escalation as string).steps[step ?? 0];
  const partition = next?.unless === 'shown' ? findPartition(sql, row) : undefined;
  if (!partition) return false;
  const { receipts } = tablesOf(partition);
  return (
    sql.of(`SELECT 1 FROM ${receipts} WHERE row = ? AND shown_at IS NOT NULL LIMIT 1`).get(row) !== undefined
  );
}

export function dueSteps({ sql }: Pick<LogConnection, 'sql'>, now: number, limit: number): DueStep[] {
  return sql
    .of<[{ now: number; limit: number }], { tenant: TenantId; row: number; step: number }>(
      `SELECT tenant, row, step FROM live INDEXED BY live_steps
       WHERE next_step_at <= @now AND (expires_at IS NULL OR expires_at > @now)
         AND tenant NOT IN (SELECT id FROM tenants WHERE state <> 'active') ORDER BY next_step_at LIMIT @limit`,
    )
    .all({ now, limit })
    .map(({ tenant, row, step }) => ({ tenant, id: idAt(sql, row), step }));
}

/** As `History.settleStep` says; true, as each write has an answer. */
export function settleStep(
  { sql }: LogWriter,
  { tenant, id, step }: DueStep,
  at: number | null | undefined,
): true {
  const found = findById(sql, tenant, id);
  if (!found) return true;
  const change =
    at === undefined
      ? 'escalation = NULL, step = NULL, step_at = NULL, next_step_at = NULL'
      : 'step_at = @at, next_step_at = @at';
  sql
    .of(`UPDATE live SET ${change} WHERE row = @row AND step = @step AND next_step_at IS NOT NULL`)
    .run({ row: found.row, step, ...(at !== undefined && { at }) });
  return true;
}
