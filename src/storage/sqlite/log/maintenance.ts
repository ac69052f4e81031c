/**
 * What the writer does between commits, a few milliseconds at a time: it merges the index of a closed partition, drops
 * partitions that nobody keeps, and writes those anew of which most is not kept. What is begun is in the database, so that it
 * goes on after a crash.
 */
import type { Db } from '../file/database.ts';
import { addTerms, readUnindexed } from './log-index.ts';
import { LogWriter } from './log-writer.ts';
import {
  createLogTables,
  indexPages,
  readNewest,
  readPartitions,
  type Statements,
  tablesOf,
} from './partitions.ts';
import { type PartitionName, RowReader, storedColumns } from './rows.ts';

/** Dead rows are tolerated up to this share of all, or the size of one partition. */
const mostDeadShare = 0.2;

/**
 * The `last_row` of a copy that is not finished, with which a later step goes on. An older version has the real one there, and
 * goes on with no copy: it drops them all.
 */
const unfinished = 0;

const dictionaryColumns = ['level', 'sent_level', 'ip', 'host', 'key', 'source_ip', 'token_id'];

/** How much of each kind of work one step does: rows that are copied or deleted, pages of an index that are merged. */
export interface StepSize {
  readonly rows: number;
  readonly pages: number;
}

/** The tables of one generation of a partition that is out of use, to be dropped; or of the next one, to be filled. */
interface Retired {
  readonly id: number;
  readonly generation: number;
  readonly firstRow: number;
  readonly lastRow: number;
  /** The generation of the partition in use; null: the partition is gone. */
  readonly used: number | null;
}

/**
 * Does one step in the caller's transaction; false when there is nothing to do. `toleratedRows`: so many rows may be dead, or
 * a share of all; with none, no row may be.
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
  if (retired) {
    if (isUnfinishedCopy(sql, retired)) copySome(sql, retired, size.rows);
    else dropSome(sql, retired, size);
    return true;
  }
  if (merge(writer, size.pages)) return true;
  writer.mayHaveDead &&= retire(sql) || startCopy(sql, toleratedRows);
  return writer.mayHaveDead;
}

/** Merges the pieces of an index: all of a closed partition's, and of the newest one's as soon as there are several alike. */
function merge(writer: LogWriter, pages: number): boolean {
  const { sql } = writer;
  for (const partition of readPartitions(sql).reverse()) {
    if (partition.sealed === 1) continue;
    const isClosed = partition.lastRow !== null;
    const { terms } = tablesOf(partition);
    const changes = sql.of<[], { changes: number }>('SELECT total_changes() AS changes');
    const before = changes.get()?.changes ?? 0;
    // A negative number of pages begins a merge of everything, and goes on with one that has begun.
    sql
      .of(`INSERT INTO ${terms} (${terms}, rank) VALUES ('merge', ?)`)
      .run(BigInt(isClosed ? -pages : pages));
    // Of itself the statement counts as one change.
    const isMerged = (changes.get()?.changes ?? 0) - before < 2;
    if (!isMerged) return true;
    if (!isClosed) continue;
    sql.of('UPDATE partitions SET sealed = 1 WHERE id = ?').run(partition.id);
    writer.mayHaveDead = true;
    return true;
  }
  return false;
}

/** Takes a closed partition of which nobody keeps a row out of the list. */
function retire(sql: Statements): boolean {
  const { changes } = sql
    .of(
      `INSERT INTO retired_partitions (id, generation, first_row, last_row, whole)
       SELECT id, generation, first_row, last_row, 1 FROM partitions p
       WHERE last_row IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM partition_tenants t JOIN logs l ON l.tenant = t.tenant
         WHERE t.partition = p.id AND t.last_position >= l.first) ORDER BY first_row LIMIT 1`,
    )
    .run();
  if (changes === 0) return false;
  sql.of('DELETE FROM partitions WHERE id IN (SELECT id FROM retired_partitions WHERE whole = 1)').run();
  return true;
}

/** Once too many rows are dead, begins to write the partition anew that has the most of them. */
function startCopy(sql: Statements, tolerated: number): boolean {
  const worst = sql
    .of<[{ tolerated: number }], { id: number; generation: number }>(
      `WITH counts AS MATERIALIZED (
         SELECT p.id, p.generation, sum(last_position + 1 - first_position) AS rows,
           sum(max(0, min(l.first, last_position + 1) - first_position)) AS dead
         FROM partitions p JOIN partition_tenants t ON t.partition = p.id JOIN logs l ON l.tenant = t.tenant
         WHERE p.last_row IS NOT NULL GROUP BY p.id)
       SELECT id, generation FROM counts
       WHERE (SELECT sum(dead) FROM counts) > iif(@tolerated = 0, 0, max(@tolerated, (SELECT sum(rows) FROM counts) * ${mostDeadShare}))
       ORDER BY dead DESC LIMIT 1`,
    )
    .get({ tolerated });
  if (!worst) return false;
  const { id, generation } = worst;
  createLogTables(sql.db, { id, generation: generation + 1, positionStep: 1 });
  sql
    .of(
      `INSERT INTO retired_partitions (id, generation, first_row, last_row, whole)
       SELECT id, generation + 1, first_row, ${unfinished}, 0 FROM partitions WHERE id = ?`,
    )
    .run(id);
  return true;
}

