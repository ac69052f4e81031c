import type { Storage } from '../storage.ts';
import type { Connections } from './connections.ts';
import { makeAhead } from './partitions.ts';

/** Rows of each table taken out in one transaction. */
const sweptAtOnce = 1_000;
/** A node whose clock is ahead by more is reported. */
const mostAheadMs = 2_000;

export interface SweepOptions {
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
  const sweep = async (now: number) => {
    await makeAhead(writes, partitionRows);
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

const deleteExpired = (table: string, key: string, until: string) =>
  `DELETE FROM ${table} WHERE (${key}) IN (
     SELECT ${key} FROM ${table} WHERE ${until} <= (SELECT now FROM clock) LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1`;
