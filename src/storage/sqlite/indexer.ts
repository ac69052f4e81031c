/**
 * Fills the search indexes from the log, off the commit path. Each slice is one transaction that writes postings and
 * moves `logs.indexed` over them, so a crash leaves an entry either indexed or in the tail that searches read as well.
 */
import type { Database, Statement } from 'better-sqlite3';
import { entryOf, positionMask } from './rows.ts';

/** A slice ends after this much text, however few rows that is: splitting it into words takes about 20 ns a character. */
const sliceChars = 200_000;

interface LogRow {
  readonly position: number;
  readonly id: Buffer;
  readonly title: string;
  readonly message: string;
  readonly host_key: string | null;
  readonly ip_key: Buffer | null;
  readonly source_ip_key: Buffer;
  readonly level: string;
  readonly token_id: string;
  readonly key: string | null;
  readonly route: number;
  readonly received_at: number;
  readonly muted: number;
  readonly routed: number;
  readonly expires_at: number | null;
  readonly throttled: number;
  readonly shown: number;
}

type IndexedValue = string | number | Buffer;
const hourMs = 3_600_000;

/** The postings: one table each, and what of a notification it is looked up by. */
const postings: readonly (readonly [
  table: string,
  column: string,
  value: (row: LogRow) => IndexedValue | null,
])[] = [
  ['index_host', 'host', ({ host_key }) => host_key],
  ['index_ip', 'ip', ({ ip_key }) => ip_key],
  ['index_source', 'ip', ({ source_ip_key }) => source_ip_key],
  ['index_level', 'level', ({ level }) => level],
  ['index_token', 'token_id', ({ token_id }) => token_id],
  ['index_key', 'key', ({ key }) => key],
  ['index_route', 'route', ({ route }) => route],
];

/**
 * What a search finds a notification by besides what it holds. "unseen" lists what no panel had shown when it was indexed; that
 * it was shown since, the search itself sees, and {@link markSeen} takes it out.
 */
const states: readonly (readonly [state: string, holds: (row: LogRow) => boolean])[] = [
  ['throttled', ({ throttled }) => throttled === 1],
  ['unseen', (row) => isForPanels(row) && row.shown === 0],
  ['expires', (row) => isForPanels(row) && row.expires_at !== null],
];

const isForPanels = ({ muted, throttled, routed }: LogRow) => muted === 0 && throttled === 0 && routed === 1;

interface Sliced {
  readonly tenant: number;
  readonly rows: readonly LogRow[];
}

/**
 * Indexes at most about `maxRows` notifications that are not yet, in one transaction; every tenant that is behind gets its
 * share. `behind` tells that there is more to do.
 */
export function indexSlice(db: Database, maxRows: number): { indexed: number; behind: boolean } {
  const statements = statementsOf(db);
  return immediate(db, () => {
    const logs = statements.behind.all();
    const share = Math.max(1, Math.floor(maxRows / Math.max(1, logs.length)));
    const slices: Sliced[] = [];
    let left = maxRows;
    let chars = sliceChars;
    let behind = false;
    for (const { tenant, indexed, head } of logs) {
      if (left <= 0 || chars <= 0) {
        behind = true;
        break;
      }
      const rows: LogRow[] = [];
      const limit = Math.min(share, left);
      for (const row of statements.rows.iterate(tenant, indexed, tenant, head, limit)) {
        rows.push(row);
        chars -= row.title.length + row.message.length;
        if (chars <= 0) break;
      }
      const complete = rows.length < limit && chars > 0;
      const reached = complete ? head : (rows.at(-1)?.position ?? head);
      statements.advance.run(reached, tenant);
      behind ||= reached < head;
      left -= rows.length;
      slices.push({ tenant, rows });
    }
    for (const insert of statements.inserts) insert(slices);
    return { indexed: maxRows - left, behind };
  });
}

/**
 * Takes the notifications from one position to another, both included, out of the indexes. To be called inside the
 * transaction that drops them, before it does.
 */
export function unindex(db: Database, tenant: number, from: number, upTo: number): void {
  const statements = statementsOf(db);
  const { indexed } = statements.indexed.get(tenant) ?? { indexed: 0 };
  const rows = statements.rows.all(tenant, from - 1, tenant, Math.min(upTo, indexed), -1);
  for (const remove of statements.removes) remove([{ tenant, rows }]);
  statements.dropHours.run(tenant, upTo);
}

/**
 * Takes a notification out of the list of those no panel has shown; harmless when it is not on it. Not calling it costs
 * searches for `is:unseen` time, never an answer.
 */
export function markSeen(db: Database, tenant: number, position: number): void {
  statementsOf(db).markSeen.run(tenant, position);
}

type Work = (slices: readonly Sliced[]) => void;

interface Statements {
  readonly behind: Statement<[], { tenant: number; indexed: number; head: number }>;
  readonly indexed: Statement<[number], { indexed: number }>;
  readonly rows: Statement<[number, number, number, number, number], LogRow>;
  readonly advance: Statement<[number, number]>;
  readonly dropHours: Statement<[number, number]>;
  readonly markSeen: Statement<[number, number]>;
  readonly inserts: readonly Work[];
  readonly removes: readonly Work[];
}

