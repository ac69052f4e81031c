/** Appends a notification. Runs inside the transaction of its batch. */
import { limits } from '#contract/limits.ts';
import { isResolve } from '#core/channels/channels.ts';
import type { Acknowledged, Acknowledgement, Clear, Idempotency, RepeatOutcome } from '#core/log/log.ts';
import type { ReceiptMode, ReceiptStore, ReceiptWrite } from '#core/log/receipts.ts';
import type { Route, TenantId } from '#core/log/route.ts';
import { type PanelAddress, reaches } from '#core/log/target.ts';
import {
  type EscalationRow,
  type MemoryRow,
  suppressKeysOf,
  toOff,
  toRepeat,
} from '../../log/history-rows.ts';
import {
  insertAcknowledgement,
  passedOn,
  readAcknowledged,
  readRemembering,
  readUnder,
  staysShelved,
} from './alarms.ts';
import { queueDeliveries } from './deliveries.ts';
import { type ChangedAlarm, type EscalationTerms, escalate } from './escalations.ts';
import { findById, findRetry, idAt } from './log-lookup.ts';
import type { LiveRow, LogWriter, RememberingRow } from './log-writer.ts';
import { tablesOf } from './partitions.ts';
import { type DraftRow, toBlob } from './rows.ts';
import { findCause } from './suppress.ts';

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
      /** What its route then says: it is on no panel. */
      readonly off?: Pick<Route, 'shelved' | 'suppressed'> | undefined;
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
  const route = writer.routeOf(tenant, draft.route);
  const given = last && takenOver(writer, tenant, { draft, route, last });
  const memory = last && remember(writer, draft, last);
  const off = offPanels(writer, tenant, { draft, route, last, isShelved: memory?.shelved != null, given });
  const placed = off
    ? // The end of a suppressed alarm does not stand.
      { ...draft, shown: draft.shown && !isResolve(draft), route: JSON.stringify({ ...route, ...off }) }
    : draft;
  const inserted = writer.insert(tenant, placed, {
    ...memory,
    ...escalation,
    ...(off && { next_step_at: null }),
  });
  const endsDelivered = queueDeliveries(writer, tenant, draft, inserted);
  const { position } = inserted;
  if (!last && !endsDelivered && !off) return position;
  const { id, receivedAt: at } = draft;
  const acknowledgement = given
    ? insertAcknowledgement(writer, tenant, inserted, { ...given, id, at })
    : undefined;
  return { kind: 'stored', position, clears, acknowledgement, endsDelivered, off };
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

interface Coming {
  readonly draft: DraftRow;
  readonly route: Route;
}

/** Why it comes to no panel, as its route then says: its alarm is shelved, or a cause stands that suppresses it, or the alarm that it ends. */
function offPanels(
  { sql }: LogWriter,
  tenant: TenantId,
  {
    draft,
    route,
    last,
    isShelved,
    given,
  }: Coming & {
    readonly last: RememberingRow | undefined;
    readonly isShelved: boolean;
    readonly given: Acknowledged | null | undefined;
  },
): Pick<Route, 'shelved' | 'suppressed'> | undefined {
  if (isShelved) return { shelved: true };
  if (!draft.shown || given) return undefined;
  const before = isResolve(draft) && last ? toOff(last.shelved).suppressed : null;
  if (before) return { suppressed: { by: before.by, key: '' } };
  const { follows: keys } = suppressKeysOf(draft, route);
  const cause = findCause(sql, tenant, { keys, now: draft.receivedAt });
  return cause && { suppressed: { by: cause.id, key: cause.key } };
}

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
 * Who has acknowledged the alarm that it repeats: it is acknowledged too, at the time when it was received, unless its level is
 * higher. A notification that Belfry sends because a sender is silent does not count as a repeat.
 */
function takenOver(
  { sql }: LogWriter,
  tenant: TenantId,
  { draft: { shown, rank }, route, last }: Coming & { readonly last: LiveRow },
): Acknowledged | null {
  if (!shown || rank > last.rank || route.origin !== undefined) return null;
  return readAcknowledged(sql, tenant, last.row);
}

/** Changes of a stored notification. Each runs inside the transaction of its batch. */

type NewReceipts = Awaited<ReturnType<ReceiptStore['record']>>;

/** Saves when a panel has shown, or removed, notifications that reach it. Returns the receipts that are new. */
export function recordReceipts(
  { sql, routes }: LogWriter,
  tenant: TenantId,
  panel: PanelAddress,
  receipts: readonly ReceiptWrite[],
  mode?: ReceiptMode,
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
         WHERE ${column} IS NULL OR (? = 1 AND ${column} < excluded.${column})`,
      )
      .run(found.row, panel.id, at, inGroup ? 1 : null, mode === 'last counts' ? 1 : 0);
    if (changes > 0) fresh.push({ id, state, at, receivedAt: found.receivedAt });
  }
  return fresh;
}
