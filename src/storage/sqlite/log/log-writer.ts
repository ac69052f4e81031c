/**
 * The writer's side of the log. It runs on the writer thread, inside the transaction of a batch: everything of a batch is
 * durable, or nothing is. A row is numbered in commit order over all tenants, and has a position in its tenant's log. Rows lie
 * in partitions; only the newest one takes rows. The terms of new rows wait in memory and enter the index some hundred at a
 * time; a search reads the others from the log. After a rollback, what the writer keeps in memory (counters, routes, texts, rows
 * to index) is dropped and read again.
 */
import { limits } from '#contract/limits.ts';
import type { Clear } from '#core/log/log.ts';
import type { Route } from '#core/log/route.ts';
import { indexTerms } from '#core/search/index-terms.ts';
import {
  columnList,
  columnValue,
  type MemoryRow,
  type SuppressedRow,
  suppressKeysOf,
  toOff,
  toStoredFollows,
} from '../../log/history-rows.ts';
import type { Db } from '../file/database-file.ts';
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
import {
  type ChangeRow,
  type DraftRow,
  type PartitionName,
  Routes,
  RowReader,
  rowBytes,
  splitId,
  toBlob,
} from './rows.ts';
import { type NextEntry, TenantLogs } from './tenant-log.ts';

export interface LiveRow {
  readonly rank: number;
  readonly position: number;
  readonly row: number;
  readonly expires_at: number | null;
  readonly route: number;
}

/** A row of the live set that remembers the notifications before it. */
export interface RememberingRow extends LiveRow, MemoryRow {}

export const rememberingColumns =
  'rank, position, row, expires_at, route, since, earlier, highest_level, highest_rank, shelved, owner, escalation, step, step_at, next_step_at';

