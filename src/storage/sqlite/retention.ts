/** How far retention goes: found by reading, so that the writer only has to move the beginning of a tenant's log. */
import type { TenantId } from '#core/ports.ts';
import { rowAtOrAfter } from './log-lookup.ts';
import {
  lastRowOf,
  type Partition,
  readNewest,
  readPartitions,
  type Statements,
  tablesOf,
} from './partitions.ts';
import { rowBytesSql } from './rows.ts';

const minuteMs = 60_000;

export interface RetentionBounds {
  /** Unix milliseconds; null: whatever its age. */
  readonly olderThan: number | null;
  /** Notifications kept; null: however many. */
  readonly keep: number | null;
  readonly now: number;
}

/** A tenant's log is to begin at `first` and no longer at `from`; what lies between holds so many notifications and bytes. */
export interface RetentionStep {
  readonly from: number;
  readonly first: number;
  readonly firstRow: number;
  readonly notifications: number;
  readonly bytes: number;
}

interface LogState {
  readonly head: number;
  readonly first: number;
  readonly firstRow: number;
  readonly notifications: number;
}

interface Found {
  readonly position: number;
  readonly at: number;
}

/** The next step, at most to the end of one partition; undefined when nothing is beyond either bound. */
export function retentionStep(
  sql: Statements,
  tenant: TenantId,
  bounds: RetentionBounds,
): RetentionStep | undefined {
  const log = sql
    .of<[number], LogState>(
      'SELECT head, first, first_row AS firstRow, notifications FROM logs WHERE tenant = ?',
    )
    .get(tenant);
  if (!log || log.first > log.head) return undefined;
  const partitions = readPartitions(sql).filter((partition) => lastRowOf(partition) >= log.firstRow);
  const search = new BoundSearch(sql, tenant, partitions.reverse(), bounds);
  const last = search.lastToDrop(log);
  if (last < log.first) return undefined;
  const firstRow = rowAtOrAfter(sql, tenant, last + 1) ?? nextRow(sql);
  return { from: log.first, first: last + 1, firstRow, ...search.sumOf(log.first, last) };
}

/** The row that the next entry of any tenant gets. */
function nextRow(sql: Statements): number {
  const newest = readNewest(sql);
  const last = sql
    .of<[], { row: number | null }>(`SELECT max(row) AS row FROM ${tablesOf(newest).log}`)
    .get()?.row;
  return (last ?? newest.firstRow - 1) + 1;
}

class BoundSearch {
  readonly #sql: Statements;
  readonly #tenant: TenantId;
  /** Those that hold something of what is kept, the oldest first. */
  readonly #partitions: readonly Partition[];
  readonly #bounds: RetentionBounds;

  constructor(sql: Statements, tenant: TenantId, partitions: readonly Partition[], bounds: RetentionBounds) {
    this.#sql = sql;
    this.#tenant = tenant;
    this.#partitions = partitions;
    this.#bounds = bounds;
  }

  /** The last position of the oldest partition that is beyond a bound; below `first` when none is. */
  lastToDrop(log: LogState): number {
    const { olderThan, keep } = this.#bounds;
    const oldest = this.#partitions.find((partition) => this.#lastIn(partition) !== undefined);
    if (!oldest) return this.#beyondAgeOfClears(log);
    const byCount = keep === null ? 0 : this.#beyondCount(oldest, log, log.notifications - keep);
    const byAge = olderThan === null ? 0 : this.#beyondAge(oldest, log, olderThan);
    return Math.max(byCount, byAge);
  }

