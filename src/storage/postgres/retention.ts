/** Rounds of retention; how far it goes, and moving the beginning of a tenant's log there. */
import type { TenantId } from '#core/ports.ts';
import type { Storage } from '../storage.ts';
import type { Connections } from './connections.ts';
import { dropUnkept, type LogWrite } from './partitions.ts';
import { rowBytesSql } from './rows.ts';

/** Entries looked at in one step, at the most. */
const entriesAStep = 50_000;
/** Live notifications that `move_first` clears in one transaction. */
const clearedAtOnce = 500;

/** Names the advisory lock of the node that runs a round. */
const roundLock = 0x62656c72;
/** Nodes try once a minute. What another one began a moment ago was this minute's round. */
const soonestMs = 45_000;

/** `lease`: a connection that is held for as long as a round takes. Should it break, another node may begin the next round. */
export function createRetain(lease: Connections, writes: Connections): NonNullable<Storage['retain']> {
  return (round) =>
    lease.run('all', async (client) => {
      const { rows } = await client.query<{ is_ours: boolean }>(
        'SELECT pg_try_advisory_lock($1) AS is_ours',
        [roundLock],
      );
      if (!rows[0]?.is_ours) return;
      try {
        const { rowCount } = await client.query(
          `INSERT INTO meta VALUES ('retention', (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
           ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE abs(excluded.value::bigint - meta.value::bigint) >= $1`,
          [soonestMs],
        );
        if (rowCount === 0) return;
        try {
          await round();
        } finally {
          await dropUnkept(writes);
        }
      } finally {
        await client.query('SELECT pg_advisory_unlock($1)', [roundLock]);
      }
    });
}

export interface RetentionBounds {
  /** Unix milliseconds; null: whatever its age. */
  readonly olderThan: number | null;
  /** Notifications kept; null: however many. */
  readonly keep: number | null;
  readonly now: number;
}

interface LogState {
  readonly head: number;
  readonly first: number;
  readonly notifications: number;
}

/** Drops the oldest entries beyond either bound, a step at a time; answers how many entries it dropped (0: done). */
export async function dropFromLog(
  connections: Connections,
  write: LogWrite,
  tenant: TenantId,
  bounds: RetentionBounds,
): Promise<number> {
  const [log] = await connections.query<LogState>(
    tenant,
    'retention-log',
    'SELECT head, first, notifications FROM logs WHERE tenant = $1',
    [tenant],
  );
  if (!log || log.first > log.head) return 0;
  const last = await new BoundSearch(connections, tenant, log, bounds).lastToDrop();
  if (last < log.first) return 0;
  const [dropped] = await connections.query<{ notifications: number; bytes: number; last: number | null }>(
    tenant,
    'retention-sum',
    `SELECT count(*) AS notifications, coalesce(sum(${rowBytesSql}), 0)::bigint AS bytes, max(at) AS last
     FROM log WHERE tenant = $1 AND position BETWEEN $2 AND $3 AND cleared IS NULL`,
    [tenant, log.first, last],
  );
  if (!dropped) return 0;
  const move = [tenant, log.first, last + 1, dropped.notifications, dropped.bytes, dropped.last, bounds.now];
  let more: boolean | undefined = true;
  while (more) {
    const { rows } = await write(tenant, clearedAtOnce, (client) =>
      client.query<{ more: boolean }>('SELECT move_first($1, $2, $3, $4, $5, $6, $7) AS more', move),
    );
    more = rows[0]?.more;
  }
  await connections.query(
    tenant,
    'retention-minutes',
    `DELETE FROM minutes WHERE tenant = $1 AND minute < (SELECT coalesce(min(at), $2) / 60000 FROM (
       SELECT n.at FROM log n JOIN logs k ON k.tenant = n.tenant WHERE n.tenant = $1 AND n.position >= k.first
       ORDER BY n.position LIMIT ${entriesAStep}) kept)`,
    [tenant, bounds.now],
  );
  await connections.query(
    tenant,
    'retention-acknowledgements',
    `DELETE FROM acknowledgements a USING logs k WHERE a.tenant = $1 AND k.tenant = $1 AND a.row < k.first_row`,
    [tenant],
  );
  return last + 1 - log.first;
}

