import type { Clear } from '../../core/ports.ts';
import type { Db } from './database.ts';
import { unindex } from './indexer.ts';
import type { Job, PruneResult } from './jobs.ts';
import type { LogWriter } from './log-writer.ts';
import { entryOf, positionMask, uuidToText } from './rows.ts';
import { rowBytesSql } from './tenant-log.ts';
import { TimelySearch } from './timely-search.ts';

/** Expired retry keys forgotten in one transaction. */
const forgottenAtOnce = 1_000;
const minuteMs = 60_000;

interface Age {
  readonly olderThan: number;
  readonly now: number;
}

/** Drops what retention no longer keeps, and what is no longer live. Runs inside the caller's transaction. */
export class LogPruner {
  readonly #writer: LogWriter;
  readonly #db: Db;
  readonly #sql;
  readonly #timely: TimelySearch;

  constructor(db: Db, writer: LogWriter) {
    this.#db = db;
    this.#writer = writer;
    this.#timely = new TimelySearch(db);
    this.#sql = prepareStatements(db);
  }

  afterRollback(): void {
    this.#timely.forget();
  }

  /** Drops the oldest `most` entries at the most. Those still on panels are cleared first, by an entry of their own. */
  prune({ tenant, olderThan, keep, now }: Extract<Job, { kind: 'prune' }>, most: number): PruneResult {
    const log = this.#writer.logs.of(tenant);
    const age = olderThan === null ? undefined : { olderThan, now };
    const end = Math.min(log.first + most - 1, log.head);
    const upTo = this.#lastToDrop(tenant, { ...log, end }, age, keep);
    if (upTo < log.first) return { dropped: 0, clears: [] };
    const from = log.first;
    const clears: Clear[] = [];
    for (const row of this.#sql.liveIn.all({ tenant, from, upTo })) {
      if (row.expires_at !== null && row.expires_at <= now)
        this.#sql.dropLive.run(tenant, row.rank, row.position);
      else
        clears.push(
          this.#writer.takeOff(tenant, row, uuidToText(row.id), {
            reason: 'cleared',
            by: 'retention',
            at: now,
          }),
        );
    }
    unindex(this.#db, tenant, from, upTo);
    this.#drop(tenant, from, upTo);
    return { dropped: upTo - from + 1, clears };
  }

  /** Takes what was found expired out of `live`, and forgets old retry keys; answers how many it took of both. */
  sweep({ now, expired }: Extract<Job, { kind: 'sweep' }>): number {
    let taken = this.#sql.forgetRetries.run(now).changes;
    for (const { tenant, rank, position } of expired)
      taken += this.#sql.dropExpired.run(tenant, rank, position, now).changes;
    return taken;
  }

  /** The last position up to `end` that is beyond either bound; below `first` when there is none. */
  #lastToDrop(
    tenant: number,
    log: { first: number; end: number; head: number; notifications: number },
    age: Age | undefined,
    keep: number | null,
  ): number {
    const { first, end, notifications } = log;
    const byCount = keep === null ? 0 : this.#beyondCount(tenant, first, end, notifications - keep);
    const byAge = age === undefined ? 0 : this.#beyondAge(tenant, log, age);
    return Math.min(end, Math.max(byCount, byAge));
  }

  /** Where the oldest `excess` notifications end. Clears do not count: dropping what is live adds one for each. */
  #beyondCount(tenant: number, first: number, end: number, excess: number): number {
    if (excess <= 0) return 0;
    return this.#sql.nthIn.get(tenant, first, tenant, end, excess - 1)?.position ?? end;
  }

  /**
   * Up to the first that is young enough. One that is ahead of the clock was received while that was wrong: it is as old
   * as what came after it, and stays while nothing has, or while that has not been reached.
   */
  #beyondAge(
    tenant: number,
    { first, end, head }: { first: number; end: number; head: number },
    { olderThan, now }: Age,
  ): number {
    const kept = this.#sql.firstKept.get(tenant, first, tenant, end, olderThan, now);
    const last = kept ? kept.position - 1 : end;
    let from = first;
    for (;;) {
      const ahead = this.#sql.firstAhead.get(tenant, from, tenant, last, now);
      if (!ahead) break;
      const next = this.#timely.first(tenant, ahead.position, head, now);
      if (!next || next.received_at >= olderThan) return ahead.position - 1;
      if (next.position > last) return last;
      from = next.position;
    }
    if (kept || this.#sql.anyIn.get(tenant, first, tenant, end)) return last;
    const clear = this.#sql.firstClearKept.get(tenant, first, tenant, end, olderThan, now);
    return clear ? clear.position - 1 : end;
  }

  #drop(tenant: number, from: number, upTo: number): void {
    const log = this.#writer.logs.of(tenant);
    const nothing = { rows: 0, bytes: 0, newest: 0 };
    const { rows, bytes, newest } = this.#sql.measure.get(tenant, from, tenant, upTo) ?? nothing;
    this.#sql.dropThrottleCounts.run(tenant, tenant, from, tenant, upTo);
    this.#sql.dropNotifications.run(tenant, from, tenant, upTo);
    this.#sql.dropClears.run(tenant, from, tenant, upTo);
    this.#sql.dropReceipts.run(tenant, from, upTo);
    this.#sql.dropMinutes.run(tenant, Math.floor(newest / minuteMs), upTo);
    log.first = upTo + 1;
    log.notifications -= rows;
    log.bytes = Math.max(0, log.bytes - bytes);
    log.changed = true;
  }
}

