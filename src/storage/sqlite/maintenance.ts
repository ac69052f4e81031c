/**
 * What the writer does between commits, a few milliseconds at a time: it merges the index of a closed partition, drops
 * partitions that nobody keeps, and writes those anew of which most is not kept. What a crash interrupts goes on at the next
 * start.
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
import { dropSome, type Retired, type StepSize } from './retired-partitions.ts';
import type { RowRange } from './row-numbers.ts';
import { type EntryRow, entryColumns, type PartitionName, RowReader, storedColumns } from './rows.ts';

/** Dead rows are tolerated up to this share of all, or the size of one partition. */
const mostDeadShare = 0.2;

const dictionaryColumns = ['level', 'sent_level', 'ip', 'host', 'key', 'source_ip', 'token_id'];

/** A partition that is being written anew. */
interface Copying {
  readonly partition: Partition;
  readonly reader: RowReader;
  /** The last row that was copied. */
  row: number;
  /** What of each tenant was copied. */
  readonly tenants: Map<number, { entries: number; readonly first: number }>;
}

export class Maintenance {
  readonly #sql: Statements;
  readonly #sizes: LogSizes;
  readonly #onRoutesDropped: () => void;
  #copying: Copying | undefined;
  /** It takes a look at all partitions of all tenants to know. */
  #mayHaveDead = true;
  /** Whether some dead rows are tolerated. */
  readonly #keepsDead: boolean;

  /** `onRoutesDropped` is called when numbers of routes that were remembered may be no more. */
  constructor(sql: Statements, sizes: LogSizes, onRoutesDropped: () => void, { keepsDead = true } = {}) {
    this.#keepsDead = keepsDead;
    this.#sql = sql;
    this.#sizes = sizes;
    this.#onRoutesDropped = onRoutesDropped;
  }

  /** Does one step in the caller's transaction; false when there is nothing to do. */
  step(size: StepSize): boolean {
    const retired = this.#sql
      .of<[], Retired>(
        'SELECT id, generation, first_row AS firstRow, last_row AS lastRow, whole FROM retired_partitions LIMIT 1',
      )
      .get();
    if (this.#copying) this.#copy(this.#copying, size.rows);
    else if (retired) this.#drop(retired, size);
    else if (!this.#merge(size.pages)) {
      const found = this.#mayHaveDead && (this.#retire() || this.#startCopy());
      this.#mayHaveDead = found;
      return found;
    }
    return true;
  }

  /** Retention has moved the beginning of a log. */
  lookForDead(): void {
    this.#mayHaveDead = true;
  }

  /** What was begun in a transaction that was rolled back is begun anew. */
  afterRollback(): void {
    this.#copying = undefined;
    this.#mayHaveDead = true;
  }

  /** Merges the pieces of an index: all of a closed partition's, and of the newest one's as soon as there are several alike. */
  #merge(pages: number): boolean {
    for (const partition of readPartitions(this.#sql).reverse()) {
      if (partition.sealed === 1) continue;
      const isClosed = partition.lastRow !== null;
      const { terms } = tablesOf(partition);
      const changes = this.#sql.of<[], { changes: number }>('SELECT total_changes() AS changes');
      const before = changes.get()?.changes ?? 0;
      // A negative number of pages begins a merge of everything, and goes on with one that has begun.
      this.#sql
        .of(`INSERT INTO ${terms} (${terms}, rank) VALUES ('merge', ?)`)
        .run(BigInt(isClosed ? -pages : pages));
      // Of itself the statement counts as one change.
      const isMerged = (changes.get()?.changes ?? 0) - before < 2;
      if (!isMerged) return true;
      if (!isClosed) continue;
      this.#sql.of('UPDATE partitions SET sealed = 1 WHERE id = ?').run(partition.id);
      this.#mayHaveDead = true;
      return true;
    }
    return false;
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
    if (dead <= (this.#keepsDead ? Math.max(this.#sizes.partitionRows, rows * mostDeadShare) : 0))
      return false;
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
    const reader = new RowReader(this.#sql);
    this.#copying = { partition, reader, row: partition.firstRow - 1, tenants: new Map() };
    return true;
  }

  #copy(copying: Copying, size: number): void {
    const { partition, reader, row, tenants } = copying;
    const next = { id: partition.id, generation: partition.generation + 1 };
    const { log: from, dictionary } = tablesOf(partition);
    const to = tablesOf(next);
    const rows = this.#sql
      .of<[number, number], EntryRow>(
        `SELECT ${entryColumns} FROM ${from} n JOIN logs l ON l.tenant = n.tenant
         WHERE n.row > ? AND n.position >= l.first ORDER BY n.row LIMIT ?`,
      )
      .all(row, size);
    const last = rows.at(-1)?.row;
    if (last === undefined) {
      this.#dropStates(partition, next, { low: row + 1, high: lastRowOf(partition) });
      return this.#switchToCopy(copying);
    }
    this.#sql
      .of(
        `INSERT INTO ${to.log} (${storedColumns.join(', ')})
         SELECT ${storedColumns.map((column) => `n.${column}`).join(', ')} FROM ${from} n JOIN logs l ON l.tenant = n.tenant
         WHERE n.row > ? AND n.row <= ? AND n.position >= l.first ORDER BY n.row`,
      )
      .run(row, last);
    this.#dropStates(partition, next, { low: row + 1, high: last });
    const texts = dictionaryColumns.map(
      (column) => `SELECT ${column} FROM ${to.log} WHERE row > ?1 AND typeof(${column}) = 'integer'`,
    );
    this.#sql
      .of<[{ 1: number }], never>(
        `INSERT OR IGNORE INTO ${to.dictionary} SELECT id, text FROM ${dictionary} WHERE id IN (${texts.join(' UNION ')})`,
      )
      .run({ 1: row });
    addTerms(
      this.#sql,
      next,
      rows.map((each) => toUnindexed(each, partition, reader)),
    );
    for (const { tenant, position } of rows) {
      const sum = tenants.get(tenant);
      if (sum) sum.entries += 1;
      else tenants.set(tenant, { entries: 1, first: position });
    }
    copying.row = last;
  }

  /** Deletes what has changed about rows that were not copied. */
  #dropStates(partition: Partition, next: PartitionName, { low, high }: RowRange): void {
    const { state, receipts } = tablesOf(partition);
    for (const table of [state, receipts])
      this.#sql
        .of(
          `DELETE FROM ${table} WHERE row BETWEEN ? AND ? AND row NOT IN (SELECT n.row FROM ${tablesOf(next).log} n WHERE n.row BETWEEN ? AND ?)`,
        )
        .run(low, high, low, high);
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

  #drop(retired: Retired, size: StepSize): void {
    if (!dropSome(this.#sql, retired, size)) return;
    this.#sql
      .of('DELETE FROM retired_partitions WHERE id = ? AND generation = ?')
      .run(retired.id, retired.generation);
    this.#onRoutesDropped();
  }
}
