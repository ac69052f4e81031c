/** Appends a notification. Runs inside the transaction of its batch. */
import { limits } from '#contract/limits.ts';
import { isResolve } from '#core/channels/channels.ts';
import type { Acknowledgement, Clear, Idempotency, RepeatOutcome, Route, TenantId } from '#core/log/log.ts';
import type { ReceiptStore, ReceiptWrite } from '#core/log/receipts.ts';
import { type PanelAddress, reaches } from '#core/log/target.ts';
import { type EscalationRow, type MemoryRow, toRepeat } from '../../log/history-rows.ts';
import {
  insertAcknowledgement,
  passedOn,
  readAcknowledged,
  readRemembering,
  readUnder,
  staysShelved,
} from './alarms.ts';
import { type ChangedAlarm, type EscalationTerms, escalate } from './escalations.ts';
import { findById, findRetry, idAt } from './log-lookup.ts';
import type { Inserted, LiveRow, LogWriter, RememberingRow } from './log-writer.ts';
import { type Statements, tablesOf } from './partitions.ts';
import { type DraftRow, toBlob } from './rows.ts';

/** The position alone if there is nothing else to report, as for most: a number is copied between threads faster. */
export type AppendResult =
  | number
  | {
      readonly kind: 'stored';
      readonly position: number;
      readonly clears: readonly Clear[];
      /** Taken over from what it replaced. */
      readonly acknowledgement?: Acknowledgement | undefined;
      /** As in `AppendOutcome`. */
      readonly endsDelivered: boolean;
      /** Its alarm is shelved, as its route then says. */
      readonly isShelved?: true;
    }
  | ChangedAlarm
  | RepeatOutcome;

/** Also clears whatever is live under its key, or what it replaces as a step, and queues its deliveries. */
export function append(
  writer: LogWriter,
  tenant: TenantId,
  draft: DraftRow,
  idempotency: Idempotency | null,
  terms: EscalationTerms | null = null,
): AppendResult {
  const repeat =
    idempotency && toRepeat(findRetry(writer, tenant, idempotency.key, draft.receivedAt), idempotency);
  if (repeat) return repeat;
  const escalation = terms ? escalate(writer, tenant, draft, terms) : undefined;
  if (escalation && 'kind' in escalation) return escalation;
  if (idempotency) {
    const { key, hash, until = draft.receivedAt + limits.idempotencyMs } = idempotency;
    writer.sql
      .of('INSERT OR REPLACE INTO idempotency (tenant, key, hash, id, expires_at) VALUES (?, ?, ?, ?, ?)')
      .run(tenant, key, hash, toBlob(draft.id), until);
  }
  const replaced = replacedBy(writer, tenant, draft, terms?.replaces);
  const change = { reason: 'replaced', by: draft.id, at: draft.receivedAt } as const;
  const clears = replaced.map((row) => writer.takeOff(tenant, row, row.id, change));
  const last = replaced.at(-1);
  const memory = last && remember(writer, draft, last);
  const isShelved = memory?.shelved != null;
  const inserted = writer.insert(tenant, isShelved ? shelvedDraft(draft) : draft, {
    ...memory,
    ...escalation,
  });
  const endsDelivered = queueDeliveries(writer, tenant, draft, inserted);
  const { position } = inserted;
  if (!last && !endsDelivered) return position;
  const acknowledgement = last && takeOver(writer, tenant, draft, { inserted, last });
  return {
    ...{ kind: 'stored', position, clears, acknowledgement, endsDelivered },
    ...(isShelved && { isShelved }),
  };
}

/** What the notification remembers of the alarm whose last one it replaces; undefined when it ends the alarm, or none was left. */
export function remember(
  { sql }: LogWriter,
  draft: DraftRow,
  last: RememberingRow,
): Omit<MemoryRow, keyof EscalationRow> | undefined {
  const { key } = draft;
  if (!draft.shown || isResolve(draft) || isResolve({ key, rank: last.rank })) return undefined;
  return passedOn(sql, last, { rank: draft.rank, isShelved: staysShelved(last, draft.rank) });
}

/** Its route says that it was on no panel. */
const shelvedDraft = (draft: DraftRow): DraftRow => ({
  ...draft,
  route: JSON.stringify({ ...(JSON.parse(draft.route) as Route), shelved: true } satisfies Route),
});

