/**
 * The one thread that writes. All jobs that came while the last were being committed share one transaction and one fsync.
 * Between commits it maintains the log, a slice at a time.
 */
import { workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { AppError } from '#core/errors.ts';
import { acknowledge, appendRepeat } from './acknowledgements.ts';
import { type PackedAnswers, type PackedJobs, packAnswers, unpackJobs } from './batch.ts';
import { type Db, openWritable } from './database.ts';
import { damaged, damageReport, isDamage, isDiskFailure, isFull } from './disk-errors.ts';
import type { Job, JobAnswer, JobResults } from './jobs.ts';
import { type LogSizes, LogWriter, usualSizes } from './log-writer.ts';
import { Maintenance } from './maintenance.ts';
import { retain, sweep } from './retention.ts';
import { serveWorker } from './thread.ts';

interface WriterData extends Partial<LogSizes> {
  readonly path: string;
  /** Whether this process maintains the log: one does, the server. */
  readonly maintains: boolean;
}

const { path, maintains, ...given } = workerData as WriterData;
const sizes: LogSizes = { ...usualSizes, ...given };
/** How long a slice of maintenance may take: commits wait for it. It ends with the first step after that. */
const sliceMs = 3;
const step = { rows: 64, pages: 8 };
/** Between two slices. */
const slicePauseMs = 20;
/** After a slice that failed, as when another process holds the database: commits shall not wait for the next as well. */
const retrySliceMs = 1_000;
const reopenMs = 250;
const closingBusyMs = 250;

interface Session {
  readonly db: Db;
  readonly log: LogWriter;
  readonly maintenance: Maintenance;
}

let session: Session | undefined = open();
/** There may be something to maintain. */
let maintainable = maintains;
let sliceTimer: NodeJS.Timeout | undefined;
/** When the next slice is due. */
let sliceDue = performance.now() + slicePauseMs;

/** Approximate rows per transaction. More rows would not save fsync time, and the first job would wait longer. */
const maxBatchRows = 256;

const thread = serveWorker<PackedJobs>(
  (op) => {
    throw new Error(`no such call: ${op}`);
  },
  () => {
    clearTimeout(sliceTimer);
    if (session) emptyWal(session.db);
    session?.db.close();
    session = undefined;
  },
  { op: 'commit', weight: ({ weight }) => weight, maxWeight: maxBatchRows, handle: commitTogether },
);
scheduleSlice();

function open(): Session {
  const db = openWritable(path);
  const log = new LogWriter(db, sizes);
  const maintenance = new Maintenance(log.sql, sizes.partitionRows);
  return { db, log, maintenance };
}

/** Moves everything into the database file, so that a copy of that file alone is complete. */
function emptyWal(db: Db): void {
  try {
    // Another process that reads must not hold up the end.
    db.pragma(`busy_timeout = ${closingBusyMs}`);
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // A disk that fails: what is in the log is durable there, and is read from it at the next start.
  }
}

/** Jobs in several messages, and the answers to each of these. */
function commitTogether(messages: PackedJobs[]): PackedAnswers[] {
  // While messages keep coming, no timer of this thread has its turn.
  if (maintainable && performance.now() > sliceDue) maintain();
  const jobs = messages.map(unpackJobs);
  const answers = commit(jobs.flat());
  let from = 0;
  return jobs.map(({ length }) => {
    from += length;
    return packAnswers(answers.slice(from - length, from));
  });
}

/** All durable when this returns. One job that cannot be done takes no other with it. */
function commit(jobs: readonly Job[]): JobAnswer[] {
  if (!session)
    throw new AppError('unavailable', 'the disk failed; trying to reopen the database', {
      retryAfterSeconds: 1,
    });
  const current = session;
  try {
    const answers = current.log.transaction(() => jobs.map((job) => ({ value: perform(current, job) })));
    if (current.log.needsMaintenance) maintainSoon();
    return answers;
  } catch (error) {
    if (isDiskFailure(error)) throw giveUp(error);
    // Another process holds the write lock: each job alone would only wait as long again.
    if (isBusy(error)) return jobs.map(() => refusal(error));
    return jobs.length === 1 && !isDamage(error) ? [refusal(error)] : jobs.map(alone);
  }
}

function alone(job: Job): JobAnswer {
  const current = session;
  if (!current) return refusal(new AppError('unavailable', 'the disk failed'));
  try {
    return { value: current.log.transaction(() => perform(current, job)) };
  } catch (error) {
    if (isDamage(error)) return refusal(metDamage(error, job));
    return refusal(isDiskFailure(error) ? giveUp(error) : error);
  }
}

/** Nothing of this job was stored. What else there is to do may still go through, on a connection that has cached nothing. */
function metDamage(error: unknown, { kind }: Job): AppError {
  thread.notify({ damage: damageReport(error, `writing (${kind})`) });
  closeQuietly(session);
  session = undefined;
  try {
    session = open();
  } catch (failure) {
    return giveUp(failure);
  }
  return new AppError('unavailable', `not stored: ${damaged}`, { cause: error });
}

function perform(current: Session, job: Job): JobResults[Job['kind']] {
  switch (job.kind) {
    case 'append':
      return appendRepeat(current.log, job);
    case 'clear':
      return current.log.clear(job);
    case 'acknowledge':
      return acknowledge(current.log, job);
    case 'receipts':
      return current.log.receipts(job);
    case 'retain':
      current.maintenance.lookForDead();
      maintainSoon();
      return retain(current.log, job);
    case 'sweep':
      return sweep(current.log.sql, job);
    case 'sql':
      return job.statements.map(({ sql, parameters }) => run(current, sql, parameters));
  }
}

function run({ log }: Session, sql: string, parameters: readonly unknown[]) {
  const statement = log.sql.of<unknown[], Record<string, unknown>>(sql);
  if (statement.reader) {
    const rows = statement.all(...parameters);
    return { rows, changes: rows.length };
  }
  return { rows: [], changes: statement.run(...parameters).changes };
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

function refusal(error: unknown): JobAnswer {
  if (error instanceof AppError) return { refused: { code: error.code, message: error.message } };
  if (isBusy(error)) {
    return { refused: { code: 'unavailable', message: 'another process holds the database; try again' } };
  }
  return {
    refused: {
      code: undefined,
      message: error instanceof Error ? `${error.message}\n${error.stack}` : String(error),
    },
  };
}

/** Closes the handle at once and keeps opening a new one until a write goes through. A commit that failed is never retried on it. */
function giveUp(error: unknown): AppError {
  const reason = error instanceof Error ? error.message : String(error);
  closeQuietly(session);
  session = undefined;
  thread.notify({ problem: `the disk refused a write (${reason})`, isFull: isFull(error) });
  setTimeout(reopen, reopenMs);
  return new AppError('unavailable', `not stored: the disk refused the write (${reason})`, {
    retryAfterSeconds: 1,
    cause: error,
  });
}

function reopen(): void {
  let fresh: Session | undefined;
  try {
    fresh = open();
    const { db } = fresh;
    // SQLite skips a write that changes nothing, so the proof that the disk takes one is a counter.
    fresh.log.transaction(() =>
      db.prepare("UPDATE meta SET value = value + 1 WHERE name = 'reopened'").run(),
    );
    session = fresh;
    thread.notify({ problem: undefined });
    scheduleSlice();
  } catch {
    closeQuietly(fresh);
    setTimeout(reopen, reopenMs);
  }
}

function closeQuietly(broken: Session | undefined): void {
  try {
    broken?.db.close();
  } catch {
    // A handle that cannot even be closed is dropped with its thread.
  }
}

function maintainSoon(): void {
  if (session) session.log.needsMaintenance = false;
  maintainable = maintains;
  scheduleSlice();
}

function scheduleSlice(): void {
  if (!session || !maintainable) return;
  clearTimeout(sliceTimer);
  sliceTimer = setTimeout(maintain, Math.max(0, sliceDue - performance.now()));
}

function maintain(): void {
  if (!session) return;
  const { maintenance } = session;
  const endsAt = performance.now() + sliceMs;
  let pauseMs = slicePauseMs;
  try {
    maintainable = session.log.transaction(() => {
      while (maintenance.step(step)) if (performance.now() >= endsAt) return true;
      return false;
    });
  } catch (error) {
    maintenance.lookForDead();
    pauseMs = retrySliceMs;
    if (isDiskFailure(error)) giveUp(error);
    else if (isDamage(error)) thread.notify({ maintenance: damageReport(error, 'maintenance of the log') });
    else
      thread.notify({ maintenance: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
  sliceDue = performance.now() + pauseMs;
  scheduleSlice();
}