function prepareStatements(db: Db) {
  const range = `BETWEEN ${entryOf('?', '?')} AND ${entryOf('?', '?')}`;
  return {
    anyIn: db.prepare<[number, number, number, number], { one: number }>(
      `SELECT 1 AS one FROM notifications WHERE entry ${range} LIMIT 1`,
    ),
    nthIn: db.prepare<[number, number, number, number, number], { position: number }>(
      `SELECT entry & ${positionMask} AS position FROM notifications WHERE entry ${range} ORDER BY entry LIMIT 1 OFFSET ?`,
    ),
    firstAhead: db.prepare<[number, number, number, number, number], { position: number }>(
      `SELECT entry & ${positionMask} AS position FROM notifications WHERE entry ${range} AND received_at > ? ORDER BY entry LIMIT 1`,
    ),
    firstKept: db.prepare<[number, number, number, number, number, number], { position: number }>(
      `SELECT entry & ${positionMask} AS position FROM notifications WHERE entry ${range} AND received_at BETWEEN ? AND ? ORDER BY entry LIMIT 1`,
    ),
    firstClearKept: db.prepare<[number, number, number, number, number, number], { position: number }>(
      `SELECT entry & ${positionMask} AS position FROM clears WHERE entry ${range} AND at BETWEEN ? AND ? ORDER BY entry LIMIT 1`,
    ),
    // Rank by rank, as its key goes: going through all that is live for each slice would hold up commits.
    liveIn: db.prepare<
      [{ tenant: number; from: number; upTo: number }],
      { rank: number; position: number; expires_at: number | null; route: number; id: Buffer }
    >(
      `WITH RECURSIVE ranks(rank) AS (
         SELECT min(rank) FROM live WHERE tenant = @tenant
         UNION ALL
         SELECT (SELECT min(l.rank) FROM live l WHERE l.tenant = @tenant AND l.rank > ranks.rank) FROM ranks
         WHERE ranks.rank IS NOT NULL
       )
       SELECT l.rank, l.position, l.expires_at, l.route, n.id FROM ranks
       CROSS JOIN live l ON l.tenant = @tenant AND l.rank = ranks.rank AND l.position BETWEEN @from AND @upTo
       CROSS JOIN notifications n ON n.entry = ${entryOf('l.tenant', 'l.position')}`,
    ),
    dropLive: db.prepare('DELETE FROM live WHERE tenant = ? AND rank = ? AND position = ?'),
    dropExpired: db.prepare(
      'DELETE FROM live WHERE tenant = ? AND rank = ? AND position = ? AND expires_at <= ?',
    ),
    forgetRetries: db.prepare(`DELETE FROM idempotency WHERE expires_at <= ? LIMIT ${forgottenAtOnce}`),
    measure: db.prepare<[number, number, number, number], { rows: number; bytes: number; newest: number }>(
      `SELECT count(*) AS rows, coalesce(sum(${rowBytesSql}), 0) AS bytes, coalesce(max(received_at), 0) AS newest FROM notifications WHERE entry ${range}`,
    ),
    dropThrottleCounts: db.prepare(
      `DELETE FROM throttle_counts WHERE tenant = ? AND id IN (SELECT id FROM notifications WHERE entry ${range})`,
    ),
    dropNotifications: db.prepare(`DELETE FROM notifications WHERE entry ${range}`),
    dropClears: db.prepare(`DELETE FROM clears WHERE entry ${range}`),
    dropReceipts: db.prepare('DELETE FROM receipts WHERE tenant = ? AND position BETWEEN ? AND ?'),
    // By its key: going through every minute of a long history for each slice would hold up commits.
    dropMinutes: db.prepare('DELETE FROM minutes WHERE tenant = ? AND minute <= ? AND last <= ?'),
  };
}
