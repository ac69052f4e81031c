/**
 * The one thread that writes. All jobs that came while the last were being committed share one transaction and one fsync.
 * In between, search indexes catch up in short slices.
 */
import { workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { AppError } from '../../core/errors.ts';
import { type PackedAnswers, type PackedJobs, packAnswers, unpackJobs } from './batch.ts';
import { type Db, openWritable } from './database.ts';
import { damaged, damageReport, isDamage, isDiskFailure, isFull } from './disk-errors.ts';
import { indexSlice } from './indexer.ts';
import type { Job, JobAnswer, JobResults, PruneResult } from './jobs.ts';
import { LogPruner } from './log-pruner.ts';
import { LogWriter } from './log-writer.ts';
import { RowPace } from './row-pace.ts';
import { serveThread } from './thread.ts';

const { path, indexes } = workerData as { readonly path: string; readonly indexes: boolean };
/**
 * How long a slice of indexing may take: commits wait for it. In quiet one follows the other after a pause in which nothing
 * came; under constant load there is one from time to time.
 */
const quiet = { pauseMs: 5, sliceMs: 6 };
const loaded = { pauseMs: 20, sliceMs: 2 };
const slicePace = new RowPace({ least: 64, most: 500 }, 0.05);
/**
 * The entries of one word are merged at once, however many there are. After a merge that took long for its pages there is
 * none for so many times as long, though not beyond some hundred slices: as many segments would be left to merge.
 */
const longMerge = { ms: 10, msAPage: 0.25, restFactor: 10, mostRestMs: 10_000, mostSlices: 100 };
/** How long dropping old notifications may keep a commit. */
const pruneMs = 8;
const prunePace = new RowPace({ least: 32, most: 500 }, 0.1);
/** After a slice that failed, as when another process holds the database: commits shall not wait for the next as well. */
const retrySliceMs = 1_000;
const reopenMs = 250;
const closingBusyMs = 250;

interface Session {
  readonly db: Db;
  readonly log: LogWriter;
  readonly pruner: LogPruner;
  readonly statements: Map<string, Database.Statement<unknown[], Record<string, unknown>>>;
}

let session: Session | undefined = open();
/** There may be notifications to index, and texts to merge. */
let behind = true;
let merging = true;
let indexTimer: NodeJS.Timeout | undefined;
/** When the next slice is due under load. */
let sliceDue = performance.now() + loaded.pauseMs;
/** From when on merging may go on. */
let mergeDue = 0;
let slicesSinceMerge = 0;
let owedPages = 0;

/** Rows in one transaction, about: more of them gain nothing on the fsync and make the first job wait for the last. */
const enoughRows = 256;

const thread = serveThread<PackedJobs>(
  {},
  () => {
    clearTimeout(indexTimer);
    if (session) emptyWal(session.db);
    session?.db.close();
    session = undefined;
  },
  { op: 'commit', weigh: ({ weight }) => weight, enough: enoughRows, handle: commitTogether },
);
scheduleIndexing();

function open(): Session {
  const db = openWritable(path);
  const log = new LogWriter(db);
  return { db, log, pruner: new LogPruner(db, log), statements: new Map() };
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
  if (indexes && behind && performance.now() > sliceDue) index(loaded.sliceMs);
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
  clearTimeout(indexTimer);
  const current = session;
  try {
    return transaction(current, () => jobs.map((job) => ({ value: perform(current, job) })));
  } catch (error) {
    if (isDiskFailure(error)) throw giveUp(error);
    // Another process holds the write lock: each job alone would only wait as long again.
    if (isBusy(error)) return jobs.map(() => refusal(error));
    return jobs.length === 1 && !isDamage(error) ? [refusal(error)] : jobs.map(alone);
  } finally {
    behind = true;
    scheduleIndexing();
  }
}

function alone(job: Job): JobAnswer {
  const current = session;
  if (!current) return refusal(new AppError('unavailable', 'the disk failed'));
  try {
    return { value: transaction(current, () => perform(current, job)) };
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

function transaction<T>({ db, log, pruner }: Session, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const value = work();
    log.beforeCommit();
    db.exec('COMMIT');
    return value;
  } catch (error) {
    log.afterRollback();
    pruner.afterRollback();
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function perform(current: Session, job: Job): JobResults[Job['kind']] {
  switch (job.kind) {
    case 'append':
      return current.log.append(job);
    case 'clear':
      return current.log.clear(job);
    case 'receipts':
      return current.log.receipts(job);
    case 'prune':
      return prune(current, job);
    case 'dropRoutes':
      return current.log.dropRoutes(job);
    case 'sweep':
      return current.pruner.sweep(job);
    case 'sql':
      return job.statements.map(({ sql, parameters }) => run(current, sql, parameters));
  }
}

/** So many at once that those who wait for the same commit hardly notice. */
function prune({ pruner }: Session, job: Extract<Job, { kind: 'prune' }>): PruneResult {
  const began = performance.now();
  const result = pruner.prune(job, prunePace.rowsIn(pruneMs));
  prunePace.took(result.dropped, performance.now() - began);
  return result;
}

function run({ db, statements }: Session, sql: string, parameters: readonly unknown[]) {
  let statement = statements.get(sql);
  if (!statement) {
    statement = db.prepare<unknown[], Record<string, unknown>>(sql);
    statements.set(sql, statement);
  }
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
  thread.notify({ trouble: `the disk refused a write (${reason})`, isFull: isFull(error) });
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
    transaction(fresh, () => db.prepare("UPDATE meta SET value = value + 1 WHERE name = 'reopened'").run());
    session = fresh;
    thread.notify({ trouble: undefined });
    scheduleIndexing();
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

function scheduleIndexing(): void {
  clearTimeout(indexTimer);
  if (!indexes || !session || !(behind || merging)) return;
  const dueIn = (behind ? sliceDue : Math.max(sliceDue, mergeDue)) - performance.now();
  if (dueIn > loaded.pauseMs) indexTimer = setTimeout(index, dueIn, quiet.sliceMs);
  else if (dueIn < quiet.pauseMs) indexTimer = setTimeout(index, Math.max(0, dueIn), loaded.sliceMs);
  else indexTimer = setTimeout(index, quiet.pauseMs, quiet.sliceMs);
}

function index(sliceMs: number): void {
  if (!session) return;
  let pauseMs = loaded.pauseMs;
  try {
    const merges = performance.now() >= mergeDue || slicesSinceMerge >= longMerge.mostSlices;
    const slice = indexSlice(session.db, slicePace.rowsIn(sliceMs), { merges, owedPages });
    ({ behind, merging, owedPages } = slice);
    slicesSinceMerge = merges ? 0 : slicesSinceMerge + 1;
    slicePace.took(slice.indexed, slice.rowsMs);
    const { pages, ms } = slice.merged;
    if (ms > longMerge.ms + pages * longMerge.msAPage)
      mergeDue = performance.now() + Math.min(longMerge.mostRestMs, longMerge.restFactor * ms);
  } catch (error) {
    pauseMs = retrySliceMs;
    if (isDiskFailure(error)) giveUp(error);
    else if (isDamage(error)) thread.notify({ indexing: damageReport(error, 'the search index') });
    else thread.notify({ indexing: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
  sliceDue = performance.now() + pauseMs;
  scheduleIndexing();
}