/** What a live row takes over from the one before it, and what else most live rows do not have. */
const memoryColumns = [
  ...(['earlier', 'highest_level', 'highest_rank', 'owner'] as const),
  ...(['escalation', 'step', 'step_at', 'next_step_at'] as const),
];
const rareColumns = ['shelved', 'returns_at', 'suppressed', 'follows', ...memoryColumns];

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
    { reason, by, at, note = null }: Pick<Clear, 'reason' | 'by' | 'at' | 'note'>,
  ): Clear {
    this.sql.of('DELETE FROM live WHERE row = ?').run(live.row);
    const route = this.routes.get(tenant, live.route);
    if (route.suppress) this.sql.of('DELETE FROM alarm_causes WHERE row = ?').run(live.row);
    const position = this.insertChange(tenant, live, id, { reason, by, at, note });
    this.#saveState(
      live.row,
      'cleared_at, cleared_by, cleared_reason',
      [at, by, reason],
      'cleared_at = excluded.cleared_at, cleared_by = excluded.cleared_by, cleared_reason = excluded.cleared_reason',
    );
    return { kind: 'clear', position, id, reason, by, at, ...(note !== null && { note }), route };
  }

  /** Adds an entry about a notification, which retention may have dropped. Returns the position of the entry. */
  insertChange(
    tenant: number,
    { route, position: cleared }: Pick<LiveRow, 'route' | 'position'>,
    id: string,
    { reason, by, at, note = null, until }: ChangeRow,
  ): number {
    const { position, previous } = this.#next(tenant);
    const { log } = tablesOf(this.#partition);
    const { time, rest } = splitId(id);
    this.sql
      .of(
        `INSERT INTO ${log} (row, tenant, position, previous, id_time, id_rest, delay, route, cleared, "by", reason, message, lasts)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
        until == null ? null : until - at,
      );
    this.#unindexed.push({ row: this.#nextRow });
    this.#nextRow += 1;
    this.routes.touch(route, this.#partition.id);
    return position;
  }

  /** A route that is stored as JSON, read once. */
  routeOf(tenant: number, route: string): Route {
    return this.routes.use(tenant, route, this.#partition.id).route;
  }

  routeNumber(tenant: number, route: string): number {
    return this.routes.use(tenant, route, this.#partition.id).id;
  }

  /** Adds a notification without looking at its key, and without deliveries. */
  insert(tenant: number, d: DraftRow, memory: Partial<MemoryRow> = {}): Inserted {
    const row = this.#nextRow;
    const { position, previous } = this.#next(tenant, rowBytes(d.title, d.message));
    const { id: route, route: decided } = this.routes.use(tenant, d.route, this.#partition.id);
    this.#rows.insert({ row, tenant, position, previous, route }, d);
    this.#nextRow += 1;
    // Here, and not when the rows are indexed: a commit would wait for the terms of 250 rows.
    const terms = indexTerms(tenant, d, decided);
    this.#unindexed.push({ row, notification: { terms, receivedAt: d.receivedAt } });
    if (d.shown) {
      this.#insertLive({ row, tenant, position, route }, d, { decided, memory });
    } else if (d.throttledOn !== null) {
      const counted = findById(this.sql, tenant, d.throttledOn);
      if (counted) this.#saveState(counted.row, 'counted', [1], 'counted = counted + 1');
    }
    return { row, position, route, decided };
  }

  #insertLive(
    { row, tenant, position, route }: Omit<RowPlace, 'previous'>,
    d: DraftRow,
    { decided, memory }: { readonly decided: Route; readonly memory: Partial<MemoryRow> },
  ): void {
    const keys = suppressKeysOf(d, decided);
    const rare = [
      ...offPanels(d, decided, memory.shelved ?? null),
      toStoredFollows(keys),
      ...memoryColumns.map((column) => memory[column] ?? null),
    ];
    // Most are the first of their alarm and have no rules of their own. Each value that is bound costs the writer time.
    const columns = rare.every((each) => each === null) ? [] : rareColumns;
    this.sql
      .of(
        `INSERT INTO live (row, tenant, rank, position, expires_at, key, route, since${columns.map((each) => `, ${each}`).join('')})
         VALUES (?, ?, ?, ?, ?, ?, ?, ?${', ?'.repeat(columns.length)})`,
      )
      .run(
        ...[row, tenant, d.rank, position, d.expiresAt, d.key, route, memory.since ?? d.receivedAt],
        ...(columns.length > 0 ? rare : []),
      );
    for (const { key, rule } of keys.causes)
      this.sql
        .of(
          `INSERT OR IGNORE INTO alarm_causes (tenant, key, row, rule, revision, is_new)
           SELECT @tenant, @key, @row, @rule, @revision, 1
           WHERE (SELECT count(*) FROM alarm_causes WHERE tenant = @tenant) < ${limits.suppressCauses}`,
        )
        .run({ tenant, key, row, rule, revision: decided.revision });
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

/** The columns shelved, returns_at and suppressed. */
function offPanels(
  { receivedAt: at }: DraftRow,
  { suppressed }: Route,
  shelf: string | null,
): (string | number | null)[] {
  if (!suppressed) return [shelf, shelf === null ? null : (toOff(shelf).shelved?.until ?? null), null];
  const { by, key } = suppressed;
  return [JSON.stringify({ at, by } satisfies SuppressedRow), null, key];
}

interface RowPlace {
  readonly row: number;
  readonly tenant: number;
  readonly position: number;
  /** The row of the tenant's entry before this one. */
  readonly previous: number;
  /** The number of the route. */
  readonly route: number;
}

/** The most texts of a dictionary. Keys and labels stay in their rows earlier: a sender may send new ones each time. */
const mostDictionaryTexts = 10_000;
const mostOftenNew = 5_000;
const oftenNew: ReadonlySet<string> = new Set(['key', 'labels']);
/** A longer text stays in its row. */
const mostTextChars = 300;

/**
 * Writes notifications to the newest partition's log, and texts that rows share to its dictionary. Runs inside the writer's
 * transactions; after a rollback, it must be replaced by a new one.
 */
class RowWriter {
  readonly #sql: Statements;
  readonly #dictionary: string;
  readonly #numbers = new Map<string, bigint>();
  readonly #insert: string;

  constructor(sql: Statements, partition: PartitionName) {
    this.#sql = sql;
    const { log, dictionary } = tablesOf(partition);
    this.#dictionary = dictionary;
    const known = sql.of<[], { id: number; text: string }>(`SELECT id, text FROM ${dictionary}`).all();
    for (const { id, text } of known) this.#numbers.set(text, BigInt(id));
    const columns = columnList.map(([, { column }]) => column);
    this.#insert = `INSERT INTO ${log} (row, tenant, position, previous, id_time, id_rest, delay, route, ttl, lasts, throttled_on, throttle_count,
        ${columns.join(', ')})
      VALUES (?, ?, ?, ?, ?, unhex(?, '-'), ?, ?, ?, ?, ?, ?, ${columns.map(() => '?').join(', ')})`;
  }

  insert({ row, tenant, position, previous, route }: RowPlace, d: DraftRow): void {
    const time = Number.parseInt(d.id.slice(0, 8) + d.id.slice(9, 13), 16);
    const lasts = d.expiresAt === null ? null : d.expiresAt - d.receivedAt;
    this.#sql.of(this.#insert).run(
      ...[row, tenant, position, previous, time, d.id.slice(14), d.receivedAt - time, route],
      ...[d.ttl === (lasts ?? 0) ? null : d.ttl, lasts],
      ...[d.throttledOn === null ? null : toBlob(d.throttledOn), d.throttleCount],
      ...columnList.map(([field, { kind }]) => {
        const value = columnValue(d, field);
        return kind === 'shared'
          ? this.#store(value as string | null, oftenNew.has(field) ? mostOftenNew : mostDictionaryTexts)
          : value;
      }),
    );
  }

  /** The value of a column for this text. A whole number must be bound as a bigint, because the column has no type to convert it. */
  #store(text: string | null, most: number): bigint | string | null {
    if (text === null) return null;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    if (this.#numbers.size >= most || text.length > mostTextChars) return text;
    const id = BigInt(this.#numbers.size + 1);
    this.#sql.of(`INSERT INTO ${this.#dictionary} (id, text) VALUES (?, ?)`).run(id, text);
    this.#numbers.set(text, id);
    return id;
  }
}
