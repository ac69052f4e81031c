/** Rows of `meta`: texts about the database as a whole, by name. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { conflict } from '#core/errors.ts';
import type { ClockMemory, ClockState } from '#core/time/trusted-clock.ts';
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

/** Marks a database whose schema began with that of the first release. */
export const baselineMark = 'baseline';

/** For a database without the mark: it has migrations of other names, and this version cannot tell what it holds. */
export const fromBeforeFirstRelease = (version: number) =>
  conflict(
    `the database is from before the first release (schema version ${version}), and this version of Belfry does not read it: run belfry export with the version that made it, and belfry apply on a new database`,
  );

/** Marks the target of an unfinished copy. Its value names the source, as it was when the copy began. */
export const transferMark = 'transfer';

/** @throws AppError `conflict` when a copy into this database was interrupted. */
export async function assertComplete(db: Database): Promise<void> {
  if ((await readMeta(db, transferMark)) === undefined) return;
  throw conflict(
    'the copy into this database was interrupted: run the same belfry migrate again, which goes on where it was',
  );
}

const fingerprintOf = (key: string) => createHash('sha256').update(`belfry key ${key}`).digest('base64url');

/**
 * The first node stores a fingerprint of its key in the database.
 * @throws AppError `conflict` on a node with another key, because each node must verify and decrypt what another one signs and encrypts.
 */
export async function assertSharedKey(db: Database, key: string): Promise<void> {
  const fingerprint = fingerprintOf(key);
  await db.write([
    sql`insert into meta (name, value) values ('key', ${fingerprint}) on conflict (name) do nothing`,
  ]);
  if ((await readMeta(db, 'key')) !== fingerprint) throw otherKey();
}

/** Stores the fingerprint of the key of the only server. Returns whether there was another one before. */
export async function replaceKey(db: Database, key: string): Promise<boolean> {
  const before = await readMeta(db, 'key');
  const fingerprint = fingerprintOf(key);
  if (before !== fingerprint) await writeMeta(db, 'key', fingerprint);
  return before !== undefined && before !== fingerprint;
}

/** Whether a server has used the database with no other key. */
export async function isKeyOf(db: Database, key: string): Promise<boolean> {
  const before = await readMeta(db, 'key');
  return before === undefined || before === fingerprintOf(key);
}

/**
 * Before a key is made: a database that was used with one needs that key.
 * @throws AppError `conflict`, with the way out, when the database has been used with a key.
 */
export async function assertFirstKey(db: Database, path: string): Promise<void> {
  if ((await readMeta(db, 'key')) !== undefined)
    throw conflict(
      `the key file ${path} is missing, and this database was used with one: put it back from its copy, or name it in BELFRY_KEY_FILE. ${ifKeyIsLost(path)}`,
    );
}

/** @throws AppError `conflict` when nodes have a key, before another one is made. */
export async function assertFirstNode(db: Database): Promise<void> {
  if ((await readMeta(db, 'key')) !== undefined) throw otherKey();
}

/** A new key is made by a person, and never by itself. */
const ifKeyIsLost = (path: string) =>
  `If it is lost, make a new one as the server's user: (umask 077; openssl rand -hex 32 > ${path}). That signs everybody out, and second factors, devices and secrets of channels must be set up again`;

const otherKey = () =>
  conflict(
    "this node has another key than the nodes before it: copy their key file here and name it in BELFRY_KEY_FILE. If that key is lost, run DELETE FROM meta WHERE name = 'key': it signs everybody out and takes second factors",
  );

/** A change of less is no step of the clock, but its correction. */
const toleranceMs = 1_000;

/** Notices that the system clock was set. */
export class ClockSteps {
  /** How much the system clock is ahead of the monotonic one. */
  #aheadMs: number | undefined;

  /** Runs `work` if the clock was set since it last ran; the first time, too. An error leaves it for the next call. */
  async after(now: number, work: () => Promise<void>): Promise<void> {
    const aheadMs = now - performance.now();
    if (this.#aheadMs === undefined || Math.abs(aheadMs - this.#aheadMs) > toleranceMs) await work();
    this.#aheadMs = aheadMs;
  }
}
