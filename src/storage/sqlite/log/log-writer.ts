import { limits } from '#contract/limits.ts';
import type { Acknowledgement, Clear, Idempotency, RepeatOutcome, Route } from '#core/ports.ts';
import { indexTerms } from '#core/search/index-terms.ts';
import { toRepeat } from '../../history-rows.ts';
import type { Db } from '../file/database.ts';
import { indexBatchRows, indexRows, readUnindexed, type UnindexedRow } from './log-index.ts';
import { findById, findRetry, idAt } from './log-lookup.ts';
import {
  createPartition,
  findPartition,
  mergedSegments,
  type Partition,
  partitionRows,
  readNewest,
  Statements,
  tablesOf,
} from './partitions.ts';
import { Routes } from './routes.ts';
import { RowWriter } from './row-writer.ts';
import { type ChangeRow, type DraftRow, RowReader, rowBytes, toBlob, toIdParts } from './rows.ts';
import { TenantLogs } from './tenant-log.ts';

export interface LiveRow {
  readonly rank: number;
  readonly position: number;
  readonly row: number;
  readonly expires_at: number | null;
  readonly route: number;
}

export type AppendResult =
  | {
      readonly kind: 'stored';
      readonly position: number;
      readonly clears: readonly Clear[];
      /** Taken over from what it replaced. */
      readonly acknowledgement?: Acknowledgement | undefined;
    }
  | RepeatOutcome;

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
  /** There are pieces of an index to merge, or dead rows. The writer thread sets it to false when it starts maintenance. */
  needsMaintenance = false;
  /** It takes a look at all partitions of all tenants to know. */
  mayHaveDead = true;
  readonly sizes: LogSizes;
  readonly routes: Routes;
  #isStale = true;
  #partition = {} as Partition;
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

  /** Durable when this returns, on a database that is. After an error nothing of `work` is stored. */
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

  /** What is remembered of the log may not be stored: it is read anew. */
  afterRollback(): void {
    this.logs.forget();
    this.sql.forget();
    this.#isStale = true;
    this.mayHaveDead = true;
  }

  /** Indexes whatever is not, however little that is. */
  indexAll(): void {
    indexRows(this.sql, this.#partition, this.#unindexed);
    this.#unindexed = [];
    this.#pieces += 1;
    if (this.#pieces % mergedSegments === 0) this.needsMaintenance = true;
  }

  append(tenant: number, draft: DraftRow, idempotency: Idempotency | null): AppendResult {
    if (idempotency) {
      const { key, hash, until = draft.receivedAt + limits.idempotencyMs } = idempotency;
      const repeat = toRepeat(findRetry(this, tenant, key, draft.receivedAt), idempotency);
      if (repeat) return repeat;
      this.sql
        .of('INSERT OR REPLACE INTO idempotency (tenant, key, hash, id, expires_at) VALUES (?, ?, ?, ?, ?)')
        .run(tenant, key, hash, toBlob(draft.id), until);
    }
    const clears = draft.key === null ? [] : this.#replace(tenant, draft.key, draft);
    const { position, route } = this.insert(tenant, draft);
    // What a throttle counted goes to no channel.
    if (draft.throttledOn === null) this.#queueDeliveries(tenant, draft, position, route.channels);
    return { kind: 'stored', position, clears };
  }

  /** `channels`: those that its route names. One that is deleted or disabled gets nothing. */
  #queueDeliveries(
    tenant: number,
    draft: DraftRow,
    position: number,
    channels: Route['channels'] = [],
  ): void {
    for (const channel of channels)
      this.sql
        .of(
          `INSERT INTO deliveries (tenant, channel, position, notification, state, queued_at)
           SELECT tenant, id, ?, ?, 'pending', ? FROM channels WHERE tenant = ? AND id = ? AND enabled = 1`,
        )
        .run(position, draft.id, draft.receivedAt, tenant, channel);
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

  /** Adds an entry about a notification, whether or not that is kept; answers its position. */
  insertChange(
    tenant: number,
    { route, position: cleared }: Pick<LiveRow, 'route' | 'position'>,
    id: string,
    { reason, by, at, note = null }: ChangeRow,
  ): number {
    const { position, previous } = this.logs.next(tenant, this.#nextRow);
    const { log } = tablesOf(this.#partition);
    const { time, rest } = toIdParts(id);
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
    this.#unindexed.push({ row: this.#nextRow, tenant, position });
    this.#nextRow += 1;
    this.routes.touch(route, this.#partition.id);
    return position;
  }

  routeNumber(tenant: number, route: string): number {
    return this.routes.use(tenant, route, this.#partition.id).id;
  }

  /**
   * Clears whatever is live under the key: an "up" takes its "down" off the panels. What a throttle counted is not shown
   * itself, so it leaves the one it was counted on.
   */
  #replace(tenant: number, key: string, by: DraftRow): Clear[] {
    const clears: Clear[] = [];
    const rows = this.sql
      .of<[number, string, number], LiveRow>(
        // SQLite would go through all that the tenant has on panels.
        `SELECT rank, position, row, expires_at, route FROM live INDEXED BY live_keys
         WHERE tenant = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY position`,
      )
      .all(tenant, key, by.receivedAt);
    for (const row of rows) {
      const id = idAt(this.sql, row.row);
      if (id === by.throttledOn) continue;
      clears.push(this.takeOff(tenant, row, id, { reason: 'replaced', by: by.id, at: by.receivedAt }));
    }
    return clears;
  }

  /** Adds a notification without looking at its key, and without deliveries. */
  insert(tenant: number, d: DraftRow): { readonly position: number; readonly route: Route } {
    const row = this.#nextRow;
    const { position, previous } = this.logs.next(tenant, row, rowBytes(d.title, d.message));
    const { id: route, route: decided } = this.routes.use(tenant, d.route, this.#partition.id);
    this.#rows.insert({ row, tenant, position, previous, route }, d);
    this.#nextRow += 1;
    // Here, and not when the rows are indexed: a commit would wait for the terms of 250 rows.
    const terms = indexTerms(tenant, d, decided);
    const notification = { terms, level: d.level, receivedAt: d.receivedAt };
    this.#unindexed.push({ row, tenant, position, notification });
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
    return { position, route: decided };
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
    this.#rows = new RowWriter(this.sql, partition);
    this.routes.forget();
  }
}
