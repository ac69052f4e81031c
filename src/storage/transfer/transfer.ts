/** Copies everything from one database to another, between SQLite and PostgreSQL in either direction. */
import { sql } from 'kysely';
import { AppError } from '#core/errors.ts';
import type { LogBounds, TenantId } from '#core/ports.ts';
import { readMeta, transferMark, writeMeta } from '../meta.ts';
import type { Statement } from '../sql.ts';
import { compareLive, compareLog, compareTable } from './transfer-check.ts';
import {
  pagesAhead,
  pagesOf,
  type Row,
  readPage,
  type Table,
  type TransferDatabase,
  tableNames,
} from './transfer-database.ts';

export interface TransferProgress {
  readonly step: 'copying' | 'checking';
  /** Entries of all logs. */
  readonly done: number;
  readonly total: number;
}

export interface TransferResult {
  readonly tenants: number;
  readonly entries: number;
  /** Rows of the tables that are not the log. */
  readonly rows: number;
}

/** Rows of `meta` that describe the history and not the database. */
const metaNames = ['epoch', 'changes', 'clock'];

/**
 * Copies everything, or continues an interrupted copy of the same source; then reads both databases and compares them.
 * @throws AppError `conflict` when the target is not empty, or differs afterwards.
 */
export async function transfer(
  from: TransferDatabase,
  to: TransferDatabase,
  { now, onProgress }: { readonly now: number; readonly onProgress: (progress: TransferProgress) => void },
): Promise<TransferResult> {
  await markTarget(from, to);
  for (const table of tableNames) await copyTable(from, to, table);
  await to.afterTenants();
  const tenants = await tenantIds(from);
  const total = await entriesOf(from, tenants);
  let done = 0;
  const progress = (step: TransferProgress['step'], entries: number) => {
    done += entries;
    onProgress({ step, done, total });
  };
  const onCopied = (entries: number) => progress('copying', entries);
  for (const tenant of tenants) await copyLog(from, to, tenant, { now, onCopied });
  await copyMeta(from, to);
  done = 0;
  let rows = 0;
  for (const table of tableNames) rows += await compareTable(from, to, table);
  for (const tenant of tenants)
    await compareLog(from, to, tenant, (entries) => progress('checking', entries));
  await compareLive(from, to, now);
  await to.db.write([sql`delete from meta where name = ${transferMark}`]);
  return { tenants: tenants.length, entries: total, rows };
}

async function markTarget(from: TransferDatabase, to: TransferDatabase): Promise<void> {
  const epoch = await readMeta(from.db, 'epoch');
  const mark = await readMeta(to.db, transferMark);
  if (mark === epoch) return;
  if (mark !== undefined)
    throw new AppError('conflict', 'the target is an unfinished copy of another database: use a new one');
  const { db } = to;
  const found = await db.read(
    sql<Row>`select 1 from tenants union all select 1 from people union all select 1 from logs limit 1`,
  );
  if (found.length > 0) throw new AppError('conflict', 'the target is not empty: use a new database');
  await writeMeta(to.db, transferMark, epoch ?? '');
}

async function copyMeta(from: TransferDatabase, to: TransferDatabase): Promise<void> {
  for (const name of metaNames) {
    const value = await readMeta(from.db, name);
    if (value !== undefined) await writeMeta(to.db, name, value);
  }
}

/** Copies a table from the beginning each time, because these tables are small compared with the log. */
async function copyTable(from: TransferDatabase, to: TransferDatabase, table: Table): Promise<void> {
  const { db } = to;
  await db.write([sql`delete from ${sql.table(table)}`]);
  for await (const rows of pagesOf(from, table)) {
    await db.write(rows.map((row) => insertion(to, table, row)));
  }
}

function insertion({ storedId }: TransferDatabase, table: Table, given: Row): Statement {
  const row = table === 'idempotency' ? { ...given, id: storedId.fromText(String(given.id)) } : given;
  const columns = Object.keys(row).map((column) => sql.ref(column));
  return sql`insert into ${sql.table(table)} (${sql.join(columns)}) values (${sql.join(Object.values(row))})`;
}

async function tenantIds({ db }: TransferDatabase): Promise<TenantId[]> {
  const rows = await db.read(sql<{ id: number }>`select id from tenants order by id`);
  return rows.map(({ id }) => id);
}

const keptOf = ({ head, first }: LogBounds) => Math.max(0, head - first + 1);

async function entriesOf({ log }: TransferDatabase, tenants: readonly TenantId[]): Promise<number> {
  let total = 0;
  for (const tenant of tenants) total += keptOf(await log.bounds(tenant));
  return total;
}

/** Copies a log, and begins after the last entry that the target has. */
async function copyLog(
  from: TransferDatabase,
  to: TransferDatabase,
  tenant: TenantId,
  { now, onCopied }: { readonly now: number; readonly onCopied: (entries: number) => void },
): Promise<void> {
  const bounds = await from.log.bounds(tenant);
  if (bounds.head === 0) return;
  const { db } = to;
  await db.write([
    sql`insert into logs (tenant, head, first, first_row, notifications, bytes)
      values (${tenant}, ${bounds.first - 1}, ${bounds.first}, 0, 0, 0) on conflict (tenant) do nothing`,
  ]);
  const { head: copied } = await to.log.bounds(tenant);
  onCopied(copied - (bounds.first - 1));
  const read = async (after: number) => {
    const page = await readPage(from, tenant, after);
    return { ...page, store: to.prepareImport(tenant, page, now) };
  };
  for await (const { entries, store } of pagesAhead(bounds, copied, read)) {
    await store();
    onCopied(entries.length);
  }
}
