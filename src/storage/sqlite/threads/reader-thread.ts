/** A worker thread with a read-only connection. The server starts two: one for short reads, one for searches. */
import { platform } from 'node:os';
import { workerData } from 'node:worker_threads';
import { unavailable } from '#core/errors.ts';
import {
  closeQuietly,
  damaged,
  damageReport,
  isDamage,
  isDiskFailure,
  openReadOnly,
} from '../file/database-file.ts';
import { dueSteps } from '../log/escalations.ts';
import { findRetry } from '../log/log-lookup.ts';
import {
  alarms,
  bounds,
  dueReturns,
  entriesOf,
  expired,
  findLive,
  firstShown,
  heads,
  live,
  misdated,
  oldestRevision,
  readAfter,
  readLive,
  receiptsOf,
  size,
  stayingBeyond,
  titles,
} from '../log/log-reader.ts';
import { Statements } from '../log/partitions.ts';
import { retentionStep } from '../log/retention.ts';
import { connectLog, type LogConnection } from '../log/rows.ts';
import { causeOf, isSuppressionDue, suppressingRules, suppression } from '../log/suppress.ts';
import { findRecord, recordsAt, searchPage } from '../search/search.ts';
import { busiestHosts, countStep, fieldValues } from '../search/statistics.ts';
import { lowerPriority } from './process.ts';
import { type Call, serveWorker } from './thread.ts';

/** What the thread is started with. */
export interface ReaderData {
  readonly path: string;
  /** Runs with a lower priority, so that notifications and panels go first when there are too few cores. */
  readonly lowPriority?: boolean;
}

const { path, lowPriority } = workerData as ReaderData;
// Only Linux has a priority for each thread; elsewhere the call would change the whole process.
if (lowPriority && platform() === 'linux') lowerPriority();

/** What a reading thread does for the main thread (see `Remote` in thread.ts). */
const logReads = {
  ...{ bounds, heads, size, readAfter, live, readLive, expired, receiptsOf, firstShown, oldestRevision },
  ...{ stayingBeyond, findLive, misdated, alarms, dueReturns, dueSteps, entriesOf, recordsAt },
  ...{ isSuppressionDue, suppression, suppressingRules, causeOf },
  ...{ retentionStep, findRetry, find: findRecord, titles, search: searchPage, count: countStep },
  ...{ busiestHosts, values: fieldValues },

  /** A statement of the directory. */
  sql: ({ sql }: LogConnection, text: string, parameters: readonly unknown[]) =>
    sql.db.prepare<unknown[], unknown>(text).all(...parameters),
};
export type LogReads = typeof logReads;

interface Read extends Call {
  readonly op: keyof LogReads;
  readonly args: readonly unknown[];
}

let connection: LogConnection | undefined;
const reportedSqlChars = 200;

function open(): LogConnection {
  return connectLog(new Statements(openReadOnly(path)));
}

function close(): void {
  closeQuietly(connection?.sql.db);
  connection = undefined;
}

/**
 * Reads on one snapshot of the database. After a failed read the connection is closed, and the next read opens a new one,
 * because the disk may have been away for a while.
 * @throws AppError `unavailable` when the file is damaged or the disk fails.
 */
async function read({ op, args }: Read): Promise<unknown> {
  try {
    connection ??= open();
    const { sql } = connection;
    sql.of('BEGIN').run();
    try {
      return await (logReads[op] as (...given: unknown[]) => unknown)(connection, ...args);
    } finally {
      if (sql.db.inTransaction) sql.of('COMMIT').run();
      // An error has ended it, and undone what it put into temporary tables.
      else close();
    }
  } catch (error) {
    if (isDamage(error)) {
      close();
      const what = op === 'sql' ? String(args[0]).slice(0, reportedSqlChars) : 'reading';
      thread.notify({ damage: damageReport(error, what) });
      throw unavailable(damaged, error);
    }
    if (!isDiskFailure(error)) throw error;
    close();
    throw unavailable(`the disk refused a read (${(error as Error).message})`, error);
  }
}

const thread = serveWorker(async (calls) => [await read(calls[0] as Read)], close);
