import { sql } from 'kysely';
import { AppError } from '#core/errors.ts';
import type { Storage } from './storage.ts';

/** In a database into which another one is being copied: the epoch of that one. */
export const markName = 'transfer';

/** @throws AppError `conflict` when a copy into this database was interrupted. */
export async function assertComplete({
  builder,
  executor,
}: Pick<Storage, 'builder' | 'executor'>): Promise<void> {
  if ((await readMeta({ builder, executor }, markName)) === undefined) return;
  throw new AppError(
    'conflict',
    'the copy into this database was interrupted: run the same belfry migrate again, which goes on where it was',
  );
}

export async function readMeta(
  { builder, executor }: Pick<Storage, 'builder' | 'executor'>,
  name: string,
): Promise<string | undefined> {
  const [row] = await executor.read(
    sql<{ value: string }>`select value from meta where name = ${name}`.compile(builder),
  );
  return row && String(row.value);
}
