/**
 * What the writer does between commits, a few milliseconds at a time: it merges the index of a closed partition, drops
 * partitions that nobody keeps, and writes those anew of which most is not kept. Each slice is a transaction of its own; what
 * a crash interrupts goes on at the next start.
 */
import { addTerms, toUnindexed } from './log-index.ts';
import type { LogSizes } from './log-writer.ts';
import {
  createLogTables,
  lastRowOf,
  type Partition,
  readPartitions,
  type Statements,
  tablesOf,
} from './partitions.ts';
import { RouteReader } from './routes.ts';
import { type EntryRow, entryColumns } from './rows.ts';

/** Dead rows are tolerated up to this share of all, or the size of one partition. */
const mostDeadShare = 0.2;

interface Retired {
  readonly id: number;
  readonly generation: number;
  readonly firstRow: number;
  readonly lastRow: number;
  /** 1: the partition is gone. 0: another generation of it is in use. */
  readonly whole: 0 | 1;
}

/** A partition that is being written anew. */
interface Copying {
  readonly partition: Partition;
  /** The last row that was copied. */
  row: number;
  /** What of each tenant was copied. */
  readonly tenants: Map<number, { entries: number; readonly first: number }>;
}

/** How much of each kind of work one slice does. */
export interface SliceSize {
  readonly rows: number;
  readonly pages: number;
}

export class Maintenance {
  readonly #sql: Statements;
  readonly #sizes: LogSizes;
  readonly #onRoutesDropped: () => void;
  #copying: Copying | undefined;

  /** `onRoutesDropped` is called when numbers of routes that were remembered may be no more. */
  constructor(sql: Statements, sizes: LogSizes, onRoutesDropped: () => void) {
    this.#sql = sql;
    this.#sizes = sizes;
    this.#onRoutesDropped = onRoutesDropped;
  }

  /** Does one slice in the caller's transaction; false when there is nothing to do. */
  slice(size: SliceSize): boolean {
    const retired = this.#sql
      .of<[], Retired>(
        'SELECT id, generation, first_row AS firstRow, last_row AS lastRow, whole FROM retired_partitions LIMIT 1',
      )
      .get();
    if (this.#copying) this.#copy(this.#copying, size.rows);
    else if (retired) this.#drop(retired, size.rows);
    else return this.#merge(size.pages) || this.#retire() || this.#startCopy();
    return true;
  }

  /** What was begun in a transaction that was rolled back is begun anew. */
  afterRollback(): void {
    this.#copying = undefined;
  }

  /** Merges the index of the oldest closed partition that is still in pieces. */
  #merge(pages: number): boolean {
    const partition = this.#sql
      .of<[], { id: number; generation: number }>(
        'SELECT id, generation FROM partitions WHERE last_row IS NOT NULL AND sealed = 0 ORDER BY first_row LIMIT 1',
      )
      .get();
    if (!partition) return false;
    const { terms } = tablesOf(partition);
    const changes = this.#sql.of<[], { changes: number }>('SELECT total_changes() AS changes');
    const before = changes.get()?.changes ?? 0;
    // A negative number of pages begins a merge of everything, and goes on with one that has begun.
    this.#sql.of(`INSERT INTO ${terms} (${terms}, rank) VALUES ('merge', ?)`).run(BigInt(-pages));
    // Of itself the statement counts as one change.
    if ((changes.get()?.changes ?? 0) - before < 2)
      this.#sql.of('UPDATE partitions SET sealed = 1 WHERE id = ?').run(partition.id);
    return true;
  }

