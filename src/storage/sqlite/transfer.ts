import { existsSync } from 'node:fs';
import type { CompiledQuery } from 'kysely';
import { AppError, notFound } from '#core/errors.ts';
import type { Notification } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { Database } from '../database/sql.ts';
import { type AlarmEntry, storedChange } from '../log/history-rows.ts';
import { type TransferDatabase, type TransferEntry, timeOf } from '../transfer.ts';
import { type Db, openWritable, realDatabasePath, tryServerLock } from './file/database-file.ts';
import { toDraftRow } from './history.ts';
import {
  endAcknowledgement,
  handOver,
  insertAcknowledgement,
  putOnShelf,
  readRemembering,
  returnToPanels,
  setOwner,
  suppress,
} from './log/alarms.ts';
import { remember } from './log/changes.ts';
import { type FoundRow, findById } from './log/log-lookup.ts';
import { bounds, readAfter, receiptsOf } from './log/log-reader.ts';
import { LogWriter, type RememberingRow } from './log/log-writer.ts';
import { readNewest, tablesOf } from './log/partitions.ts';
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
  const replaced: Import['replaced'] = new Map();
  const log = connectLog(writer.sql);
  return {
    db: new Database(sqliteDialect, {
      read: async <T>({ sql, parameters }: CompiledQuery<T>) =>
        file.prepare<unknown[], unknown>(sql).all(...parameters) as T[],
      write: async (queries) => writer.transaction(() => runSql(writer, queries)),
    }),
    history: {
      bounds: async (tenant) => bounds(log, tenant),
      readAfter: async (tenant, position, limit) => readAfter(log, tenant, position, limit),
      of: async (tenant, ids) => receiptsOf(log, tenant, ids),
    },
    importPage: async (tenant, page) =>
      writer.transaction(() => {
        for (const each of page) {
          const { position } = each.entry;
          const stored = importEntry({ writer, replaced }, tenant, each);
          if (stored !== position)
            throw new Error(`the entry at ${position} of tenant ${tenant} came to position ${stored}`);
        }
        const last = page.at(-1);
        if (last)
          writer.sql
            .of('DELETE FROM live WHERE tenant = ? AND expires_at <= ?')
            .run(tenant, timeOf(last.entry));
      }),
    storedId: { toText: (stored) => uuidToText(stored as Buffer), fromText: toBlob },

    async close() {
      // A copy of the file alone is then complete.
      file.pragma('wal_checkpoint(TRUNCATE)');
      file.close();
      lock.release();
    },
  };
}

interface Import {
  readonly writer: LogWriter;
  /** What was live until a notification replaced it that comes next, by the id of that one. */
  readonly replaced: Map<string, RememberingRow>;
}

/** Returns the position at which the entry is stored, and its receipts. */
function importEntry(into: Import, tenant: TenantId, { entry, receipts }: TransferEntry): number {
  const { writer, replaced } = into;
  const route = JSON.stringify(entry.route);
  if (entry.kind === 'notification') {
    const draft = toDraftRow(entry, route);
    const last = replaced.get(entry.id);
    replaced.delete(entry.id);
    const { row, position } = writer.insert(tenant, draft, last && remember(writer, draft, last));
    for (const { panelId, shownAt, inGroup, expiredAt, clearedAt } of receipts)
      writer.sql
        .of(
          `INSERT INTO ${tablesOf(readNewest(writer.sql)).receipts} (row, panel_id, shown_at, in_group, expired_at, cleared_at)
           VALUES (?, ?, ?, ?, ?, ?)`,
        )
        .run(row, panelId, shownAt, inGroup ? 1 : null, expiredAt, clearedAt);
    return position;
  }
  const found = findById(writer.sql, tenant, entry.id);
  if (found) return importChange(into, tenant, found, entry);
  const lost = { route: writer.routeNumber(tenant, route), position: 0 };
  const { at, by } = entry;
  const change = entry.kind === 'clear' ? entry : { at, by, ...storedChange(entry) };
  return writer.insertChange(tenant, lost, entry.id, change);
}

/** What happened to a notification. */
function importChange(
  { writer, replaced }: Import,
  tenant: TenantId,
  found: FoundRow,
  entry: Exclude<TransferEntry['entry'], Notification>,
): number {
  if (entry.kind !== 'clear') return importAlarmEntry(writer, tenant, found, entry);
  const live = readRemembering(writer.sql, found.row);
  if (live && entry.reason === 'replaced' && !handOver(writer, tenant, live, entry.by))
    replaced.set(entry.by, live);
  return writer.takeOff(tenant, found, entry.id, entry).position;
}

function importAlarmEntry(writer: LogWriter, tenant: TenantId, found: FoundRow, entry: AlarmEntry): number {
  switch (entry.kind) {
    case 'acknowledgement':
      return insertAcknowledgement(writer, tenant, found, entry).position;
    case 'shelving': {
      const live = readRemembering(writer.sql, found.row) ?? found;
      return putOnShelf(writer, tenant, { found, live }, entry).position;
    }
    case 'suppression':
      return suppress(writer, tenant, found, entry).position;
    case 'assignment':
      return setOwner(writer, tenant, found, entry).position;
    case 'return':
      return (entry.from === 'acknowledged' ? endAcknowledgement : returnToPanels)(
        writer,
        tenant,
        found,
        entry,
      ).position;
  }
}