interface Found {
  readonly position: number;
  readonly at: number;
}

class BoundSearch {
  readonly #connections: Connections;
  readonly #tenant: TenantId;
  readonly #log: LogState;
  readonly #bounds: RetentionBounds;

  constructor(connections: Connections, tenant: TenantId, log: LogState, bounds: RetentionBounds) {
    this.#connections = connections;
    this.#tenant = tenant;
    this.#log = log;
    this.#bounds = bounds;
  }

  /** The last position of this step that is beyond a bound; below `first` when none is. */
  async lastToDrop(): Promise<number> {
    const { olderThan, keep } = this.#bounds;
    const first = await this.#one('cleared IS NULL ORDER BY position');
    if (!first) return this.#beyondAgeOfClears();
    const end = first.position + entriesAStep - 1;
    const newest = await this.#one('cleared IS NULL AND position <= $3 ORDER BY position DESC', [end]);
    const last = newest?.position ?? first.position;
    const byCount = keep === null ? 0 : await this.#beyondCount(last, this.#log.notifications - keep);
    const byAge = olderThan === null ? 0 : await this.#beyondAge(last, olderThan);
    return Math.max(byCount, byAge);
  }

  /** Where the oldest `excess` notifications end. Clears do not count: dropping what is live adds one for each. */
  async #beyondCount(last: number, excess: number): Promise<number> {
    if (excess <= 0) return 0;
    const nth = await this.#one('cleared IS NULL AND position <= $3 ORDER BY position OFFSET $4', [
      last,
      excess - 1,
    ]);
    return nth?.position ?? last;
  }

  /**
   * Up to the last old one before the first that is young enough. One that is ahead of the clock was received while the clock
   * was wrong: it is as old as what came after it, and stays while nothing has.
   */
  async #beyondAge(last: number, olderThan: number): Promise<number> {
    const { now } = this.#bounds;
    const upTo = 'cleared IS NULL AND position <= $3';
    const young = await this.#one(`${upTo} AND at BETWEEN $4 AND $5 ORDER BY position`, [
      last,
      olderThan,
      now,
    ]);
    const end = (young?.position ?? last + 1) - 1;
    const old = await this.#one(`${upTo} AND at < $4 ORDER BY position DESC`, [
      end,
      Math.min(olderThan, now + 1),
    ]);
    // All that is left of the step is ahead of the clock, or behind its last old one.
    if (!young && (old?.position ?? 0) < last && (await this.#isOldAfter(last, olderThan))) return last;
    const lastOld = old?.position ?? this.#log.first - 1;
    const ahead = await this.#one('cleared IS NULL AND position > $3 ORDER BY position', [lastOld]);
    return ahead === undefined || ahead.position > end ? Math.max(end, lastOld) : ahead.position - 1;
  }

  /** Whether what first came after this step, by a clock that was right, is old. */
  async #isOldAfter(position: number, olderThan: number): Promise<boolean> {
    const { now } = this.#bounds;
    const next = await this.#one('cleared IS NULL AND position > $3 AND at <= $4 ORDER BY position', [
      position,
      now,
    ]);
    return next !== undefined && next.at < olderThan;
  }

  /** Without notifications, entries of clearing go by their own age; one that is ahead of the clock is old. */
  async #beyondAgeOfClears(): Promise<number> {
    const { olderThan, now } = this.#bounds;
    if (olderThan === null) return 0;
    const young = await this.#one('at BETWEEN $3 AND $4 ORDER BY position', [olderThan, now]);
    return young ? young.position - 1 : this.#log.head;
  }

  async #one(condition: string, values: readonly number[] = []): Promise<Found | undefined> {
    const [found] = await this.#connections.query<Found>(
      this.#tenant,
      '',
      `SELECT position, at FROM log WHERE tenant = $1 AND position >= $2 AND ${condition} LIMIT 1`,
      [this.#tenant, this.#log.first, ...values],
    );
    return found;
  }
}
