import type { Clear, Route } from '#core/ports.ts';
import { indexTerms } from '#core/search/index-terms.ts';
import type { Db } from '../file/database.ts';
import { indexBatchRows, indexRows, readUnindexed, type UnindexedRow } from './log-index.ts';
import { findById } from './log-lookup.ts';
import {
  createPartition,
  findPartition,
  listTenant,
  mergedSegments,
  type Partition,
  partitionRows,
  readNewest,
  Statements,
  tablesOf,
  tenantsIn,
} from './partitions.ts';
import { Routes } from './routes.ts';
import { RowWriter } from './row-writer.ts';
import { type ChangeRow, type DraftRow, RowReader, rowBytes, splitId } from './rows.ts';
import { type NextEntry, TenantLogs } from './tenant-log.ts';

export interface LiveRow {
  readonly rank: number;
  readonly position: number;
  readonly row: number;
  readonly expires_at: number | null;
  readonly route: number;
}

/** A new notification of the log. */
export interface Inserted {
  readonly row: number;
  readonly position: number;
  /** The number of the route. */
  readonly route: number;
  readonly decided: Route;
}

/** Smaller in tests, so that a short history has many partitions. */
export interface LogSizes {
  readonly partitionRows: number;
  readonly indexBatchRows: number;
}

export const usualSizes: LogSizes = { partitionRows, indexBatchRows };

/** Writes entries of the log, each in the work of a `transaction`. There is one writer of a database. */
export class LogWriter {
  readonly logs: TenantLogs;
  readonly sql: Statements;
  /** There may be pieces of an index to merge, or dead rows. */
  needsMaintenance = true;
  /** A partition may have rows that no tenant keeps. */
  mayHaveDead = true;
  /** Entries that retention has dropped since the last search for a partition to rewrite; unknown at first. */
  dropped = Number.POSITIVE_INFINITY;
  readonly sizes: LogSizes;
  readonly routes: Routes;
  #isStale = true;
  #partition = {} as Partition;
  /** The tenants that have entries in the newest partition. */
  #tenants = new Set<number>();
  #rows = {} as RowWriter;
  #nextRow = 0;
  /** Pieces that were added to indexes. */
  #pieces = 0;
  /** Rows of the newest partition that are not indexed yet, in order. */
  #unindexed: UnindexedRow[] = [];

  constructor(db: Db, sizes = usualSizes) {
    this.sizes = sizes;
    this.sql = new Statements(db);
    this.logs = new TenantLogs(this.sql);
    this.routes = new Routes(this.sql);
  }

  /** Runs `work` in a transaction, which is durable when this returns if the database is. After an error nothing of it is stored. */
  transaction<T>(work: () => T): T {
    this.sql.of('BEGIN IMMEDIATE').run();
    try {
      if (this.#isStale) this.#readStored();
      const value = work();
      this.#finish();
      this.sql.of('COMMIT').run();
      return value;
    } catch (error) {
      this.afterRollback();
      if (this.sql.db.inTransaction) this.sql.db.exec('ROLLBACK');
      throw error;
    }
  }

  #readStored(): void {
    this.#use(readNewest(this.sql));
    this.#unindexed = readUnindexed(this.sql, this.#partition, new RowReader(this.sql));
    this.#nextRow = (this.#unindexed.at(-1)?.row ?? this.#partition.indexed) + 1;
    this.#isStale = false;
  }

  /** Saves counters, indexes rows when enough of them wait, and closes a full partition. */
  #finish(): void {
    this.logs.save();
    const isFull = this.#nextRow - this.#partition.firstRow >= this.sizes.partitionRows;
    if (isFull || this.#unindexed.length >= this.sizes.indexBatchRows) this.indexAll();
    if (isFull) this.closePartition();
  }

  /** The counters in memory may differ from the stored ones: reads them again. */
  afterRollback(): void {
    this.logs.forget();
    this.sql.forget();
    this.#isStale = true;
    this.mayHaveDead = true;
  }