  /** Takes a closed partition of which nobody keeps a row out of the list. */
  #retire(): boolean {
    const dead = this.#sql
      .of<[], { id: number }>(
        `SELECT id FROM partitions p WHERE last_row IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM partition_tenants t JOIN logs l ON l.tenant = t.tenant
           WHERE t.partition = p.id AND t.last_position >= l.first) ORDER BY first_row LIMIT 1`,
      )
      .get();
    if (!dead) return false;
    this.#sql
      .of(
        `INSERT INTO retired_partitions (id, generation, first_row, last_row, whole)
         SELECT id, generation, first_row, last_row, 1 FROM partitions WHERE id = ?`,
      )
      .run(dead.id);
    this.#sql.of('DELETE FROM partitions WHERE id = ?').run(dead.id);
    return true;
  }

  /** Once too many rows are dead, writes the partition anew that has the most of them. */
  #startCopy(): boolean {
    const counts = this.#sql
      .of<[], { id: number; rows: number; dead: number }>(
        `SELECT p.id, sum(t.entries) AS rows, sum(t.entries *
             min(1.0, max(0, l.first - t.first_position) * 1.0 / (t.last_position - t.first_position + 1))) AS dead
         FROM partitions p JOIN partition_tenants t ON t.partition = p.id JOIN logs l ON l.tenant = t.tenant
         WHERE p.last_row IS NOT NULL GROUP BY p.id`,
      )
      .all();
    const rows = counts.reduce((sum, each) => sum + each.rows, 0);
    const dead = counts.reduce((sum, each) => sum + each.dead, 0);
    if (dead <= Math.max(this.#sizes.partitionRows, rows * mostDeadShare)) return false;
    const worst = counts.reduce((a, b) => (b.dead > a.dead ? b : a));
    const partition = readPartitions(this.#sql).find(({ id }) => id === worst.id);
    if (!partition) return false;
    const generation = partition.generation + 1;
    createLogTables(this.#sql.db, { id: partition.id, generation });
    // Until it is complete, it counts as retired: after a crash it is dropped.
    this.#sql
      .of(
        'INSERT INTO retired_partitions (id, generation, first_row, last_row, whole) VALUES (?, ?, ?, ?, 0)',
      )
      .run(partition.id, generation, partition.firstRow, lastRowOf(partition));
    this.#copying = { partition, row: partition.firstRow - 1, tenants: new Map() };
    return true;
  }

  #copy(copying: Copying, size: number): void {
    const { partition, row, tenants } = copying;
    const next = { id: partition.id, generation: partition.generation + 1 };
    const [from, to] = [tablesOf(partition).log, tablesOf(next).log];
    const rows = this.#sql
      .of<[number, number], EntryRow>(
        `SELECT ${entryColumns} FROM ${from} n JOIN logs l ON l.tenant = n.tenant
         WHERE n.row > ? AND n.position >= l.first ORDER BY n.row LIMIT ?`,
      )
      .all(row, size);
    const last = rows.at(-1)?.row;
    if (last === undefined) return this.#switchToCopy(copying);
    const columns = entryColumns.replaceAll('n.', '');
    this.#sql
      .of(
        `INSERT INTO ${to} (${columns}) SELECT ${entryColumns} FROM ${from} n JOIN logs l ON l.tenant = n.tenant
         WHERE n.row > ? AND n.row <= ? AND n.position >= l.first ORDER BY n.row`,
      )
      .run(row, last);
    const routes = new RouteReader(this.#sql);
    addTerms(
      this.#sql,
      next,
      rows.map((each) => toUnindexed(each, (id) => routes.get(each.tenant, id))),
    );
    for (const { tenant, position } of rows) {
      const sum = tenants.get(tenant);
      if (sum) sum.entries += 1;
      else tenants.set(tenant, { entries: 1, first: position });
    }
    copying.row = last;
  }

  /** Puts the finished copy in the place of what it was made of. */
  #switchToCopy({ partition: { id, generation }, tenants }: Copying): void {
    this.#sql.of('UPDATE partitions SET generation = ?, sealed = 0 WHERE id = ?').run(generation + 1, id);
    this.#sql
      .of('UPDATE retired_partitions SET generation = ? WHERE id = ? AND generation = ?')
      .run(generation, id, generation + 1);
    const left = this.#sql.of<[number], { tenant: number }>(
      'SELECT tenant FROM partition_tenants WHERE partition = ?',
    );
    for (const { tenant } of left.all(id)) {
      const sum = tenants.get(tenant);
      if (sum)
        this.#sql
          .of(
            'UPDATE partition_tenants SET entries = ?, first_position = ? WHERE tenant = ? AND partition = ?',
          )
          .run(sum.entries, sum.first, tenant, id);
      else this.#sql.of('DELETE FROM partition_tenants WHERE tenant = ? AND partition = ?').run(tenant, id);
    }
    this.#copying = undefined;
  }

  /** Takes a slice off the tables of a retired partition: of one table after the other, and that itself once it is empty. */
  #drop(retired: Retired, rows: number): void {
    const { log, terms, state, receipts } = tablesOf(retired);
    const { id, firstRow, lastRow, whole } = retired;
    const done =
      this.#dropIfThere('TABLE', terms) &&
      this.#dropIfThere('INDEX', `${log}_position`) &&
      this.#dropIfThere('INDEX', `${log}_id`) &&
      this.#empty(log, rows) &&
      (whole === 0 ||
        (this.#empty(state, rows) &&
          this.#empty(receipts, rows) &&
          this.#delete(`row_minutes WHERE row BETWEEN ${firstRow} AND ${lastRow}`, rows) &&
          this.#delete(`minutes WHERE partition = ${id}`, rows) &&
          this.#delete(`partition_tenants WHERE partition = ${id}`, rows) &&
          this.#delete(`routes WHERE partition < (SELECT min(id) FROM partitions)`, rows)));
    if (!done) return;
    this.#sql
      .of('DELETE FROM retired_partitions WHERE id = ? AND generation = ?')
      .run(id, retired.generation);
    this.#onRoutesDropped();
  }

  /** Deletes some rows of a table, and drops it when there are none. True: it is gone. */
  #empty(table: string, rows: number): boolean {
    if (!this.#exists(table)) return true;
    return this.#delete(table, rows) && this.#dropIfThere('TABLE', table);
  }

  #delete(what: string, rows: number): boolean {
    return this.#sql.of(`DELETE FROM ${what} LIMIT ?`).run(rows).changes === 0;
  }

  /** True: it is gone already. */
  #dropIfThere(kind: 'TABLE' | 'INDEX', name: string): boolean {
    if (!this.#exists(name)) return true;
    this.#sql.db.exec(`DROP ${kind} ${name}`);
    this.#sql.forget();
    return false;
  }

  #exists(name: string): boolean {
    return (
      this.#sql.of<[string], unknown>('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined
    );
  }
}
