/** Retention: a reader computes the new beginning of a tenant's log, so that the writer only has to move it. */
import type { TenantId } from '#core/log/route.ts';
import {
  type RetentionBounds,
  type RetentionEntry,
  type RetentionStep,
  RetentionWalk,
} from '../../log/retention.ts';
import type { Leaving } from './live-order.ts';
import { entriesFrom, idAt } from './log-lookup.ts';
import type { LiveRow, LogWriter } from './log-writer.ts';
import type { Statements } from './partitions.ts';
import { rowBytesSql } from './rows.ts';
import { readLog } from './tenant-log.ts';

/** The most entries that one step drops: some milliseconds of reading. */
const entriesAStep = 5_000;
/** Entries read at once. The first few usually suffice, because there is nothing to drop. */
const [firstEntries, entriesAtOnce] = [16, 512];
/** In one transaction. */
const maxDeletedKeys = 1_000;
const maxCleared = 500;
const maxDeletedAtOnce = 10_000;

/** The step, with those of its rows that panels still show. */
export interface LogRetentionStep extends RetentionStep {
  readonly live: readonly number[];
}

interface WalkedEntry extends RetentionEntry {
  readonly isLive: 0 | 1;
}

/** The next step; undefined when nothing is beyond either bound. */
export function retentionStep(
  { sql }: { readonly sql: Statements },
  tenant: TenantId,
  bounds: RetentionBounds,
): LogRetentionStep | undefined {
  const log = readLog(sql, tenant);
  const walk = new RetentionWalk(log, bounds, entriesAStep);
  const live: number[] = [];
  for (const entry of walkedEntries(sql, tenant, log.first)) {
    if (entry.isLive === 1) live.push(entry.row);
    if (!walk.add(entry)) break;
  }
  const { step } = walk;
  return step && { ...step, live: live.filter((row) => row < step.firstRow) };
}

function* walkedEntries(sql: Statements, tenant: TenantId, first: number): Iterable<WalkedEntry> {
  const columns = `n.row, n.position, n.at, iif(n.cleared IS NULL, ${rowBytesSql}, NULL) AS bytes,
    EXISTS (SELECT 1 FROM live l WHERE l.row = n.row) AS isLive`;
  for (let [from, limit] = [first, firstEntries]; ; [from, limit] = [from + limit, entriesAtOnce]) {
    let found = 0;
    for (const { rows } of entriesFrom<WalkedEntry>(sql, { tenant, from, limit }, columns)) {
      yield* rows;
      found += rows.length;
    }
    if (found < limit) return;
  }
}

/**
 * Moves the start of a log to `step.first`. First clears the older notifications that panels still show, and adds an
 * entry to the log for each. Returns true while some are left; the caller then calls it again. Runs inside the
 * caller's transaction, as the next.
 */
export function retain(writer: LogWriter, tenant: TenantId, step: LogRetentionStep, now: number): boolean {
  const { sql } = writer;
  const log = writer.logs.of(tenant);
  if (log.first !== step.from) return false;
  const live = sql
    .of<[string], LiveRow>(
      `SELECT rank, position, row, expires_at, route FROM live WHERE row IN (SELECT value FROM json_each(?)) LIMIT ${maxCleared}`,
    )
    .all(JSON.stringify(step.live));
  const drop = sql.of('DELETE FROM live WHERE row = ?');
  for (const row of live) {
    if (row.expires_at !== null && row.expires_at <= now) drop.run(row.row);
    else writer.takeOff(tenant, row, idAt(sql, row.row), { reason: 'cleared', by: 'retention', at: now });
  }
  if (live.length === maxCleared) return true;
  writer.dropped += step.first - step.from;
  writer.mayHaveDead = true;
  writer.needsMaintenance = true;
  log.first = step.first;
  log.firstRow = step.firstRow;
  log.notifications = Math.max(0, log.notifications - step.notifications);
  log.bytes = Math.max(0, log.bytes - step.bytes);
  for (const table of ['acknowledgements', 'alarm_entries', 'alarm_causes'])
    sql
      .of(`DELETE FROM ${table} WHERE tenant = ? AND row < ? LIMIT ${maxDeletedAtOnce}`)
      .run(tenant, log.firstRow);
  return false;
}

/**
 * Deletes the rows `expired` from `live`, and expired idempotency keys. Returns the number of deleted rows of both. The rows
 * `misdated` get another end first.
 */
export function sweep(
  { sql }: Pick<LogWriter, 'sql'>,
  now: number,
  expired: readonly number[],
  misdated: readonly Leaving[] = [],
): number {
  const redate = sql.of('UPDATE live SET expires_at = ? WHERE row = ?');
  for (const [row, at] of misdated) redate.run(at, row);
  let deleted = sql
    .of(`DELETE FROM idempotency WHERE expires_at <= ? LIMIT ${maxDeletedKeys}`)
    .run(now).changes;
  const drop = sql.of('DELETE FROM live WHERE row = ? AND expires_at <= ?');
  for (const row of expired) deleted += drop.run(row, now).changes;
  return deleted;
}
