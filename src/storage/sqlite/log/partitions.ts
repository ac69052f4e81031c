/**
 * The partitions of the log, and their tables (ADR 13). If retention must keep some rows of a partition, they are copied to new
 * log, terms and dictionary tables, which have the next generation number.
 */
import type { Database, Statement } from 'better-sqlite3';
import { columnList, type FieldColumn, receivedBetween } from '../../log/history-rows.ts';
import { minuteMs } from '../../search/log-search.ts';

/** The rows of a full partition. The limit keeps each search, seal and drop of one partition short. */
export const partitionRows = 250_000;

/** A new partition's index on positions has one in so many: a commit changes a page of it for each of its tenants. */
const positionStep = 16;

/** The number of FTS5 index segments that are merged into one. */
export const mergedSegments = 8;

export interface Partition {
  readonly id: number;
  readonly generation: number;
  readonly firstRow: number;
  /** null for the newest partition, which still takes rows. */
  readonly lastRow: number | null;
  /** The last row whose terms are indexed; firstRow - 1 if there is none. */
  readonly indexed: number;
  /** The earliest and latest minute (Unix milliseconds / 60000) of its indexed notifications; null if it has none. */
  readonly firstMinute: number | null;
  readonly lastMinute: number | null;
  /** 1: its index is merged into one segment. */
  readonly sealed: 0 | 1;
  /** The index on positions has those that this number divides. */
  readonly positionStep: number;
}

export interface PartitionTables {
  readonly log: string;
  readonly terms: string;
  readonly dictionary: string;
  readonly state: string;
  readonly receipts: string;
}

export function tablesOf({ id, generation }: Pick<Partition, 'id' | 'generation'>): PartitionTables {
  const name = `${id}_${generation}`;
  return {
    log: `log_${name}`,
    terms: `terms_${name}`,
    dictionary: `dictionary_${name}`,
    state: `state_${id}`,
    receipts: `receipts_${id}`,
  };
}

const columns = `id, generation, first_row AS firstRow, last_row AS lastRow, indexed, first_minute AS firstMinute,
  last_minute AS lastMinute, sealed, position_step AS positionStep`;

/** Newest first. */
export const readPartitions = (statements: Statements): Partition[] =>
  statements.of<[], Partition>(`SELECT ${columns} FROM partitions ORDER BY first_row DESC`).all();

/**
 * The partitions that may have a notification with an id of this time, newest first: all in whose minutes it may have been
 * received, and the newest, whose rows may not be indexed yet. They are read one at a time, for callers that stop early.
 */
export function partitionsOfId(statements: Statements, idTime: number): Iterable<Partition> {
  const { earliest, latest } = receivedBetween(idTime);
  return statements
    .of<[number, number], Partition>(
      `SELECT ${columns} FROM partitions WHERE last_row IS NULL OR (last_minute >= ? AND first_minute <= ?) ORDER BY first_row DESC`,
    )
    .iterate(Math.floor(earliest / minuteMs), Math.floor(latest / minuteMs));
}

/** Returns the partition whose range has the row, even if retention removed the row. */
export const findPartition = (statements: Statements, row: number): Partition | undefined =>
  statements
    .of<[number], Partition>(
      `SELECT ${columns} FROM partitions WHERE first_row <= ? ORDER BY first_row DESC LIMIT 1`,
    )
    .get(row);

export function readNewest(statements: Statements): Partition {
  const newest = findPartition(statements, Number.MAX_SAFE_INTEGER);
  if (!newest) throw new Error('the log has no partition');
  return newest;
}

export const lastRowOf = ({ lastRow }: Partition): number => lastRow ?? Number.MAX_SAFE_INTEGER;

/** 1: the panel showed it as part of the card or row of a group. */
const inGroupColumn = 'in_group INTEGER';

/**
 * Creates the first partition of a new database. The partitions of an older one, and their unfinished copies, get the columns
 * that are new since.
 */
export function ensurePartition(db: Database): void {
  db.transaction(() => {
    const sql = new Statements(db);
    if (readPartitions(sql).length === 0) createPartition(db, 1, 1);
    const all = sql.of<[], Pick<Partition, 'id' | 'generation'>>(
      'SELECT id, generation FROM partitions UNION SELECT id, generation FROM retired_partitions',
    );
    const ofLog = columnList.map(([, column]) => definitionOf(column));
    for (const { log, receipts } of all.all().map(tablesOf)) {
      addColumns(db, log, ofLog);
      addColumns(db, receipts, [inGroupColumn]);
    }
  }).immediate();
}

/** Adds those that a table lacks; a definition begins with the name. */
function addColumns(db: Database, table: string, definitions: readonly string[]): void {
  const has = new Set(
    db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table),
  );
  if (has.size === 0) return; // of a retired partition, whose table is dropped
  for (const definition of definitions)
    if (!has.has(definition.split(' ', 1)[0] ?? '')) db.exec(`ALTER TABLE ${table} ADD COLUMN ${definition}`);
}

/** A tenant's first entry in a partition. */
interface FirstEntry {
  readonly tenant: number;
  readonly position: number;
  readonly previous: number | null;
}

/** Lists a tenant with its first entry in the newest partition. So its last one in an older partition is known, too. */
export function listTenant(
  sql: Statements,
  { id }: Pick<Partition, 'id'>,
  { tenant, position, previous }: FirstEntry,
): void {
  sql
    .of(
      'UPDATE partition_tenants SET last_position = ?, last_row = ? WHERE tenant = ? AND last_position IS NULL',
    )
    .run(position - 1, previous, tenant);
  sql
    .of('INSERT INTO partition_tenants (tenant, partition, first_position) VALUES (?, ?, ?)')
    .run(tenant, id, position);
}

