/** How far retention goes: found by reading, so that the writer only has to move the beginning of a tenant's log. */
import type { TenantId } from '#core/ports.ts';
import {
  type RetentionBounds,
  type RetentionEntry,
  type RetentionStep,
  RetentionWalk,
} from '../retention.ts';
import { partitionsFrom } from './log-lookup.ts';
import { type Statements, tablesOf } from './partitions.ts';
import { rowBytesSql } from './rows.ts';

/** The next step; undefined when nothing is beyond either bound. */
export function retentionStep(
  sql: Statements,
  tenant: TenantId,
  bounds: RetentionBounds,
): RetentionStep | undefined {
  const log = sql
    .of<[number], { first: number; notifications: number }>(
      'SELECT first, notifications FROM logs WHERE tenant = ?',
    )
    .get(tenant);
  if (!log) return undefined;
  const walk = new RetentionWalk(log, bounds);
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
