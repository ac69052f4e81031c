/**
 * Retention. A reader finds how far it goes, so that the writer only has to move the beginning of a tenant's log; and what
 * else the writer deletes because its time is over.
 */
import type { LivePosition, TenantId } from '#core/ports.ts';
import {
  type RetentionBounds,
  type RetentionEntry,
  type RetentionStep,
  RetentionWalk,
} from '../../retention.ts';
import { idAt, partitionsFrom } from './log-lookup.ts';
import type { LiveRow, LogWriter } from './log-writer.ts';
import { type Statements, tablesOf } from './partitions.ts';
import { rowBytesSql } from './rows.ts';

/** The most entries that one step drops: some milliseconds of reading. */
const entriesAStep = 5_000;
/** The most expired idempotency keys that one transaction deletes. */
const maxDeletedKeys = 1_000;
/** The most live notifications that one transaction of retention clears. */
const maxCleared = 500;
/** The most acknowledgements that one transaction of retention deletes. */
const maxDeletedAcknowledgements = 10_000;

/** The position of a live notification, with its tenant. */
export interface TenantLivePosition extends LivePosition {
  readonly tenant: TenantId;
}

/** The next step; undefined when nothing is beyond either bound. */
export function retentionStep(
  { sql }: { readonly sql: Statements },
  tenant: TenantId,
  bounds: RetentionBounds,
): RetentionStep | undefined {
  const log = sql
    .of<[number], { first: number; notifications: number }>(
      'SELECT first, notifications FROM logs WHERE tenant = ?',
    )
    .get(tenant);
  if (!log) return undefined;
  const walk = new RetentionWalk(log, bounds, entriesAStep);
  for (const partition of partitionsFrom(sql, tenant, log.first)) {
    const entries = sql
      .of<[number, number], RetentionEntry>(
        `SELECT row, position, at, iif(cleared IS NULL, ${rowBytesSql}, NULL) AS bytes FROM ${tablesOf(partition).log}
         WHERE tenant = ? AND position >= ? ORDER BY position`,
      )
      .iterate(tenant, log.first);
    for (const entry of entries) if (!walk.add(entry)) return walk.step;
  }
  return walk.step;
}

/**
 * Moves the start of a log to `step.first`. First clears the older notifications that panels still show, and adds an
 * entry to the log for each. Returns true while some are left; the caller then calls it again. Runs inside the
 * caller's transaction, as the next.
 */
export function retain(writer: LogWriter, tenant: TenantId, step: RetentionStep, now: number): boolean {
  const { sql } = writer;
  const log = writer.logs.of(tenant);
  if (log.first !== step.from) return false;
  const live = liveBelow(sql, tenant, step.first);
  const drop = sql.of('DELETE FROM live WHERE tenant = ? AND rank = ? AND position = ?');
  for (const row of live) {
    if (row.expires_at !== null && row.expires_at <= now) drop.run(tenant, row.rank, row.position);
    else writer.takeOff(tenant, row, idAt(sql, row.row), { reason: 'cleared', by: 'retention', at: now });
  }
  if (live.length === maxCleared) return true;
  writer.mayHaveDead = true;
  writer.needsMaintenance = true;
  log.first = step.first;
  log.firstRow = step.firstRow;
  log.notifications = Math.max(0, log.notifications - step.notifications);
  log.bytes = Math.max(0, log.bytes - step.bytes);
  sql
    .of(`DELETE FROM acknowledgements WHERE tenant = ? AND row < ? LIMIT ${maxDeletedAcknowledgements}`)
    .run(tenant, log.firstRow);
  return false;
}

/** Deletes `expired` from `live`, and expired idempotency keys. Returns the number of deleted rows of both. */
export function sweep(
  { sql }: Pick<LogWriter, 'sql'>,
  now: number,
  expired: readonly TenantLivePosition[],
): number {
  let deleted = sql
    .of(`DELETE FROM idempotency WHERE expires_at <= ? LIMIT ${maxDeletedKeys}`)
    .run(now).changes;
  const drop = sql.of('DELETE FROM live WHERE tenant = ? AND rank = ? AND position = ? AND expires_at <= ?');
  for (const { tenant, rank, position } of expired) deleted += drop.run(tenant, rank, position, now).changes;
  return deleted;
}

/** Returns the live notifications before `first`. Seeks in the primary key by rank, because a full scan would delay commits. */
function liveBelow(sql: Statements, tenant: TenantId, first: number): LiveRow[] {
  return sql
    .of<[{ tenant: number; first: number }], LiveRow>(
      `WITH RECURSIVE ranks(rank) AS (
         SELECT min(rank) FROM live WHERE tenant = @tenant
         UNION ALL
         SELECT (SELECT min(l.rank) FROM live l WHERE l.tenant = @tenant AND l.rank > ranks.rank) FROM ranks
         WHERE ranks.rank IS NOT NULL
       )
       SELECT l.rank, l.position, l.row, l.expires_at, l.route FROM ranks
       CROSS JOIN live l ON l.tenant = @tenant AND l.rank = ranks.rank AND l.position < @first
       LIMIT ${maxCleared}`,
    )
    .all({ tenant, first });
}