/** Copies some rows that are kept to the next generation, after those that it has. */
function copySome(sql: Statements, { id, generation, firstRow }: Retired, size: number): void {
  const used = generation - 1;
  const { log: from, dictionary, state, receipts } = tablesOf({ id, generation: used });
  const to = tablesOf({ id, generation });
  const lastCopied = () =>
    sql.of<[], { row: number | null }>(`SELECT max(row) AS row FROM ${to.log}`).get()?.row ?? firstRow - 1;
  const done = lastCopied();
  const { changes } = sql
    .of(
      `INSERT INTO ${to.log} (${storedColumns.join(', ')})
       SELECT ${storedColumns.map((column) => `n.${column}`).join(', ')} FROM ${from} n JOIN logs l ON l.tenant = n.tenant
       WHERE n.row > ? AND n.position >= l.first ORDER BY n.row LIMIT ?`,
    )
    .run(done, size);
  const end = changes === 0 ? Number.MAX_SAFE_INTEGER : lastCopied();
  // What has changed about rows that are not copied.
  for (const table of [state, receipts])
    sql
      .of(
        `DELETE FROM ${table} WHERE row > ? AND row <= ? AND NOT EXISTS (SELECT 1 FROM ${to.log} n WHERE n.row = ${table}.row)`,
      )
      .run(done, end);
  if (changes === 0) return switchTo(sql, { id, generation }, used);
  const texts = dictionaryColumns.map(
    (column) => `SELECT ${column} FROM ${to.log} WHERE row > ?1 AND typeof(${column}) = 'integer'`,
  );
  sql
    .of<[{ 1: number }], never>(
      `INSERT OR IGNORE INTO ${to.dictionary} SELECT id, text FROM ${dictionary} WHERE id IN (${texts.join(' UNION ')})`,
    )
    .run({ 1: done });
  const rows = readUnindexed(sql, { id, generation, indexed: done }, new RowReader(sql));
  addTerms(sql, { id, generation }, rows);
}

/** Puts the finished copy in the place of what it was made of. */
function switchTo(sql: Statements, { id, generation }: PartitionName, used: number): void {
  const { log } = tablesOf({ id, generation });
  sql
    .of('UPDATE partitions SET generation = ?, sealed = 0, position_step = 1 WHERE id = ?')
    .run(generation, id);
  sql
    .of(
      `UPDATE retired_partitions SET (generation, last_row) = (?, p.last_row) FROM partitions p WHERE p.id = retired_partitions.id AND p.id = ?`,
    )
    .run(used, id);
  const ofTenant = `FROM ${log} n WHERE n.tenant = partition_tenants.tenant`;
  sql.of(`DELETE FROM partition_tenants WHERE partition = ? AND NOT EXISTS (SELECT 1 ${ofTenant})`).run(id);
  sql
    .of(
      `UPDATE partition_tenants SET (first_position, entries) =
         (SELECT min(position), last_position + 1 - min(position) ${ofTenant}) WHERE partition = ?`,
    )
    .run(id);
}

/** An older version may have begun to drop it: what goes first is the page of the index with the lowest number, which each has. */
function isUnfinishedCopy(sql: Statements, retired: Retired): boolean {
  const { terms } = tablesOf(retired);
  return (
    retired.lastRow === unfinished &&
    exists(sql, terms) &&
    sql.of(`SELECT 1 FROM ${terms}_data WHERE id = ${indexPages.totals}`).get() !== undefined
  );
}

/**
 * Deletes some rows of these tables, one table after the other, and drops a table that is empty. To drop a full table or index at once
 * would hold up a commit, because SQLite reads each of its pages: some 100 ms if they are not in memory.
 */
function dropSome(sql: Statements, retired: Retired, { rows, pages }: StepSize): void {
  const { log, terms, dictionary, state, receipts } = tablesOf(retired);
  const { id, generation, firstRow, lastRow, used } = retired;
  const rowsInIt = `row BETWEEN ${firstRow} AND ${lastRow}`;
  const ofPartition = [
    `row_minutes WHERE ${rowsInIt}`,
    `row_levels WHERE ${rowsInIt}`,
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

/** Deletes some rows of a table, and drops it when there are none. True: it is gone. */
function empty(sql: Statements, table: string, rows: number): boolean {
  if (!exists(sql, table)) return true;
  return deleteSome(sql, table, rows) && dropIfThere(sql, table);
}

/** The list of segments of an FTS5 index that has none. */
const noSegments = Buffer.alloc(7);

/**
 * The same for an index, whose pages are rows of a table that SQLite protects. The first step empties its list of segments, because
 * a backup checks the database, and a list with missing segments counts as damage.
 */
function emptyIndex(sql: Statements, terms: string, pages: number): boolean {
  if (!exists(sql, terms)) return true;
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
  return dropIfThere(sql, terms);
}

/** True: there was none. */
const deleteSome = (sql: Statements, what: string, rows: number): boolean =>
  sql.of(`DELETE FROM ${what} LIMIT ?`).run(rows).changes === 0;

/** True: it is gone already. */
function dropIfThere(sql: Statements, name: string): boolean {
  if (!exists(sql, name)) return true;
  sql.db.exec(`DROP TABLE ${name}`);
  sql.forget();
  return false;
}

const exists = (sql: Statements, name: string): boolean =>
  sql.of<[string], unknown>('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined;

const purgeStep = { rows: 10_000, pages: 1_000 };

/**
 * Removes at once what retention does not keep, as a server does slice by slice. No other process may have the database open. When this
 * returns, neither the file nor its free pages contain an entry that no tenant keeps.
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
