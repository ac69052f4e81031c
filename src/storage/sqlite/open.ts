/**
 * Storage on SQLite: one file, one process that serves it. A writer thread has the only writing connection; a reader thread
 * answers short reads, and a search thread, started by the first search, searches and counts (`threads/`). `log/` writes and
 * reads the log in partitions and applies retention, `search/` reads the index of terms of a partition. `file/` opens the file
 * and guards it: the lock, permissions, disk space, damage, backup and restore. Each commit is synced to disk before anybody is
 * answered. A command may run beside a server: it does no background work and changes no schema.
 */
import {
  type CompiledQuery,
  type Dialect,
  DummyDriver,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { FairQueue } from '#core/limits/concurrency.ts';
import { ClockSteps } from '../database/meta.ts';
import { Database, type SqlExecutor } from '../database/sql.ts';
import type { Storage } from '../database/storage.ts';
import {
  assertOurs,
  damaged,
  makePrivateFile,
  openWritable,
  realDatabasePath,
} from './file/database-file.ts';
import { DiskSpace } from './file/disk-space.ts';
import { assertWalIntact } from './file/wal-check.ts';
import { createSqliteHistory, createSqliteStatistics, type SqliteThreads } from './history.ts';
import type { LogSizes } from './log/log-writer.ts';
import { ensurePartition } from './log/partitions.ts';
import { assertSchema, migrate, migrateWithoutServer } from './migrate.ts';
import { pauseUnderLoad } from './threads/process.ts';
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
   * `server` (the default) holds the server lock, brings the schema up to date and maintains the log.
   * `command` may run beside a server: it does no background work, and never changes a server's schema.
   */
  readonly role?: 'server' | 'command';
  /** Notifications that may wait for the disk before more are refused. */
  readonly queueCapacity: number;
  /** Intake is refused below this much free space, so that SQLite itself never meets a full disk. */
  readonly minFreeBytes: number;
  /** Sizes of the log's parts other than the usual ones, for tests. */
  readonly sizes?: Partial<LogSizes>;
  /** Called with each problem of the storage, and with undefined when writes work again. */
  readonly onProblem: (message: string | undefined) => void;
}

/**
 * Opens the database file, after creating and migrating it if necessary.
 *
 * @throws Error when the folder cannot be created, when the file is not a database of Belfry (nothing is written to it then) or is
 * from before the first release or from a newer Belfry, when its schema lacks a part of its version, when its write-ahead log is damaged before acknowledged
 * entries, or, for a command, when a server of another version runs on it.
 */
export function openSqlite(options: SqliteOptions): Storage {
  const path = realDatabasePath(options.path);
  const { role = 'server' } = options;
  const space = new DiskSpace(path, options.minFreeBytes, { keepsReserve: role === 'server' });
  // A start needs some disk space, too.
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
  const clockSteps = new ClockSteps();
  const redate = async (now: number) => {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const { misdated, upTo }: Awaited<ReturnType<typeof threads.reader.misdated>> =
        await threads.reader.misdated(now, after);
      if (misdated.length > 0) await queue.push('sweep', now, [], misdated);
      after = upTo;
    }
  };
  return {
    history: createSqliteHistory(threads),
    statistics: createSqliteStatistics(threads),
    db: new Database(sqliteDialect, executor(threads)),
    // The reader finds the expired rows, because no commit waits for it. Without an index on the times, it scans the live set in parts.
    async sweep(now) {
      await clockSteps.after(now, () => redate(now));
      const { expired, upTo } = await threads.reader.expired(now, sweptUpTo, sweptAtOnce);
      sweptUpTo = upTo ?? 0;
      return queue.push('sweep', now, expired);
    },
    queueDepth: () => queue.depth,
    freeBytes: () => space.freeBytes(),
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

/** A message of a thread that is not an answer. If all fields are absent, writes work again. */
interface WriterNotice {
  readonly problem?: string;
  /** The disk is full. */
  readonly isFull?: boolean;
  readonly maintenance?: string;
  readonly damage?: string;
}

/** Creates the file if there is none. Brings the schema up to date, or checks that it is if a server runs. */
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
 * A reading thread. It starts with the first call, so a server without searches does not use the memory of the search thread. If it
 * ends by an error, the next call starts a new one.
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

/** Many reads may find the same damaged page, so the same message is reported at most once a minute. */
function atMostOnceAMinute(report: (message: string) => void): (message: string) => void {
  const reported = new Set<string>();
  return (message) => {
    if (reported.has(message)) return;
    reported.add(message);
    setTimeout(() => reported.delete(message), repeatMs).unref();
    report(message);
  };
}

/** The dialect of the directory's statements, without a driver: see {@link SqlExecutor}. */
export const sqliteDialect: Dialect = {
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};

function executor({ queue, reader }: SqliteThreads): SqlExecutor {
  return {
    read: <Row>({ sql, parameters }: CompiledQuery<Row>) => reader.sql(sql, parameters) as Promise<Row[]>,
    write: (queries) =>
      queue.push(
        'sql',
        queries.map(({ sql, parameters }) => ({ sql, parameters })),
      ),
  };
}
