import Sqlite from 'better-sqlite3';
import type { History, HistoryRecord } from '#core/log/log.ts';
import type { ReceiptStore } from '#core/log/receipts.ts';
import { createSqliteHistory, type SqliteThreads } from '#storage/sqlite/history.ts';
import { dueSteps } from '#storage/sqlite/log/escalations.ts';
import { findRetry } from '#storage/sqlite/log/log-lookup.ts';
import { findLive, readAfter } from '#storage/sqlite/log/log-reader.ts';
import { LogWriter } from '#storage/sqlite/log/log-writer.ts';
import { ensurePartition } from '#storage/sqlite/log/partitions.ts';
import { connectLog, type LogConnection } from '#storage/sqlite/log/rows.ts';
import { migrate } from '#storage/sqlite/migrate.ts';
import { findRecord } from '#storage/sqlite/search/search.ts';
import { type Job, perform } from '#storage/sqlite/threads/jobs.ts';

/** The log of tenant 1 in memory and in this thread, for unit tests. `log`: all of its notifications, as they are now. */
export function openMemoryHistory(): { readonly history: History & ReceiptStore; log(): HistoryRecord[] } {
  const file = new Sqlite(':memory:');
  migrate(file);
  ensurePartition(file);
  const writer = new LogWriter(file);
  const connection = connectLog(writer.sql);
  const remote =
    <G extends unknown[], T>(read: (log: LogConnection, ...given: G) => T) =>
    async (...given: G) =>
      read(connection, ...given);
  const threads = {
    queue: { push: async (...job: Job) => writer.transaction(() => perform(writer, job)) },
    reader: {
      find: remote(findRecord),
      findLive: remote(findLive),
      dueSteps: remote(dueSteps),
      findRetry: remote(findRetry),
    },
  } as unknown as SqliteThreads;
  return {
    history: createSqliteHistory(threads),
    log: () =>
      readAfter(connection, 1, 0, 1_000).entries.flatMap(({ kind, id }) =>
        kind === 'notification' ? (findRecord(connection, 1, id) ?? []) : [],
      ),
  };
}
