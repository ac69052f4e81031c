/** Rows of `meta`: texts about the database as a whole, by name. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { AppError } from '#core/errors.ts';
import type { ClockMemory, ClockState } from '#core/intake/trusted-clock.ts';
import type { Database } from './sql.ts';

export async function readMeta(db: Database, name: string): Promise<string | undefined> {
  const [row] = await db.read(db.selectFrom('meta').select('value').where('name', '=', name));
  return row && String(row.value);
}

export async function writeMeta(db: Database, name: string, value: string): Promise<void> {
  await db.write([
    sql`insert into meta (name, value) values (${name}, ${value})
      on conflict (name) do update set value = excluded.value`,
  ]);
}

/** The state of the trusted clock. An unreadable row counts as missing. */
export function createClockMemory(db: Database): ClockMemory {
  return {
    async read() {
      const text = await readMeta(db, 'clock');
      if (text === undefined) return undefined;
      const { trusted, wall, jumpedAt } = JSON.parse(text) as Partial<ClockState>;
      return Number.isFinite(trusted) && Number.isFinite(wall) && jumpedAt !== undefined
        ? ({ trusted, wall, jumpedAt } as ClockState)
        : undefined;
    },
    write: (state) => writeMeta(db, 'clock', JSON.stringify(state)),
  };
}

/** Marks the target of an unfinished copy. Its value is the epoch of the source. */
export const transferMark = 'transfer';

/** @throws AppError `conflict` when a copy into this database was interrupted. */
export async function assertComplete(db: Database): Promise<void> {
  if ((await readMeta(db, transferMark)) === undefined) return;
  throw new AppError(
    'conflict',
    'the copy into this database was interrupted: run the same belfry migrate again, which goes on where it was',
  );
}

/**
 * The first node stores a fingerprint of its key in the database.
 * @throws AppError `conflict` on a node with another key, because each node must verify and decrypt what another one signs and encrypts.
 */
export async function assertSharedKey(db: Database, key: string): Promise<void> {
  const fingerprint = createHash('sha256').update(`belfry key ${key}`).digest('base64url');
  await db.write([
    sql`insert into meta (name, value) values ('key', ${fingerprint}) on conflict (name) do nothing`,
  ]);
  if ((await readMeta(db, 'key')) !== fingerprint) throw otherKey();
}

/** @throws AppError `conflict` when nodes have a key, before another one is made. */
export async function assertFirstKey(db: Database): Promise<void> {
  if ((await readMeta(db, 'key')) !== undefined) throw otherKey();
}

const otherKey = () =>
  new AppError(
    'conflict',
    "this node has another key than the nodes before it: copy their key file here and name it in BELFRY_KEY_FILE. If that key is lost, run DELETE FROM meta WHERE name = 'key': it signs everybody out and takes second factors",
  );