/** What a throttle counted is not shown itself, so it leaves the one it was counted on. `step`: what it replaces as a step. */
function replacedBy({ sql }: LogWriter, tenant: TenantId, by: DraftRow, step: string | null = null) {
  const found = step === null ? undefined : findById(sql, tenant, step);
  const escalated = found && readRemembering(sql, found.row);
  const rows = by.key === null ? [] : readUnder(sql, tenant, by.key, by.receivedAt);
  return (by.key === null && escalated ? [escalated] : rows)
    .map((row) => ({ ...row, id: idAt(sql, row.row) }))
    .filter(({ id }) => id !== by.throttledOn);
}

/**
 * To the channels that its route names, unless a throttle counted it; the end of an alert also to those that had the alert, unless it
 * is muted: then the answer is true. A channel that is deleted or disabled gets nothing.
 */
function queueDeliveries(
  { sql }: LogWriter,
  tenant: TenantId,
  draft: DraftRow,
  { position, decided }: Inserted,
): boolean {
  const { id, receivedAt, key, throttledOn } = draft;
  const ends = isResolve(draft);
  const own = throttledOn === null && !decided.shelved ? (decided.channels ?? []) : [];
  const had = ends && !decided.muted ? closeAlert(sql, tenant, key) : [];
  for (const channel of new Set([...own, ...had])) {
    if (!ends && key !== null)
      sql
        .of('UPDATE deliveries SET open_key = NULL WHERE tenant = ? AND open_key = ? AND channel = ?')
        .run(tenant, key, channel);
    sql
      .of(
        `INSERT INTO deliveries (tenant, channel, position, notification, state, queued_at, open_key)
         SELECT tenant, id, ?, ?, 'pending', ?, ? FROM channels WHERE tenant = ? AND id = ? AND enabled = 1`,
      )
      .run(position, id, receivedAt, ends ? null : key, tenant, channel);
  }
  return had.length > 0;
}

/** Returns the channels that had an alert with this key, and not its end. */
function closeAlert(sql: Statements, tenant: TenantId, key: string | null): string[] {
  const closed = sql
    .of<[number, string | null], { channel: string }>(
      'UPDATE deliveries SET open_key = NULL WHERE tenant = ? AND open_key = ? RETURNING channel',
    )
    .all(tenant, key);
  return closed.map(({ channel }) => channel);
}

/**
 * A notification that repeats an acknowledged one is acknowledged too, at the time when it was received, unless its level is
 * higher. A notification that Belfry sends because a sender is silent does not count as a repeat.
 */
function takeOver(
  writer: LogWriter,
  tenant: TenantId,
  { id, receivedAt: at, rank, shown }: DraftRow,
  { inserted, last }: { readonly inserted: Inserted; readonly last: LiveRow },
): Acknowledgement | undefined {
  if (!shown || rank > last.rank || inserted.decided.origin !== undefined) return undefined;
  const given = readAcknowledged(writer.sql, tenant, last.row);
  return given ? insertAcknowledgement(writer, tenant, inserted, { ...given, id, at }) : undefined;
}

/** Changes of a stored notification. Each runs inside the transaction of its batch. */

type NewReceipts = Awaited<ReturnType<ReceiptStore['record']>>;

/** Saves when a panel has shown, or removed, notifications that reach it. Returns the receipts that are new. */
export function recordReceipts(
  { sql, routes }: LogWriter,
  tenant: TenantId,
  panel: PanelAddress,
  receipts: readonly ReceiptWrite[],
): NewReceipts {
  const fresh: NewReceipts[number][] = [];
  for (const { id, state, at, inGroup } of receipts) {
    const found = findById(sql, tenant, id);
    if (!found || !reaches(routes.get(tenant, found.route).target, panel)) continue;
    const column = `${state}_at`;
    const { changes } = sql
      .of(
        `INSERT INTO ${tablesOf(found.partition).receipts} (row, panel_id, ${column}, in_group) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET ${column} = excluded.${column}, in_group = coalesce(in_group, excluded.in_group)
         WHERE ${column} IS NULL`,
      )
      .run(found.row, panel.id, at, inGroup ? 1 : null);
    if (changes > 0) fresh.push({ id, state, at, receivedAt: found.receivedAt });
  }
  return fresh;
}
