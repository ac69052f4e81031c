/** Opens SQLite so that a commit is durable, and says so only after reading it back. */
import Database from 'better-sqlite3';
import { applicationId } from './database-file.ts';

export type Db = Database.Database;

const busyTimeoutMs = 5_000;
/** The write-ahead log is cut back to this after a checkpoint, so that a burst does not keep its disk for ever. */
const walKeptBytes = 64 * 1024 * 1024;

/**
 * A connection with WAL and `synchronous=FULL`: when COMMIT returns, the rows have been fsynced.
 * The driver is compiled so that WAL means `synchronous=NORMAL` once the file has been read, which loses acknowledged
 * rows in a power cut; therefore both are set, a first query is run, and both are read back.
 *
 * @throws Error when the database does not hold to it.
 */
export function openWritable(path: string): Db {
  const db = new Database(path, { timeout: busyTimeoutMs });
  try {
    // Before the file is in WAL mode, so that its header says whose it is from the first write on.
    if (db.pragma('page_count', { simple: true }) === 0) db.pragma(`application_id = ${applicationId}`);
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    assertPragma(db, 'journal_mode', 'wal');
    assertPragma(db, 'synchronous', 2);
    db.pragma(`journal_size_limit = ${walKeptBytes}`);
    db.pragma('wal_autocheckpoint = 2000');
    db.pragma('temp_store = MEMORY');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A connection that cannot write to the database; temporary tables are its own, in memory. */
export function openReadOnly(path: string): Db {
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  db.pragma('temp_store = MEMORY');
  return db;
}

/** For a connection that has failed: if it cannot even be closed, it is dropped with its thread. */
export function closeQuietly(db: Db | undefined): void {
  try {
    db?.close();
  } catch {
    // It is unusable anyway.
  }
}

function assertPragma(db: Db, name: string, expected: string | number): void {
  const actual: unknown = db.pragma(name, { simple: true });
  if (actual !== expected) {
    throw new Error(
      `SQLite answers ${name}=${String(actual)} where ${expected} was set: commits would not be durable`,
    );
  }
}
