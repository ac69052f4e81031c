import { existsSync } from 'node:fs';
import type { CompiledQuery } from 'kysely';
import { AppError, notFound } from '#core/errors.ts';
import type { Entry, TenantId } from '#core/ports.ts';
import type { ReceiptRow } from '#core/receipts.ts';
import { acknowledgedReason } from '../history-rows.ts';
import {
  isLasting,
  type TransferDatabase,
  type TransferPage,
  type TransferReceipt,
} from '../transfer-database.ts';
import { createSqliteBuilder } from './builder.ts';
import { type Db, openWritable } from './file/database.ts';
import { realDatabasePath } from './file/database-file.ts';
import { tryServerLock } from './file/lock.ts';
import { toDraftRow } from './history.ts';
import { insertAcknowledgement } from './log/acknowledgements.ts';
import { findById } from './log/log-lookup.ts';
import { bounds, readAfter } from './log/log-reader.ts';
import { LogWriter } from './log/log-writer.ts';
import { readPartitions, type Statements, tablesOf } from './log/partitions.ts';
import { RowReader, toBlob, uuidToText } from './log/rows.ts';
import { prepare } from './open.ts';
import { runSql } from './threads/jobs.ts';

/**
 * Works in this thread, while it holds the server's lock.
 * @throws AppError `not-found` for a source that is not there, `conflict` while a server runs on the database.
 */
export async function openSqliteTransfer(
  configuredPath: string,
  side: 'source' | 'target',
): Promise<TransferDatabase> {
  const path = realDatabasePath(configuredPath);
  if (side === 'source' && !existsSync(path)) throw notFound(`database ${path}`);
  const lock = tryServerLock(path);
  if (!lock) throw new AppError('conflict', `a Belfry server runs on ${path}: stop it first`);
  let db: Db;
  try {
    prepare(path, 'server');
    db = openWritable(path);
  } catch (error) {
    lock.release();
    throw error;
  }
  const builder = createSqliteBuilder();
  const writer = new LogWriter(db);
  const log = { sql: writer.sql, reader: new RowReader(writer.sql) };
  return {
    builder,
    executor: {
      read: async <T>({ sql, parameters }: CompiledQuery<T>) =>
        db.prepare<unknown[], unknown>(sql).all(...parameters) as T[],
      write: async (queries) => writer.transaction(() => runSql(writer, queries)),
    },
    log: {
      bounds: async (tenant) => bounds(log, tenant),
      readAfter: async (tenant, position, limit) => readAfter(log, tenant, position, limit),
    },
    receiptsOf: async (tenant, entries) => receiptsOf(writer.sql, tenant, entries),
    prepareImport: (tenant, page, now) => async () => importPage(writer, tenant, page, now),
    afterTenants: async () => undefined,

    storedId: { toText: (stored) => uuidToText(stored as Buffer), fromText: toBlob },

    async close() {
      // A copy of the file alone is then complete.
      db.pragma('wal_checkpoint(TRUNCATE)');
      db.close();
      lock.release();
    },
  };
}

function receiptsOf(statements: Statements, tenant: TenantId, entries: readonly Entry[]): TransferReceipt[] {
  const ids = new Map(entries.map(({ position, id }) => [position, id]));
  const [first, last] = [entries[0]?.position ?? 0, entries.at(-1)?.position ?? -1];
  const oldestFirst = readPartitions(statements).reverse();
  return oldestFirst.flatMap((partition) => {
    const { log, receipts } = tablesOf(partition);
    return statements
      .of<[number, number, number], ReceiptRow & { readonly position: number }>(
        `SELECT n.position, r.panel_id AS panelId, r.shown_at AS shownAt, r.expired_at AS expiredAt, r.cleared_at AS clearedAt
         FROM ${log} n CROSS JOIN ${receipts} r ON r.row = n.row WHERE n.tenant = ? AND n.position BETWEEN ? AND ?
         ORDER BY n.position, r.panel_id`,
      )
      .all(tenant, first, last)
      .map(({ position, ...receipt }) => ({ id: ids.get(position) ?? '', ...receipt }));
  });
}

function importPage(
  writer: LogWriter,
  tenant: TenantId,
  { entries, receipts }: TransferPage,
  now: number,
): void {
  const { sql: statements } = writer;
  writer.transaction(() => {
    for (const entry of entries) {
      const position = importEntry(writer, tenant, entry, now);
      if (position !== entry.position)
        throw new Error(`the entry at ${entry.position} of tenant ${tenant} came to position ${position}`);
    }
    for (const { id, panelId, shownAt, expiredAt, clearedAt } of receipts) {
      const found = findById(statements, tenant, id);
      if (!found) throw new Error(`the notification ${id} has receipts and is not there`);
      statements
        .of(
          `INSERT INTO ${tablesOf(found.partition).receipts} (row, panel_id, shown_at, expired_at, cleared_at)
           VALUES (?, ?, ?, ?, ?)`,
        )
        .run(found.row, panelId, shownAt, expiredAt, clearedAt);
    }
  });
}

/** Answers the position at which it is stored. */
function importEntry(writer: LogWriter, tenant: TenantId, entry: Entry, now: number): number {
  const route = JSON.stringify(entry.route);
  if (entry.kind === 'notification') {
    const row = toDraftRow(entry, route);
    return writer.insert(tenant, { ...row, shown: row.shown && isLasting(entry, now) }).position;
  }
  const { id } = entry;
  const found = findById(writer.sql, tenant, id);
  if (found && entry.kind === 'clear') return writer.takeOff(tenant, found, id, entry).position;
  if (found && entry.kind === 'acknowledgement')
    return insertAcknowledgement(writer, tenant, found, entry).position;
  const lost = { route: writer.routeNumber(tenant, route), position: 0 };
  const change = entry.kind === 'acknowledgement' ? { ...entry, reason: acknowledgedReason } : entry;
  return writer.insertChange(tenant, lost, id, change);
}
