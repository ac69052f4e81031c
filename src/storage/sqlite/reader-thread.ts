/** A worker thread with a read-only connection. The server starts two: one for short reads, one for searches. */
import { platform } from 'node:os';
import { workerData } from 'node:worker_threads';
import { unavailable } from '#core/errors.ts';
import { lowerPriority } from '../low-priority.ts';
import { type Db, openReadOnly } from './database.ts';
import { damaged, damageReport, isDamage, isDiskFailure } from './disk-errors.ts';
import { LogReader } from './log-reader.ts';
import { Statements } from './partitions.ts';
import { serveWorker } from './thread.ts';

/** What the thread is started with. */
export interface ReaderData {
  readonly path: string;
  /** Runs with a lower priority, so that notifications and panels go first when there are too few cores. */
  readonly lowPriority?: boolean;
}

const { path, lowPriority } = workerData as ReaderData;
// Only Linux has a priority for each thread; elsewhere the call would change the whole process.
if (lowPriority && platform() === 'linux') lowerPriority();

interface Session {
  readonly db: Db;
  readonly log: LogReader;
}

let session: Session | undefined;
const reportedSqlChars = 200;

function open(): Session {
  const db = openReadOnly(path);
  return { db, log: new LogReader(new Statements(db)) };
}

/**
 * Reads on the open connection. After a failed read the connection is closed, and the next read opens a new one, because the
 * disk may have been away for a while.
 * @throws AppError `unavailable` when the file is damaged or the disk fails.
 */
async function read<T>(work: (session: Session) => T, what = 'reading'): Promise<Awaited<T>> {
  try {
    session ??= open();
    return await work(session);
  } catch (error) {
    if (isDamage(error)) {
      closeSession();
      thread.notify({ damage: damageReport(error, what) });
      throw unavailable(damaged, error);
    }
    if (!isDiskFailure(error)) throw error;
    closeSession();
    throw unavailable(`the disk refused a read (${(error as Error).message})`, error);
  }
}

function closeSession(): void {
  const broken = session;
  session = undefined;
  try {
    broken?.db.close();
  } catch {
    // The connection is unusable anyway.
  }
}

/** A statement of the directory, or a method of the log's reader on one snapshot of the database. */
const thread = serveWorker((op, args) => {
  if (op === 'sql') {
    const { sql, parameters } = args as { readonly sql: string; readonly parameters: readonly unknown[] };
    return read(({ db }) => db.prepare(sql).all(...parameters), sql.slice(0, reportedSqlChars));
  }
  return read(async ({ db, log }) => {
    const methods = log as unknown as Readonly<Record<string, (...of: unknown[]) => unknown>>;
    db.exec('BEGIN');
    try {
      return await methods[op]?.(...(args as unknown[]));
    } finally {
      // Some errors have ended it.
      if (db.inTransaction) db.exec('COMMIT');
    }
  });
}, closeSession);
