/** Drops the tables of partitions that are out of use, a few rows at a time: a whole table at once would hold up a commit. */
import { type Statements, tablesOf } from './partitions.ts';

export interface Retired {
  readonly id: number;
  readonly generation: number;
  readonly firstRow: number;
  readonly lastRow: number;
  /** 1: the partition is gone. 0: another generation of it is in use. */
  readonly whole: 0 | 1;
}

/** How much of each kind of work one step does: rows that are copied or deleted, pages of an index that are merged. */
export interface StepSize {
  readonly rows: number;
  readonly pages: number;
}

/** Takes some off the tables of a retired partition: of one table after the other, and that itself once it is empty. True: all are gone. */
export function dropSome(sql: Statements, retired: Retired, { rows, pages }: StepSize): boolean {
  const { log, terms, dictionary, state, receipts } = tablesOf(retired);
  const { id, firstRow, lastRow, whole } = retired;
  const rowsInIt = `row BETWEEN ${firstRow} AND ${lastRow}`;
  return (
    emptyIndex(sql, terms, pages) &&
    dropIfThere(sql, 'INDEX', `${log}_position`) &&
    dropIfThere(sql, 'INDEX', `${log}_id`) &&
    [log, dictionary].every((table) => empty(sql, table, rows)) &&
    (whole === 0 ||
      ([state, receipts].every((table) => empty(sql, table, rows)) &&
        [
          `row_minutes WHERE ${rowsInIt}`,
          `row_levels WHERE ${rowsInIt}`,
          `minutes WHERE partition = ${id}`,
          `partition_tenants WHERE partition = ${id}`,
          'routes WHERE partition < (SELECT min(id) FROM partitions)',
        ].every((what) => deleteSome(sql, what, rows))))
  );
}

/** Deletes some rows of a table, and drops it when there are none. True: it is gone. */
function empty(sql: Statements, table: string, rows: number): boolean {
  if (!exists(sql, table)) return true;
  return deleteSome(sql, table, rows) && dropIfThere(sql, 'TABLE', table);
}

/** The same for an index, whose pages are rows of a table that SQLite guards. */
function emptyIndex(sql: Statements, terms: string, pages: number): boolean {
  if (!exists(sql, terms)) return true;
  const { db } = sql;
  db.unsafeMode(true);
  try {
    if (db.prepare(`DELETE FROM ${terms}_data LIMIT ?`).run(pages).changes > 0) return false;
  } finally {
    db.unsafeMode(false);
  }
  return dropIfThere(sql, 'TABLE', terms);
}

/** True: there was none. */
const deleteSome = (sql: Statements, what: string, rows: number): boolean =>
  sql.of(`DELETE FROM ${what} LIMIT ?`).run(rows).changes === 0;

/** True: it is gone already. */
function dropIfThere(sql: Statements, kind: 'TABLE' | 'INDEX', name: string): boolean {
  if (!exists(sql, name)) return true;
  sql.db.exec(`DROP ${kind} ${name}`);
  sql.forget();
  return false;
}

const exists = (sql: Statements, name: string): boolean =>
  sql.of<[string], unknown>('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined;