  sumOf(from: number, last: number): { notifications: number; bytes: number } {
    let notifications = 0;
    let bytes = 0;
    for (const partition of this.#partitions) {
      const sum = this.#sql
        .of<[number, number, number], { notifications: number; bytes: number }>(
          `SELECT count(*) AS notifications, coalesce(sum(${rowBytesSql}), 0) AS bytes FROM ${tablesOf(partition).log}
           WHERE tenant = ? AND position BETWEEN ? AND ? AND cleared IS NULL`,
        )
        .get(this.#tenant, from, last);
      notifications += sum?.notifications ?? 0;
      bytes += sum?.bytes ?? 0;
      if (this.#hasAfter(partition, last)) break;
    }
    return { notifications, bytes };
  }

  /** The newest notification of the tenant in a partition that is kept. */
  #lastIn(partition: Partition): Found | undefined {
    return this.#one(partition, 'cleared IS NULL ORDER BY position DESC');
  }

  /** Where the oldest `excess` notifications end. Clears do not count: dropping what is live adds one for each. */
  #beyondCount(partition: Partition, { first }: LogState, excess: number): number {
    if (excess <= 0) return 0;
    const nth = this.#sql
      .of<[number, number, number], Found>(
        `SELECT position, at FROM ${tablesOf(partition).log} WHERE tenant = ? AND position >= ? AND cleared IS NULL
         ORDER BY position LIMIT 1 OFFSET ?`,
      )
      .get(this.#tenant, first, excess - 1);
    return (nth ?? this.#lastIn(partition))?.position ?? 0;
  }

  /**
   * Up to the last old one before the first that is young enough. One that is ahead of the clock was received while the clock
   * was wrong: it is as old as what came after it, and stays while nothing has.
   */
  #beyondAge(partition: Partition, { first }: LogState, olderThan: number): number {
    const { now } = this.#bounds;
    const last = this.#lastIn(partition)?.position ?? 0;
    const { lastMinute, lastRow } = partition;
    if (lastRow !== null && lastMinute !== null && (lastMinute + 1) * minuteMs <= Math.min(olderThan, now))
      return last;
    const young = this.#one(partition, 'cleared IS NULL AND at BETWEEN ? AND ? ORDER BY position', [
      olderThan,
      now,
    ]);
    const end = (young?.position ?? last + 1) - 1;
    const old = this.#one(partition, 'cleared IS NULL AND position <= ? AND at < ? ORDER BY position DESC', [
      end,
      Math.min(olderThan, now + 1),
    ]);
    // All that is left of the partition is ahead of the clock, or behind its last old one.
    if (!young && (old?.position ?? 0) < last && this.#isOldAfter(partition, olderThan)) return last;
    const lastOld = old?.position ?? first - 1;
    const ahead = this.#one(partition, 'cleared IS NULL AND position > ? ORDER BY position', [lastOld]);
    return ahead === undefined || ahead.position > end ? Math.max(end, lastOld) : ahead.position - 1;
  }

  /** Whether what first came after this partition, by a clock that was right, is old. */
  #isOldAfter(partition: Partition, olderThan: number): boolean {
    const after = this.#partitions.slice(this.#partitions.indexOf(partition) + 1);
    for (const later of after) {
      const next = this.#one(later, 'cleared IS NULL AND at <= ? ORDER BY position', [this.#bounds.now]);
      if (next) return next.at < olderThan;
    }
    return false;
  }

  /** Without notifications, entries of clearing go by their own age; one that is ahead of the clock is old. */
  #beyondAgeOfClears({ head }: LogState): number {
    const { olderThan, now } = this.#bounds;
    if (olderThan === null) return 0;
    for (const partition of this.#partitions) {
      const young = this.#one(partition, 'at BETWEEN ? AND ? ORDER BY position', [olderThan, now]);
      if (young) return young.position - 1;
    }
    return head;
  }

  #hasAfter(partition: Partition, position: number): boolean {
    return this.#one(partition, 'position > ? ORDER BY position', [position]) !== undefined;
  }

  #one(partition: Partition, condition: string, values: readonly number[] = []): Found | undefined {
    return this.#sql
      .of<unknown[], Found>(
        `SELECT position, at FROM ${tablesOf(partition).log}
         WHERE tenant = ? AND position >= (SELECT first FROM logs WHERE tenant = ?) AND ${condition} LIMIT 1`,
      )
      .get(this.#tenant, this.#tenant, ...values);
  }
}
