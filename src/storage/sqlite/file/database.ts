/** Opens SQLite so that a commit is durable, and checks the settings that ensure it. */
import Database from 'better-sqlite3';
import { applicationId } from './database-file.ts';

export type Db = Database.Database;

const busyTimeoutMs = 5_000;
/** A checkpoint truncates the write-ahead log to this size, so that it does not stay large after a burst. */
const walKeptBytes = 64 * 1024 * 1024;

/**
 * A connection with WAL and `synchronous=FULL`: when COMMIT returns, the rows have been fsynced.
 * The driver is compiled so that it sets `synchronous=NORMAL` when it first reads a file in WAL mode. Then a power cut loses
 * acknowledged rows. So both are set, a first query is run, and both are read back.
 *
 * @throws Error when the database has other settings afterwards.
 */
export function openWritable(path: string): Db {
  const db = new Database(path, { timeout: busyTimeoutMs });
  try {
    // Set before WAL mode, so that the header has the application id from the first write on.
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

/** Closes a connection that has failed. If this fails too, the connection ends with its thread. */
export function closeQuietly(db: Db | undefined): void {
  try {
    db?.close();
  } catch {
    // The connection is unusable already.
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