const prepared = new WeakMap<Database, Statements>();

function statementsOf(db: Database): Statements {
  let statements = prepared.get(db);
  if (!statements) {
    statements = prepareStatements(db);
    prepared.set(db, statements);
  }
  return statements;
}

function prepareStatements(db: Database): Statements {
  const addId = db.prepare('INSERT OR REPLACE INTO index_id (tenant, id, position) VALUES (?, ?, ?)');
  const dropId = db.prepare('DELETE FROM index_id WHERE tenant = ? AND id = ?');
  const addText = db.prepare(
    `INSERT INTO index_text (rowid, title, message) VALUES (${entryOf('?', '?')}, ?, ?)`,
  );
  const dropText = db.prepare(`DELETE FROM index_text WHERE rowid = ${entryOf('?', '?')}`);
  return {
    behind: db.prepare('SELECT tenant, indexed, head FROM logs WHERE indexed < head ORDER BY indexed - head'),
    indexed: db.prepare('SELECT indexed FROM logs WHERE tenant = ?'),
    rows: db.prepare(`SELECT entry & ${positionMask} AS position, id, title, message, host_key, ip_key, source_ip_key, level,
        token_id, key, route, received_at, expires_at, muted, throttled_on IS NOT NULL AS throttled,
        EXISTS (SELECT 1 FROM receipts r WHERE r.tenant = entry >> 40 AND r.position = entry & ${positionMask}
          AND r.shown_at IS NOT NULL) AS shown,
        (SELECT route ->> '$.target.all' OR route ->> '$.target.ids' <> '[]' OR route ->> '$.target.tags' <> '[]'
          FROM routes t WHERE t.tenant = entry >> 40 AND t.id = notifications.route) AS routed
      FROM notifications WHERE entry > ${entryOf('?', '?')} AND entry <= ${entryOf('?', '?')} ORDER BY entry LIMIT ?`),
    advance: db.prepare('UPDATE logs SET indexed = ? WHERE tenant = ?'),
    dropHours: db.prepare('DELETE FROM index_hour WHERE tenant = ? AND last <= ?'),
    markSeen: db.prepare("DELETE FROM index_state WHERE tenant = ? AND state = 'unseen' AND position = ?"),
    inserts: [
      addHours(db),
      ...states.map(([state, holds]) =>
        eachPosting(
          db.prepare('INSERT OR IGNORE INTO index_state (tenant, state, position) VALUES (?, ?, ?)'),
          (row) => (holds(row) ? state : null),
        ),
      ),
      eachRow((tenant, row) => addId.run(tenant, row.id, row.position)),
      eachRow((tenant, row) => addText.run(tenant, row.position, row.title, row.message)),
      ...postings.map(([table, column, value]) =>
        eachPosting(
          db.prepare(`INSERT OR IGNORE INTO ${table} (tenant, ${column}, position) VALUES (?, ?, ?)`),
          value,
        ),
      ),
    ],
    removes: [
      ...states.map(([state]) =>
        eachPosting(
          db.prepare('DELETE FROM index_state WHERE tenant = ? AND state = ? AND position = ?'),
          () => state,
        ),
      ),
      eachRow((tenant, row) => dropId.run(tenant, row.id)),
      eachRow((tenant, row) => dropText.run(tenant, row.position)),
      ...postings.map(([table, column, value]) =>
        eachPosting(
          db.prepare(`DELETE FROM ${table} WHERE tenant = ? AND ${column} = ? AND position = ?`),
          value,
        ),
      ),
    ],
  };
}

/** Where in the log each hour's notifications stand. */
function addHours(db: Database): Work {
  const statement = db.prepare(`INSERT INTO index_hour (tenant, hour, first, last) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last)`);
  return (slices) => {
    for (const { tenant, rows } of slices) {
      const hours = new Map<number, { first: number; last: number }>();
      for (const { received_at, position } of rows) {
        const hour = Math.floor(received_at / hourMs);
        hours.set(hour, { first: hours.get(hour)?.first ?? position, last: position });
      }
      for (const [hour, { first, last }] of hours) statement.run(tenant, hour, first, last);
    }
  };
}

const eachRow =
  (work: (tenant: number, row: LogRow) => void): Work =>
  (slices) => {
    for (const { tenant, rows } of slices) for (const row of rows) work(tenant, row);
  };

/** Values in order touch each page of the table once. */
const eachPosting =
  (statement: Statement, value: (row: LogRow) => IndexedValue | null): Work =>
  (slices) => {
    for (const { tenant, rows } of slices) {
      const found: { value: IndexedValue; position: number }[] = [];
      for (const row of rows) {
        const indexed = value(row);
        if (indexed !== null) found.push({ value: indexed, position: row.position });
      }
      found.sort((a, b) => compare(a.value, b.value));
      for (const posting of found) statement.run(tenant, posting.value, posting.position);
    }
  };

function compare(a: IndexedValue, b: IndexedValue): number {
  if (Buffer.isBuffer(a) && Buffer.isBuffer(b)) return Buffer.compare(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

function immediate<T>(db: Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const value = work();
    db.exec('COMMIT');
    return value;
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