  /** Indexes all pending rows, even if they are fewer than a batch. */
  indexAll(): void {
    indexRows(this.sql, this.#partition, this.#unindexed);
    this.#unindexed = [];
    this.#pieces += 1;
    if (this.#pieces % mergedSegments === 0) this.needsMaintenance = true;
  }

  /** Takes a live notification off its panels by an entry of its own. */
  takeOff(
    tenant: number,
    live: Omit<LiveRow, 'expires_at'>,
    id: string,
    { reason, by, at }: Pick<Clear, 'reason' | 'by' | 'at'>,
  ): Clear {
    this.sql.of('DELETE FROM live WHERE row = ?').run(live.row);
    const position = this.insertChange(tenant, live, id, { reason, by, at });
    this.#saveState(
      live.row,
      'cleared_at, cleared_by, cleared_reason',
      [at, by, reason],
      'cleared_at = excluded.cleared_at, cleared_by = excluded.cleared_by, cleared_reason = excluded.cleared_reason',
    );
    return { kind: 'clear', position, id, reason, by, at, route: this.routes.get(tenant, live.route) };
  }

  /** Adds an entry about a notification, which retention may have dropped. Returns the position of the entry. */
  insertChange(
    tenant: number,
    { route, position: cleared }: Pick<LiveRow, 'route' | 'position'>,
    id: string,
    { reason, by, at, note = null }: ChangeRow,
  ): number {
    const { position, previous } = this.#next(tenant);
    const { log } = tablesOf(this.#partition);
    const { time, rest } = splitId(id);
    this.sql
      .of(
        `INSERT INTO ${log} (row, tenant, position, previous, id_time, id_rest, delay, route, cleared, "by", reason, message)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        this.#nextRow,
        tenant,
        position,
        previous,
        time,
        rest,
        at - time,
        route,
        cleared,
        by,
        reason,
        note,
      );
    this.#unindexed.push({ row: this.#nextRow });
    this.#nextRow += 1;
    this.routes.touch(route, this.#partition.id);
    return position;
  }

  routeNumber(tenant: number, route: string): number {
    return this.routes.use(tenant, route, this.#partition.id).id;
  }

  /** Adds a notification without looking at its key, and without deliveries. */
  insert(tenant: number, d: DraftRow): Inserted {
    const row = this.#nextRow;
    const { position, previous } = this.#next(tenant, rowBytes(d.title, d.message));
    const { id: route, route: decided } = this.routes.use(tenant, d.route, this.#partition.id);
    this.#rows.insert({ row, tenant, position, previous, route }, d);
    this.#nextRow += 1;
    // Here, and not when the rows are indexed: a commit would wait for the terms of 250 rows.
    const terms = indexTerms(tenant, d, decided);
    this.#unindexed.push({ row, notification: { terms, receivedAt: d.receivedAt } });
    if (d.shown) {
      this.sql
        .of(
          'INSERT INTO live (row, tenant, rank, position, expires_at, key, route) VALUES (?, ?, ?, ?, ?, ?, ?)',
        )
        .run(row, tenant, d.rank, position, d.expiresAt, d.key, route);
    } else if (d.throttledOn !== null) {
      const counted = findById(this.sql, tenant, d.throttledOn);
      if (counted) this.#saveState(counted.row, 'counted', [1], 'counted = counted + 1');
    }
    return { row, position, route, decided };
  }

  /** As {@link TenantLogs.next}, for an entry in the next row. */
  #next(tenant: number, bytes?: number): NextEntry {
    const next = this.logs.next(tenant, this.#nextRow, bytes);
    if (!this.#tenants.has(tenant)) {
      this.#tenants.add(tenant);
      listTenant(this.sql, this.#partition, { tenant, ...next });
    }
    return next;
  }

  #saveState(row: number, columns: string, values: readonly (string | number)[], onConflict: string): void {
    const partition = findPartition(this.sql, row);
    if (!partition) throw new Error(`row ${row} of the log is missing`);
    this.sql
      .of(
        `INSERT INTO ${tablesOf(partition).state} (row, ${columns}) VALUES (?${', ?'.repeat(values.length)})
         ON CONFLICT DO UPDATE SET ${onConflict}`,
      )
      .run(row, ...values);
  }

  /** Begins a new partition; all of the newest one is indexed. */
  closePartition(): void {
    const { id } = this.#partition;
    this.needsMaintenance = true;
    this.sql.of('UPDATE partitions SET last_row = ? WHERE id = ?').run(this.#nextRow - 1, id);
    createPartition(this.sql.db, id + 1, this.#nextRow);
    this.#use(readNewest(this.sql));
  }

  #use(partition: Partition): void {
    this.#partition = partition;
    this.#tenants = new Set(tenantsIn(this.sql, partition));
    this.#rows = new RowWriter(this.sql, partition);
    this.routes.forget();
  }
}
