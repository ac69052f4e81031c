/** A PostgreSQL of the benchmark's own, which writes to the disk as a real one does, with more memory than the defaults give it. */

import { missingPostgres, startPostgres, type TestPostgres } from '#test/support/postgres.ts';
import { gap } from '#test/torture/gap.ts';

/** What an operator sets on a machine with a few GiB of memory; docs/scale.md names them. */
export const postgresSettings = {
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  max_locks_per_transaction: '256',
} as const;

export function startBenchPostgres(): Promise<TestPostgres> {
  const missing = gap(missingPostgres());
  if (missing !== undefined) throw new Error(missing);
  return startPostgres({ durable: true, settings: postgresSettings });
}
