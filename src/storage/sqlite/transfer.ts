import { existsSync } from 'node:fs';
import type { CompiledQuery } from 'kysely';
import { AppError, notFound } from '#core/errors.ts';
import type { ReceiptRow } from '#core/history/receipts.ts';
import type { Entry, TenantId } from '#core/ports.ts';
import { acknowledgedReason } from '../log/history-rows.ts';
import { Database } from '../sql.ts';
import {
  isLasting,
  type TransferDatabase,
  type TransferPage,
  type TransferReceipt,
} from '../transfer/transfer-database.ts';
import { type Db, openWritable } from './file/database.ts';
import { realDatabasePath } from './file/database-file.ts';
import { tryServerLock } from './file/lock.ts';
import { toDraftRow } from './history.ts';
import { insertAcknowledgement } from './log/acknowledgements.ts';
import { entriesFrom, findById } from './log/log-lookup.ts';
import { bounds, readAfter } from './log/log-reader.ts';
import { LogWriter } from './log/log-writer.ts';
import { type Statements, tablesOf } from './log/partitions.ts';
import { connectLog, toBlob, uuidToText } from './log/rows.ts';
import { prepare, sqliteDialect } from './open.ts';
import { runSql } from './threads/jobs.ts';

/**
 * Opens a database for a transfer. It works in the calling thread and holds the server's lock.
 * @throws AppError `not-found` for a missing source, `conflict` while a server runs on the database.
 */
export async function openSqliteTransfer(
  configuredPath: string,
  side: 'source' | 'target',
): Promise<TransferDatabase> {
  const path = realDatabasePath(configuredPath);
  if (side === 'source' && !existsSync(path)) throw notFound(`database ${path}`);
  const lock = tryServerLock(path);
  if (!lock)
    throw new AppError(
      'conflict',
      `a Belfry server runs on ${path}, or another belfry migrate: stop it first`,
    );
  let file: Db;
  try {
    prepare(path, 'server');
    file = openWritable(path);
  } catch (error) {
    lock.release();
    throw error;
  }
  const writer = new LogWriter(file);
  const log = connectLog(writer.sql);
  return {
    db: new Database(sqliteDialect, {
      read: async <T>({ sql, parameters }: CompiledQuery<T>) =>
        file.prepare<unknown[], unknown>(sql).all(...parameters) as T[],
      write: async (queries) => writer.transaction(() => runSql(writer, queries)),
    }),
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
      file.pragma('wal_checkpoint(TRUNCATE)');
      file.close();
      lock.release();
    },
  };
}

function receiptsOf(statements: Statements, tenant: TenantId, entries: readonly Entry[]): TransferReceipt[] {
  const [first] = entries;
  if (!first) return [];
  const ids = new Map(entries.map(({ position, id }) => [position, id]));
  const range = { tenant, from: first.position, limit: entries.length };
  const found = entriesFrom<{ row: number; position: number }>(statements, range, 'n.row, n.position');
  return [...found].flatMap(({ partition, rows }) => {
    const { receipts } = tablesOf(partition);
    const positions = new Map(rows.map(({ row, position }) => [row, position]));
    return statements
      .of<[string], ReceiptRow & { readonly row: number }>(
        `SELECT row, panel_id AS panelId, shown_at AS shownAt, expired_at AS expiredAt, cleared_at AS clearedAt
         FROM ${receipts} WHERE row IN (SELECT value FROM json_each(?)) ORDER BY row, panel_id`,
      )
      .all(JSON.stringify([...positions.keys()]))
      .map(({ row, ...receipt }) => ({ id: ids.get(positions.get(row) ?? 0) ?? '', ...receipt }));
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

/** Returns the position at which the entry is stored. */
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
