/** Rounds of retention; how far it goes, and moving the beginning of a tenant's log there. */
import type { TenantId } from '#core/ports.ts';
import {
  type RetentionBounds,
  type RetentionEntry,
  type RetentionStep,
  RetentionWalk,
} from '../retention.ts';
import type { Storage } from '../storage.ts';
import type { Connections } from './connections.ts';
import { type LogWrite, maintainPartitions, readLog } from './partitions.ts';
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
  await connections.query(
    tenant,
    `DELETE FROM acknowledgements a USING logs k WHERE a.tenant = $1 AND k.tenant = $1 AND a.row < k.first_row`,
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
