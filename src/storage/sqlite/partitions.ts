/**
 * The log's rows lie in partitions: tables of their own for each run of rows, in the order of commits, shared by all tenants.
 * The newest partition takes rows until it is full; then it is closed, and nothing in its log changes any more. What changes
 * later (a notification is cleared, shown, counted on) is kept beside it, in `state` and `receipts`.
 *
 * Retention drops whole partitions. One of which only a part is still kept is written anew without the rest: its log and its
 * terms then have the next generation.
 */
import type { Database, Statement } from 'better-sqlite3';

/** Rows after which a partition is closed. Every piece of work on one stays short: searching, sealing, dropping. */
export const partitionRows = 250_000;

/** Pieces of an index that are merged into one. */
export const mergedPieces = 8;

export interface Partition {
  readonly id: number;
  readonly generation: number;
  readonly firstRow: number;
  /** null: it still takes rows. */
  readonly lastRow: number | null;
  /** The terms of every row up to here are indexed; firstRow - 1 at first. */
  readonly indexed: number;
  /** The earliest and the latest minute (Unix time / 60000) of its indexed notifications; null without any. */
  readonly firstMinute: number | null;
  readonly lastMinute: number | null;
  /** Its index is merged into one piece. */
  readonly sealed: 0 | 1;
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

const newestFirst = `SELECT id, generation, first_row AS firstRow, last_row AS lastRow, indexed,
  first_minute AS firstMinute, last_minute AS lastMinute, sealed FROM partitions ORDER BY first_row DESC`;

/** Newest first. */
export const readPartitions = (statements: Statements): Partition[] =>
  statements.of<[], Partition>(newestFirst).all();

/** The same one by one, for whoever may need the newest alone. */
export const eachPartition = (statements: Statements): Iterable<Partition> =>
  statements.of<[], Partition>(newestFirst).iterate();

/** The partition in which a row lies, or did. */
export function findPartition(statements: Statements, row: number): Partition | undefined {
  for (const partition of eachPartition(statements)) if (partition.firstRow <= row) return partition;
  return undefined;
}

/** The partition that takes rows. */
export function readNewest(statements: Statements): Partition {
  const [newest] = eachPartition(statements);
  if (!newest) throw new Error('the log has no partition');
  return newest;
}

export const lastRowOf = ({ lastRow }: Partition): number => lastRow ?? Number.MAX_SAFE_INTEGER;

/** Makes the first partition of a new database. */
export function ensurePartition(db: Database): void {
  db.transaction(() => {
    const { count } = db.prepare<[], { count: number }>('SELECT count(*) AS count FROM partitions').get() ?? {
      count: 0,
    };
    if (count === 0) createPartition(db, 1, 1);
  }).immediate();
}

/** Makes a partition whose first row is `firstRow`, in the caller's transaction. */
export function createPartition(db: Database, id: number, firstRow: number): void {
  const { state, receipts } = tablesOf({ id, generation: 0 });
  createLogTables(db, { id, generation: 0 });
  db.exec(`
    -- What has changed about a notification since it was stored; rows without a change are not here.
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
      PRIMARY KEY (row, panel_id)
    ) WITHOUT ROWID;`);
  db.prepare(
    'INSERT INTO partitions (id, generation, first_row, indexed, sealed) VALUES (?, 0, ?, ?, 0)',
  ).run(id, firstRow, firstRow - 1);
}

/** The tables of one generation: the log itself, its dictionary, and the terms by which its notifications are found. */
export function createLogTables(db: Database, partition: Pick<Partition, 'id' | 'generation'>): void {
  const { log, terms, dictionary } = tablesOf(partition);
  db.exec(`
    -- Texts that rows share. A column of the log without a type holds the number of a text here, or the text itself.
    CREATE TABLE ${dictionary} (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
    -- An entry is a notification, or (cleared is not null) the clearing of one: then the id is that notification's, and all
    -- columns below reason are null.
    CREATE TABLE ${log} (
      row INTEGER PRIMARY KEY,     -- in the order of commits, over all tenants
      tenant INTEGER NOT NULL,
      position INTEGER NOT NULL,
      id_time INTEGER NOT NULL,    -- the id's first 48 bits: Unix milliseconds
      id_rest BLOB NOT NULL,       -- its other 10 bytes
      delay INTEGER NOT NULL,      -- from the id's time until it was received, or cleared; milliseconds
      route INTEGER NOT NULL,
      cleared INTEGER,             -- position of the notification that was cleared
      "by" TEXT,
      reason TEXT,
      title TEXT,
      message TEXT,
      level,
      rank INTEGER,
      ttl INTEGER,                 -- null: the same as lasts
      sent_level,                  -- null: the same as level
      sent_ttl INTEGER,
      lasts INTEGER,               -- from its receipt until it expires, milliseconds; null: until it is cleared
      ip,
      host,
      key,
      url TEXT,
      source_ip,
      token_id,
      throttled_on BLOB,
      throttle_count INTEGER,
      at INTEGER AS (id_time + delay)
    );
    CREATE UNIQUE INDEX ${log}_position ON ${log} (tenant, position);
    CREATE INDEX ${log}_id ON ${log} (id_time) WHERE cleared IS NULL;
    -- Terms come split and folded from core/search/index-terms.ts: what they are made of must not split or fold them again.
    CREATE VIRTUAL TABLE ${terms} USING fts5 (
      terms, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '._:/%-'"
    );
    -- Nothing is merged by a commit. Between commits (see maintenance.ts) pieces of a size are merged once there are eight of
    -- them, so that a search meets some twenty at most; and all of them when the partition is closed.
    INSERT INTO ${terms} (${terms}, rank) VALUES ('automerge', 0), ('crisismerge', 1999), ('usermerge', ${mergedPieces});`);
}

/** Statements are many when every partition has its own; when they are more than this, all are prepared again. */
const mostStatements = 1_000;

/** Statements of one connection, prepared once each. */
export class Statements {
  readonly db: Database;
  readonly #prepared = new Map<string, Statement>();

  constructor(db: Database) {
    this.db = db;
  }

  of<Parameters extends unknown[], Row>(sql: string): Statement<Parameters, Row> {
    let statement = this.#prepared.get(sql);
    if (!statement) {
      if (this.#prepared.size >= mostStatements) this.#prepared.clear();
      statement = this.db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement as Statement<Parameters, Row>;
  }

  /** After a rollback: what was prepared may speak of tables that are no more. */
  forget(): void {
    this.#prepared.clear();
  }
}
