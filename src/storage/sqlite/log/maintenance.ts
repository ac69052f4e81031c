/** Maintenance between commits, a few milliseconds at a time (ADR 13). The database records work that has begun, so that it continues after a crash. */
import type { Db } from '../file/database-file.ts';
import { LogWriter } from './log-writer.ts';
import { copySome, isUnfinishedCopy, type Retired, type StepSize, startCopy } from './partition-copy.ts';
import {
  indexPages,
  readNewest,
  readPartitions,
  type Statements,
  tableExists,
  tablesOf,
} from './partitions.ts';

/**
 * Does one step in the caller's transaction; false when there is nothing to do. `toleratedRows`: rows are rewritten only if more
 * than this number, and more than a share of all, are dead. With 0, every dead row is removed.
 */
export function maintain(
  writer: LogWriter,
  size: StepSize,
  toleratedRows = writer.sizes.partitionRows,
): boolean {
  const { sql } = writer;
  const retired = sql
    .of<[], Retired>(
      `SELECT r.id, r.generation, r.first_row AS firstRow, r.last_row AS lastRow, p.generation AS used
       FROM retired_partitions r LEFT JOIN partitions p USING (id) LIMIT 1`,
    )
    .get();
  // Also while there is other work, because intake goes on meanwhile, and each piece of an index costs a search some time.
  const isMerging = merge(writer, size.pages);
  if (!retired) {
    if (isMerging) return true;
    writer.mayHaveDead &&= retire(sql) || startCopyIfDue(writer, toleratedRows);
    return writer.mayHaveDead;
  }
  if (isUnfinishedCopy(retired)) copySome(sql, retired, size);
  else dropSome(sql, retired, size);
  return true;
}

/** Merges segments of an index: all of a closed partition's; of the newest partition, those of one size once there are several. */
function merge(writer: LogWriter, pages: number): boolean {
  const { sql } = writer;
  for (const partition of readPartitions(sql).reverse()) {
    if (partition.sealed === 1) continue;
    const isClosed = partition.lastRow !== null;
    const { terms } = tablesOf(partition);
    const changes = sql.of<[], { changes: number }>('SELECT total_changes() AS changes');
    const before = changes.get()?.changes ?? 0;
    // A negative number of pages begins a merge of all segments, or continues one that has begun.
    sql
      .of(`INSERT INTO ${terms} (${terms}, rank) VALUES ('merge', ?)`)
      .run(BigInt(isClosed ? -pages : pages));
    // The statement itself counts as one change.
    const isMerged = (changes.get()?.changes ?? 0) - before < 2;
    if (!isMerged) return true;
    if (!isClosed) continue;
    sql.of('UPDATE partitions SET sealed = 1 WHERE id = ?').run(partition.id);
    writer.mayHaveDead = true;
    return true;
  }
  return false;
}

/**
 * The search for a partition to rewrite reads the rows of each tenant in each partition. So it waits until retention has dropped this
 * share of a partition.
 */
const leastDropped = 1 / 16;

function startCopyIfDue(writer: LogWriter, toleratedRows: number): boolean {
  if (writer.dropped < writer.sizes.partitionRows * leastDropped) return false;
  const isStarted = startCopy(writer.sql, toleratedRows);
  if (!isStarted) writer.dropped = 0;
  return isStarted;
}

/** Retires a closed partition of which no tenant keeps a row. */
function retire(sql: Statements): boolean {
  const { changes } = sql
    .of(
      `INSERT INTO retired_partitions (id, generation, first_row, last_row, whole)
       SELECT id, generation, first_row, last_row, 1 FROM partitions p
       WHERE last_row IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM partition_tenants t JOIN logs l ON l.tenant = t.tenant
         WHERE t.partition = p.id AND coalesce(t.last_position, l.head) >= l.first) ORDER BY first_row LIMIT 1`,
    )
    .run();
  if (changes === 0) return false;
  sql.of('DELETE FROM partitions WHERE id IN (SELECT id FROM retired_partitions WHERE whole = 1)').run();
  return true;
}

/**
 * Deletes some rows of these tables, one table after the other, and drops a table once it is empty. Dropping a full table or index
 * would delay a commit, because SQLite reads each of its pages: some 100 ms if they are not in memory.
 */
function dropSome(sql: Statements, retired: Retired, { rows, pages }: StepSize): void {
  const { log, terms, dictionary, state, receipts } = tablesOf(retired);
  const { id, generation, firstRow, lastRow, used } = retired;
  const rowsInIt = `row BETWEEN ${firstRow} AND ${lastRow}`;
  const ofPartition = [
    `row_minutes WHERE ${rowsInIt}`,
    `partition_tenants WHERE partition = ${id}`,
    'routes WHERE partition < (SELECT min(id) FROM partitions)',
  ];
  const isGone =
    emptyIndex(sql, terms, pages) &&
    [log, dictionary, ...(used === null ? [state, receipts] : [])].every((table) =>
      empty(sql, table, rows),
    ) &&
    (used !== null || ofPartition.every((what) => deleteSome(sql, what, rows)));
  if (isGone) sql.of('DELETE FROM retired_partitions WHERE id = ? AND generation = ?').run(id, generation);
}

/** Deletes some rows of a table, and drops it once it is empty. Returns whether the table was gone before. */
function empty(sql: Statements, table: string, rows: number): boolean {
  if (!tableExists(sql, table)) return true;
  return deleteSome(sql, table, rows) && drop(sql, table);
}

/** The list of segments of an empty FTS5 index. */
const noSegments = Buffer.alloc(7);

/**
 * As {@link empty}, for an index, whose pages are rows of a table that SQLite protects; FTS5 has no statement that frees some of them (ADR 13). The first step empties its list of segments,
 * because a backup checks the database, and a list with missing segments counts as damage.
 */
function emptyIndex(sql: Statements, terms: string, pages: number): boolean {
  if (!tableExists(sql, terms)) return true;
  const { db } = sql;
  db.unsafeMode(true);
  try {
    db.prepare(`UPDATE ${terms}_data SET block = @none WHERE id = @segments AND block <> @none`).run({
      none: noSegments,
      segments: indexPages.segments,
    });
    const some = db.prepare(`DELETE FROM ${terms}_data WHERE id NOT IN (@totals, @segments) LIMIT @pages`);
    if (some.run({ ...indexPages, pages }).changes > 0) return false;
  } finally {
    db.unsafeMode(false);
  }
  return drop(sql, terms);
}

/** Returns whether there was nothing to delete. */
const deleteSome = (sql: Statements, what: string, rows: number): boolean =>
  sql.of(`DELETE FROM ${what} LIMIT ?`).run(rows).changes === 0;

function drop(sql: Statements, name: string): false {
  sql.db.exec(`DROP TABLE ${name}`);
  sql.forget();
  return false;
}

const purgeStep = { rows: 10_000, pages: 1_000 };

/**
 * Removes all entries that retention does not keep at once; a server does so in small steps. No other process may have the database
 * open. When this returns, neither the file nor its free pages contain an entry that no tenant keeps.
 */
export function purge(db: Db): void {
  const log = new LogWriter(db);
  log.transaction(() => {
    log.indexAll();
    const { indexed, firstRow } = readNewest(log.sql);
    if (indexed >= firstRow) log.closePartition();
  });
  while (log.transaction(() => maintain(log, purgeStep, 0)));
  db.exec('VACUUM');
}
