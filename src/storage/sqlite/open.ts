import type { CompiledQuery } from 'kysely';
import { FairQueue } from '../fair-queue.ts';
import { pauseUnderLoad } from '../low-priority.ts';
import type { SqlExecutor } from '../sql.ts';
import type { Storage } from '../storage.ts';
import { createSqliteBuilder } from './builder.ts';
import { openWritable } from './file/database.ts';
import { assertOurs, makePrivateFile, realDatabasePath } from './file/database-file.ts';
import { damaged } from './file/disk-errors.ts';
import { DiskSpace } from './file/disk-space.ts';
import { assertWalIntact } from './file/wal-check.ts';
import { createSqliteHistory, type SqliteThreads } from './history.ts';
import type { LogSizes } from './log/log-writer.ts';
import { ensurePartition } from './log/partitions.ts';
import { assertSchema, migrate, migrateWithoutServer } from './migrate.ts';
import { createSqliteStatistics } from './statistics.ts';
import type { LogReads, ReaderData } from './threads/reader-thread.ts';
import { remote, WorkerClient } from './threads/thread.ts';
import { WriteQueue } from './threads/write-queue.ts';

const closeMs = 10_000;
const repeatMs = 60_000;
/** Expired notifications taken out of the live set in one transaction: some milliseconds. */
const sweptAtOnce = 1_000;

export interface SqliteOptions {
  readonly path: string;
  /**
   * `server` (when nothing is said) holds the server lock, brings the schema up to date and maintains the log.
   * `command` is a guest beside whatever server runs: it does no background work, and never changes a server's schema.
   */
  readonly role?: 'server' | 'command';
  /** Notifications that may wait for the disk before more are refused. */
  readonly queueCapacity: number;
  /** Intake is refused below this much free space, so that SQLite itself never meets a full disk. */
  readonly minFreeBytes: number;
  /** Sizes of the log's parts other than the usual ones, for tests. */
  readonly sizes?: Partial<LogSizes>;
  /** Hears of what goes wrong below, and of its end. */
  readonly onProblem: (message: string | undefined) => void;
}

/**
 * Opens (and makes, and migrates) the database file.
 *
 * @throws Error when the folder cannot be made, the file is no database of Belfry (nothing is written to it then), it was
 * made by a newer Belfry, its schema is not what its version says, its write-ahead log is damaged before what was
 * acknowledged, or, for a command, a server of another version runs on it.
 */
export function openSqlite(options: SqliteOptions): Storage {
  const path = realDatabasePath(options.path);
  const { role = 'server' } = options;
  const space = new DiskSpace(path, options.minFreeBytes, { keepsReserve: role === 'server' });
  // A start needs some room, too.
  space.makeRoom();
  prepare(path, role);
  let queue: WriteQueue;
  const reportOnce = atMostOnceAMinute(options.onProblem);
  const onNotice = (notice: unknown) => {
    const { problem, maintenance, damage, isFull } = notice as WriterNotice;
    if (maintenance !== undefined) return reportOnce(`maintenance of the log: ${maintenance}`);
    if (damage !== undefined) {
      queue.report('damage', damaged);
      return reportOnce(damage);
    }
    // The writer tries again soon, and then has room.
    if (isFull) space.release();
    queue.report('writer', problem);
    options.onProblem(problem);
  };
  const failure = Promise.withResolvers<Error>();
  const ended = (error: Error) => {
    queue.report('writer', 'the writer thread ended');
    failure.resolve(error);
  };
  const writerData = { path, maintains: role === 'server', ...options.sizes };
  const writer = new WorkerClient(new URL('./threads/writer-thread.ts', import.meta.url), writerData, {
    onNotice,
    onEnd: ended,
  });
  queue = new WriteQueue(writer, options.queueCapacity);
  const readers = {
    short: restartingReader({ path }, onNotice, options.onProblem),
    search: restartingReader({ path, lowPriority: true }, onNotice, options.onProblem),
  };
  const searches = new FairQueue(1, role === 'server' ? pauseUnderLoad() : undefined);
  const threads = {
    queue,
    reader: remote<LogReads>(readers.short.get),
    searcher: remote<LogReads>(readers.search.get),
    searches,
  };
  space.watch((problem) => {
    queue.report('free space', problem);
    options.onProblem(problem);
  });
  let sweptUpTo = 0;
  return {
    history: createSqliteHistory(threads),
    statistics: createSqliteStatistics(threads),
    builder: createSqliteBuilder(),
    executor: executor(threads),
    // The reader searches, because no commit waits for it. There is no index on the times, so it scans the live set in parts.
    async sweep(now) {
      const { expired, upTo } = await threads.reader.expired(now, sweptUpTo, sweptAtOnce);
      sweptUpTo = upTo ?? 0;
      return queue.push('sweep', now, expired);
    },
    queueDepth: () => queue.depth,
    problem: () => queue.problem,
    failed: failure.promise,
    async close(withinMs = closeMs) {
      space.stop();
      searches.close();
      const began = performance.now();
      // The writer is last: only the last connection can empty the write-ahead log.
      const [, ...ended] = await Promise.all([
        queue.drained(withinMs / 2),
        readers.short.close(withinMs / 2),
        readers.search.close(withinMs / 2),
      ]);
      const leftMs = withinMs - (performance.now() - began);
      return (await writer.close(leftMs)) && ended.every(Boolean);
    },
  };
}

/** What the threads say unasked; without any of it, the disk takes writes again. */
interface WriterNotice {
  readonly problem?: string;
  /** The trouble is that there is no room. */
  readonly isFull?: boolean;
  readonly maintenance?: string;
  readonly damage?: string;
}

/** Makes the file when there is none, and brings the schema up to date, or makes sure that it is. */
export function prepare(path: string, role: 'server' | 'command'): void {
  makePrivateFile(path);
  assertOurs(path);
  assertWalIntact(path);
  const db = openWritable(path);
  try {
    if (role === 'server') migrate(db);
    else migrateWithoutServer(db, path);
    assertSchema(db, path);
    ensurePartition(db);
  } finally {
    db.close();
  }
}

/**
 * A reading thread from its first call on (until the first search, the memory of searching is saved), and a new one when
 * it has died.
 */
function restartingReader(
  data: ReaderData,
  onNotice: (notice: unknown) => void,
  onProblem: SqliteOptions['onProblem'],
) {
  let thread: WorkerClient | undefined;
  const start = () =>
    new WorkerClient(new URL('./threads/reader-thread.ts', import.meta.url), data, {
      onNotice,
      onEnd: (error) => {
        if (thread) onProblem(`a reading thread ended and is started again: ${error.stack ?? error.message}`);
        thread = undefined;
      },
    });
  return {
    get: () => {
      thread ??= start();
      return thread;
    },
    close: async (withinMs: number) => {
      const open = thread;
      thread = undefined;
      return open === undefined || open.close(withinMs);
    },
  };
}

/** A page that is damaged is met again and again; one line says it. */
function atMostOnceAMinute(report: (message: string) => void): (message: string) => void {
  const reported = new Set<string>();
  return (message) => {
    if (reported.has(message)) return;
    reported.add(message);
    setTimeout(() => reported.delete(message), repeatMs).unref();
    report(message);
  };
}

function executor({ queue, reader }: SqliteThreads): SqlExecutor {
  return {
    read: <T>({ sql, parameters }: CompiledQuery<T>) => reader.sql(sql, parameters) as Promise<T[]>,
    write: (queries) =>
      queue.push(
        'sql',
        queries.map(({ sql, parameters }) => ({ sql, parameters })),
      ),
  };
}
