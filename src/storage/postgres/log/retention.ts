/** What is deleted: expired rows by sweeps, and the oldest entries of a tenant's log by rounds of retention. */
import type { TenantId } from '#core/log/route.ts';
import { ClockSteps } from '../../database/meta.ts';
import type { Storage } from '../../database/storage.ts';
import {
  type RetentionBounds,
  type RetentionEntry,
  type RetentionStep,
  RetentionWalk,
} from '../../log/retention.ts';
import type { Connections } from '../connections.ts';
import { type LogWrite, maintainPartitions, makeAhead, readLog } from './partitions.ts';
import { rowBytesSql } from './rows.ts';

/** Entries that one step drops, at the most; and among which the earliest that is kept is sought. */
const entriesAStep = 50_000;
/** Entries that one query reads; the first reads fewer. */
const entriesAQuery = 5_000;
const firstEntries = 20;
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
          await maintainPartitions(writes);
        }
      } finally {
        await client.query('SELECT pg_advisory_unlock($1)', [roundLock]);
      }
    });
}

/** Drops the oldest entries beyond either bound, a step at a time; answers how many entries it dropped (0: done). */
export async function dropFromLog(
  connections: Connections,
  write: LogWrite,
  tenant: TenantId,
  bounds: RetentionBounds,
): Promise<number> {
  const step = await findStep(connections, tenant, bounds);
  if (!step) return 0;
  const { from, first, notifications, bytes, latest } = step;
  const move = [tenant, from, first, notifications, bytes, latest, bounds.now];
  let more: boolean | undefined = true;
  while (more) {
    const { rows } = await write(tenant, clearedAtOnce, (client) =>
      client.query<{ more: boolean }>('SELECT move_first($1, $2, $3, $4, $5, $6, $7) AS more', move),
    );
    more = rows[0]?.more;
  }
  await connections.query(
    tenant,
    `DELETE FROM minutes WHERE tenant = $1 AND minute < coalesce(earliest_kept($1, ${entriesAStep}), $2) / 60000`,
    [tenant, bounds.now],
  );
  for (const table of ['acknowledgements', 'alarm_entries', 'alarm_causes'])
    await connections.query(
      tenant,
      `DELETE FROM ${table} a USING logs k WHERE a.tenant = $1 AND k.tenant = $1 AND a.row < k.first_row`,
      [tenant],
    );
  return first - from;
}

async function findStep(
  connections: Connections,
  tenant: TenantId,
  bounds: RetentionBounds,
): Promise<RetentionStep | undefined> {
  const log = await readLog(connections, tenant);
  if (!log) return undefined;
  const walk = new RetentionWalk(log, bounds, entriesAStep);
  // The first entries tell whether there is something to drop; usually there is not.
  for (let [after, limit] = [log.first - 1, firstEntries]; ; limit = entriesAQuery) {
    const entries = await connections.query<RetentionEntry>(
      tenant,
      `SELECT row, position, at, CASE WHEN cleared IS NULL THEN ${rowBytesSql} END AS bytes
       FROM read_after($1, $2, $3) ORDER BY position`,
      [tenant, after, limit],
    );
    for (const entry of entries) if (!walk.add(entry)) return walk.step;
    if (entries.length < limit) return walk.step;
    after = entries.at(-1)?.position ?? after;
  }
}

/** Rows of each table taken out in one transaction. */
const sweptAtOnce = 1_000;
/** A node whose clock is ahead by more is reported. */
const mostAheadMs = 2_000;

interface SweepOptions {
  readonly partitionRows: number;
  /** Leaves the database's clock out, for tests with times of their own. */
  readonly trustsOwnClock: boolean;
  readonly warn: (message: string) => void;
}

/**
 * Makes partitions ahead, and takes out expired rows; answers how many. A row goes when it has expired by this node's clock and
 * by the database's: a node whose clock is ahead must not take from all panels what is still live.
 */
export function createSweep(
  writes: Connections,
  { partitionRows, trustsOwnClock, warn }: SweepOptions,
): Required<Pick<Storage, 'sweep' | 'clockAheadMs'>> {
  let aheadMs = 0;
  const clockSteps = new ClockSteps();
  const sweep = async (now: number) => {
    await makeAhead(writes, partitionRows);
    await clockSteps.after(now, () => redate(writes, now, trustsOwnClock));
    const [swept] = await writes.query<{ count: number; ahead: number }>(
      'all',
      `WITH clock AS (
         SELECT own, CASE WHEN $3 THEN own ELSE least(own, here) END AS now, here FROM (
           SELECT $1::bigint AS own, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS here) t
       ), retries AS (${deleteExpired('idempotency', 'tenant, key', 'expires_at')}
       ), expired AS (${deleteExpired('live', 'tenant, rank, position', 'expires_at')}
       ), throttled AS (${deleteExpired('throttles', 'tenant, name', 'until')}
       ) SELECT (SELECT count(*) FROM retries) + (SELECT count(*) FROM expired) + (SELECT count(*) FROM throttled) AS count,
           own - here AS ahead FROM clock`,
      [now, sweptAtOnce, trustsOwnClock],
    );
    const { count = 0, ahead = 0 } = swept ?? {};
    if (ahead > mostAheadMs && aheadMs <= mostAheadMs)
      warn(
        `the clock of this node is ${Math.round(ahead / 1000)} s ahead of the database's: set both by NTP`,
      );
    aheadMs = ahead;
    return count;
  };
  return { sweep, clockAheadMs: () => aheadMs };
}

/**
 * Corrects when live notifications leave, as `leavesAt` of history-rows.ts has it, one partition of the log at a time. A notification is
 * ahead of the clock if it is ahead of this node's and the database's: a node whose clock is behind must not shorten the others.
 */
async function redate(writes: Connections, now: number, trustsOwnClock: boolean): Promise<void> {
  const parts = await writes.query<{ low: number; rows: number[] }>(
    'all',
    `SELECT p.low, array_agg(l.row) AS rows FROM live l JOIN partitions p ON l.row >= p.low AND l.row < p.high
     WHERE l.expires_at IS NOT NULL GROUP BY p.low ORDER BY p.low DESC`,
  );
  for (const { low, rows } of parts)
    await writes.query(
      'all',
      `WITH clock AS (
         SELECT CASE WHEN $2 THEN $1::bigint ELSE greatest($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) END AS now
       ), wanted AS (
         SELECT l.tenant, l.rank, l.position,
           CASE WHEN g.at > c.now THEN least(l.expires_at, c.now + g.expires_at - g.at) ELSE g.expires_at END AS expires_at
         FROM clock c CROSS JOIN (SELECT * FROM log_${low} WHERE row = ANY ($3::bigint[])) g
         JOIN live l ON l.tenant = g.tenant AND l.rank = g.rank AND l.position = g.position FOR UPDATE OF l SKIP LOCKED
       )
       UPDATE live l SET expires_at = w.expires_at FROM wanted w
       WHERE l.tenant = w.tenant AND l.rank = w.rank AND l.position = w.position AND l.expires_at <> w.expires_at`,
      [now, trustsOwnClock, rows],
    );
}

const deleteExpired = (table: string, key: string, until: string) =>
  `DELETE FROM ${table} WHERE (${key}) IN (
     SELECT ${key} FROM ${table} WHERE ${until} <= (SELECT now FROM clock) LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1`;