/** The tenants that have entries in a partition; at most `limit` of them. */
export const tenantsIn = (sql: Statements, { id }: Pick<Partition, 'id'>, limit = -1): number[] =>
  sql
    .of<[number, number], { tenant: number }>(
      'SELECT tenant FROM partition_tenants WHERE partition = ? LIMIT ?',
    )
    .all(id, limit)
    .map(({ tenant }) => tenant);

/** Runs in the caller's transaction. */
export function createPartition(db: Database, id: number, firstRow: number): void {
  const { state, receipts } = tablesOf({ id, generation: 0 });
  createLogTables(db, { id, generation: 0, positionStep });
  db.exec(`
    -- Changes of a notification after it was stored. A notification without changes has no row.
    CREATE TABLE ${state} (
      row INTEGER PRIMARY KEY,
      cleared_at INTEGER,
      cleared_by TEXT,
      cleared_reason TEXT,
      counted INTEGER NOT NULL DEFAULT 0   -- how many a throttle has counted on it
    );
    CREATE TABLE ${receipts} (
      row INTEGER NOT NULL,
      panel_id TEXT NOT NULL,
      shown_at INTEGER,
      expired_at INTEGER,
      cleared_at INTEGER,
      ${inGroupColumn},
      PRIMARY KEY (row, panel_id)
    ) WITHOUT ROWID;`);
  db.prepare(
    'INSERT INTO partitions (id, generation, first_row, indexed, sealed, position_step) VALUES (?, 0, ?, ?, 0, ?)',
  ).run(id, firstRow, firstRow - 1, positionStep);
}

const definitionOf = ({ column, kind }: FieldColumn): string =>
  `${column}${{ text: ' TEXT', number: ' INTEGER', shared: '' }[kind]}`;

/** Creates the tables of one generation: the log, its dictionary, and the terms for search. */
export function createLogTables(
  db: Database,
  partition: Pick<Partition, 'id' | 'generation' | 'positionStep'>,
): void {
  const { log, terms, dictionary } = tablesOf(partition);
  db.exec(`
    -- Texts that several rows share. A log column without a type holds the id of a text here, or the text itself.
    CREATE TABLE ${dictionary} (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
    -- A row is a notification, or the clearing of one (cleared is not null). A clearing has the id of the notification, and
    -- null in all columns below reason.
    CREATE TABLE ${log} (
      row INTEGER PRIMARY KEY,     -- in the order of commits, over all tenants
      tenant INTEGER NOT NULL,
      position INTEGER NOT NULL,
      previous INTEGER,            -- the row of the tenant's entry before this one; null in a partition whose index has all positions
      id_time INTEGER NOT NULL,    -- the id's first 48 bits: Unix milliseconds
      id_rest BLOB NOT NULL,       -- its other 10 bytes
      delay INTEGER NOT NULL,      -- from the id's time until it was received, or cleared; milliseconds
      route INTEGER NOT NULL,
      cleared INTEGER,             -- position of the notification that was cleared
      "by" TEXT,
      reason TEXT,
      ttl INTEGER,                 -- null: the same as lasts
      lasts INTEGER,               -- from its receipt until it expires, milliseconds; null: until it is cleared
      throttled_on BLOB,
      throttle_count INTEGER,
      ${columnList.map(([, column]) => `${definitionOf(column)},`).join('\n      ')}
      at INTEGER AS (id_time + delay)
    );
    CREATE UNIQUE INDEX ${log}_position ON ${log} (tenant, position) WHERE position % ${partition.positionStep} = 0;
    CREATE INDEX ${log}_id ON ${log} (id_time) WHERE cleared IS NULL;
    -- core/search/index-terms.ts splits and folds the terms. The tokenizer must not split or fold them again.
    CREATE VIRTUAL TABLE ${terms} USING fts5 (
      terms, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '._:/%-'"
    );
    -- A commit merges no segments. Between commits, maintenance.ts merges segments of one size when there are eight of them,
    -- so that a search reads about twenty at most. When the partition is closed, it merges all of them.
    INSERT INTO ${terms} (${terms}, rank) VALUES ('automerge', 0), ('crisismerge', 1999), ('usermerge', ${mergedSegments});`);
}

/** Pages of an FTS5 index that have a fixed id in its `_data` table: the totals, and the list of segments. */
export const indexPages = { totals: 1, segments: 10 };

export const tableExists = (sql: Statements, name: string): boolean =>
  sql.of<[string], unknown>('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined;

/** Each partition has its own statements. Above this number, all prepared statements are dropped, to bound memory. */
const maxStatements = 1_000;

/** The prepared statements of one connection; each is prepared once. */
export class Statements {
  readonly db: Database;
  readonly #prepared = new Map<string, Statement>();

  constructor(db: Database) {
    this.db = db;
  }

  of<Parameters extends unknown[], Row>(sql: string): Statement<Parameters, Row> {
    let statement = this.#prepared.get(sql);
    if (!statement) {
      if (this.#prepared.size >= maxStatements) this.#prepared.clear();
      statement = this.db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement as Statement<Parameters, Row>;
  }

  /** Must be called after a rollback, because prepared statements may use tables that no longer exist. */
  forget(): void {
    this.#prepared.clear();
  }
}
