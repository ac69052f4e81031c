/** A PostgreSQL server for benchmarks: with fsync, and with more memory than by default. */

import { missingPostgres, startPostgres, type TestPostgres } from '#test/support/postgres.ts';
import { skipReason } from '#test/support/skip-reason.ts';

/** Settings for a machine with a few GiB of memory, as in docs/scale.md. */
export const postgresSettings = {
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  max_locks_per_transaction: '256',
} as const;

export function startBenchPostgres(): Promise<TestPostgres> {
  const missing = skipReason(missingPostgres());
  if (missing !== undefined) throw new Error(missing);
  return startPostgres({ durable: true, settings: postgresSettings });
}
