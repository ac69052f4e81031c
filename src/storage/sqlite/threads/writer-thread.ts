/**
 * The one thread that writes. All jobs that came while the last were being committed share one transaction and one fsync.
 * Between commits it maintains the log, a slice at a time.
 */
import { workerData } from 'node:worker_threads';
import { type AppError, unavailable } from '#core/errors.ts';
import {
  closeQuietly,
  type Db,
  damaged,
  damageReport,
  isBusy,
  isDamage,
  isDiskFailure,
  isFull,
  openWritable,
} from '../file/database-file.ts';
import { type LogSizes, LogWriter, usualSizes } from '../log/log-writer.ts';
import { maintain } from '../log/maintenance.ts';
import { type Job, type JobAnswer, type JobKind, type PackedJobs, perform, unpackJobs } from './jobs.ts';
import { serveWorker, toFailure } from './thread.ts';

interface WriterData extends Partial<LogSizes> {
  readonly path: string;
  /** Whether this process maintains the log: only the server does. */
  readonly maintains: boolean;
}

const { path, maintains, ...given } = workerData as WriterData;
const sizes: LogSizes = { ...usualSizes, ...given };
/** How long a slice of maintenance may take: commits wait for it. It ends with the first step after that. */
const sliceMs = 2;
const step = { rows: 64, pages: 4 };
/** Between two slices. */
const slicePauseMs = 20;
/** After a slice that failed, as when another process holds the database: the next commits must not wait, too. */
const retrySliceMs = 1_000;
/** Pages of the write-ahead log that are moved into the database file as soon as no message waits: SQLite's own default. */
const idleCheckpointPages = 1_000;
/** Batches between two looks at the size of the write-ahead log. Each batch adds about ten pages to it. */
const batchesALook = 8;
const reopenMs = 250;
const closingBusyMs = 250;

let log: LogWriter | undefined = open();
let sliceTimer: NodeJS.Timeout | undefined;
/** Batches since the last look at the size of the write-ahead log. */
let batches = 0;
/** When the next slice is due. */
let sliceDue = performance.now() + slicePauseMs;

/** Approximate rows per transaction. More rows would not save fsync time, and the first job would wait longer. */
const maxBatchRows = 256;

const thread = serveWorker(
  (calls) => commitTogether(calls.map(({ args }) => args as PackedJobs)),
  () => {
    clearTimeout(sliceTimer);
    if (log) emptyWal(log.sql.db);
    close();
  },
  { maxWeight: maxBatchRows, afterwards },
);
scheduleSlice();

function open(): LogWriter {
  return new LogWriter(openWritable(path), sizes);
}

function close(): void {
  closeQuietly(log?.sql.db);
  log = undefined;
}

/** Moves everything into the database file, so that a copy of that file alone is complete. */
function emptyWal(db: Db): void {
  try {
    // Another process that reads must not delay the end.
    db.pragma(`busy_timeout = ${closingBusyMs}`);
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // The disk fails: the pages in the write-ahead log are durable, and the next start reads them.
  }
}

/** Jobs in several messages, and the answers to each of these. */
function commitTogether(messages: PackedJobs[]): JobAnswer[][] {
  const jobs = messages.map(unpackJobs);
  const answers = commit(jobs.flat());
  let from = 0;
  return jobs.map(({ length }) => {
    from += length;
    return answers.slice(from - length, from);
  });
}

/** All jobs are durable when this returns. A failing job does not fail the others. */
function commit(jobs: readonly Job[]): JobAnswer[] {
  const current = log;
  try {
    if (!current) throw unavailable('the disk failed; trying to reopen the database');
    const answers = current.transaction(() => jobs.map((job) => perform(current, job)));
    scheduleSlice();
    return answers;
  } catch (error) {
    const fail = (why: unknown) => jobs.map(() => ({ failure: toFailure(why) }));
    if (!current) return fail(error);
    if (isDiskFailure(error)) return fail(giveUp(error));
    // Each job alone would wait as long as all of them did.
    if (isBusy(error)) return fail(unavailable('another process holds the database; try again'));
    if (jobs.length > 1) return jobs.flatMap((job) => commit([job]));
    return fail(isDamage(error) ? handleCorruption(error, jobs[0]?.[0]) : error);
  }
}

/** The job is not stored. Reopens the database, because later jobs may succeed on a connection with an empty cache. */
function handleCorruption(error: unknown, kind: JobKind | undefined): AppError {
  thread.notify({ damage: damageReport(error, `writing (${kind})`) });
  close();
  try {
    log = open();
  } catch (failure) {
    return giveUp(failure);
  }
  return unavailable(`not stored: ${damaged}`, error);
}

/** Closes the handle at once and keeps opening a new one until a write goes through. A commit that failed is never retried on it. */
function giveUp(error: unknown): AppError {
  const reason = error instanceof Error ? error.message : String(error);
  close();
  thread.notify({ problem: `the disk refused a write (${reason})`, isFull: isFull(error) });
  setTimeout(reopen, reopenMs);
  return unavailable(`not stored: the disk refused the write (${reason})`, error);
}

function reopen(): void {
  let fresh: LogWriter | undefined;
  try {
    fresh = open();
    const { sql } = fresh;
    // SQLite skips a write that changes nothing, so a counter shows whether the disk takes one.
    fresh.transaction(() => sql.of("UPDATE meta SET value = value + 1 WHERE name = 'reopened'").run());
    log = fresh;
    thread.notify({ problem: undefined });
    scheduleSlice();
  } catch {
    closeQuietly(fresh?.sql.db);
    setTimeout(reopen, reopenMs);
  }
}

function scheduleSlice(): void {
  if (!maintains || !log?.needsMaintenance) return;
  clearTimeout(sliceTimer);
  sliceTimer = setTimeout(maintainASlice, Math.max(0, sliceDue - performance.now()));
}

/** Runs after each batch, when its answers have been sent. */
function afterwards(): void {
  // While messages keep coming, no timer of this thread fires.
  if (maintains && log?.needsMaintenance && performance.now() > sliceDue) maintainASlice();
  batches += 1;
  if (batches === batchesALook) setImmediate(checkpointSome);
}

/** The write-ahead log, in pages. */
interface Wal {
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Moves pages from the write-ahead log into the database file between two commits. Otherwise SQLite does so inside a commit, at 2,000
 * pages, and the senders of that batch wait. Under full load messages always wait, so this never runs, and SQLite does it.
 */
function checkpointSome(): void {
  batches = 0;
  if (!log) return;
  const { sql } = log;
  try {
    const wal = sql.of<[], Wal>('PRAGMA wal_checkpoint(NOOP)').get() as Wal;
    if (wal.log - wal.checkpointed >= idleCheckpointPages) sql.of('PRAGMA wal_checkpoint(PASSIVE)').get();
  } catch {
    // Nothing is lost: the pages stay in the log. SQLite's own checkpoints ignore errors, too.
  }
}

function maintainASlice(): void {
  if (!log) return;
  const current = log;
  const endsAt = performance.now() + sliceMs;
  let pauseMs = slicePauseMs;
  try {
    current.needsMaintenance = current.transaction(() => {
      while (maintain(current, step)) if (performance.now() >= endsAt) return true;
      return false;
    });
  } catch (error) {
    pauseMs = retrySliceMs;
    if (isDiskFailure(error)) giveUp(error);
    else if (isDamage(error)) thread.notify({ maintenance: damageReport(error, 'maintenance of the log') });
    else
      thread.notify({ maintenance: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
  sliceDue = performance.now() + pauseMs;
  scheduleSlice();
}
