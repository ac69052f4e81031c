/**
 * Fills the search indexes from the log, off the commit path. Each slice is one transaction that writes postings and
 * moves `logs.indexed` over them, so a crash leaves an entry either indexed or in the tail that searches read as well.
 */
import type { Database, Statement } from 'better-sqlite3';
import type { Route } from '../../core/ports.ts';
import { isEmpty } from '../../core/target.ts';
import { type Posting, PostingsWriter } from './index/postings.ts';
import { entryOf, positionMask } from './rows.ts';
import { within } from './within.ts';

/** A slice ends after this much text, however few rows that is: splitting it into words takes about 20 ns a character. */
const usualSliceChars = 64_000;
/**
 * Pages of the full-text index that are merged with each slice: at least these, and one for so much text. Of 4,000
 * characters comes about a page, and each page is written again for every level there is, of which ten million rows make five.
 */
const leastMergedPages = 12;
const charsAMergedPage = 700;
/** Rows of one tenant that are indexed together, if it has them: each by itself would have all its pages touched for it alone. */
const leastShare = 32;
/** With nothing else to do. */
const mergedPagesAtRest = 64;
/** SQLite's own measure of a merge that found nothing to do. */
const changesOfNoMerge = 2;

/** What a notification is found by, but for its text. */
interface KeyRow {
  readonly position: number;
  readonly id: Buffer;
  readonly host_key: string | null;
  readonly ip_key: Buffer | null;
  readonly source_ip_key: Buffer;
  readonly level: string;
  readonly token_id: string;
  readonly key: string | null;
  readonly route: number;
  readonly received_at: number;
  readonly muted: number;
  readonly expires_at: number | null;
  readonly throttled: number;
  readonly shown: number;
}

interface LogRow extends KeyRow {
  readonly title: string;
  readonly message: string;
}

const hourMs = 3_600_000;

/**
 * What a notification is found by. "unseen" is what no panel had shown when it was indexed; see {@link markSeen}.
 * `routed`: routing chose a panel for it.
 */
function postingsOf(row: KeyRow, routed: boolean): Posting[] {
  const { position } = row;
  const found: Posting[] = [
    { field: 'source', value: row.source_ip_key, position },
    { field: 'level', value: row.level, position },
    { field: 'token', value: row.token_id, position },
    { field: 'route', value: row.route, position },
  ];
  if (row.host_key !== null) found.push({ field: 'host', value: row.host_key, position });
  if (row.ip_key !== null) found.push({ field: 'ip', value: row.ip_key, position });
  if (row.key !== null) found.push({ field: 'key', value: row.key, position });
  if (row.throttled === 1) found.push({ field: 'state', value: 'throttled', position });
  const isForPanels = routed && row.muted === 0 && row.throttled === 0;
  if (isForPanels && row.shown === 0) found.push({ field: 'state', value: 'unseen', position });
  if (isForPanels && row.expires_at !== null) found.push({ field: 'state', value: 'expires', position });
  return found;
}

interface Sliced {
  readonly tenant: number;
  readonly rows: readonly LogRow[];
}

/** What became of a slice. */
export interface Slice {
  readonly indexed: number;
  /** There are more notifications to index. */
  readonly behind: boolean;
  /** There may be more to merge. */
  readonly merging: boolean;
  /** What the rows took, without merging and commit. */
  readonly rowsMs: number;
  readonly merged: { readonly pages: number; readonly ms: number };
  /** Pages that are still to be merged for what was indexed; for the next slice. */
  readonly owedPages: number;
}

export interface SliceOptions {
  readonly maxChars?: number;
  /** Whether the full-text index is merged as well; true when nothing is said. */
  readonly merges?: boolean;
  readonly owedPages?: number;
}

/**
 * Indexes at most about `maxRows` notifications that are not yet, in one transaction; tenants that are behind have
 * their share in turn, over as many slices as it takes.
 */
export function indexSlice(
  db: Database,
  maxRows: number,
  { maxChars = usualSliceChars, merges = true, owedPages = 0 }: SliceOptions = {},
): Slice {
  const statements = statementsOf(db);
  return immediate(db, () => {
    const began = performance.now();
    const logs = statements.behind.all(statements.turn.tenant);
    const share = Math.max(leastShare, Math.floor(maxRows / Math.max(1, logs.length)));
    const slices: Sliced[] = [];
    let left = maxRows;
    let chars = maxChars;
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
      statements.turn.tenant = tenant;
      slices.push({ tenant, rows });
    }
    for (const slice of slices) addToIndexes(statements, slice);
    const rowsMs = performance.now() - began;
    const indexed = maxRows - left;
    const due = indexed === 0 ? 0 : pagesFor(maxChars - chars);
    const pages = merges
      ? Math.max(indexed === 0 ? mergedPagesAtRest : 0, due + Math.min(owedPages, due))
      : 0;
    const found = !merges || mergeText(statements, pages);
    return {
      indexed,
      behind,
      // What was just indexed can be merged only once it is written.
      merging: found || indexed > 0,
      rowsMs,
      merged: { pages, ms: performance.now() - began - rowsMs },
      owedPages: found ? Math.max(0, owedPages + due - pages) : 0,
    };
  });
}

const pagesFor = (chars: number) => Math.max(leastMergedPages, Math.ceil(chars / charsAMergedPage));

/** Answers whether there was something to merge. */
function mergeText({ merge, changes }: Statements, pages: number): boolean {
  const before = changes.get() ?? 0;
  merge.run(pages);
  return (changes.get() ?? 0) - before >= changesOfNoMerge;
}

/**
 * Takes the notifications from one position to another, both included, out of the indexes. To be called inside the
 * transaction that drops them, before it does.
 */
export function unindex(db: Database, tenant: number, from: number, upTo: number): void {
  const statements = statementsOf(db);
  const { indexed } = statements.indexed.get(tenant) ?? { indexed: 0 };
  const rows = statements.keys.all(tenant, from - 1, tenant, Math.min(upTo, indexed), -1);
  statements.postings.remove(
    tenant,
    rows.flatMap((row) => postingsOf(row, isRouted(statements, tenant, row))),
  );
  for (const { id, position } of rows) {
    statements.dropId.run(tenant, id);
    statements.dropText.run(tenant, position);
  }
  statements.dropHours.run(tenant, upTo);
}

/**
 * Takes a notification out of the list of those no panel has shown; harmless when it is not on it. Not calling it costs
 * searches for `is:unseen` time, never an answer.
 */
export function markSeen(db: Database, tenant: number, position: number): void {
  statementsOf(db).postings.remove(tenant, [{ field: 'state', value: 'unseen', position }]);
}

function addToIndexes(statements: Statements, { tenant, rows }: Sliced): void {
  const hours = new Map<number, { first: number; last: number }>();
  for (const { id, position, title, message, received_at } of rows) {
    statements.addId.run(tenant, id, position);
    statements.addText.run(tenant, position, title, message);
    const hour = Math.floor(received_at / hourMs);
    hours.set(hour, { first: hours.get(hour)?.first ?? position, last: position });
  }
  for (const [hour, { first, last }] of hours) statements.addHour.run(tenant, hour, first, last);
  statements.postings.add(
    tenant,
    rows.flatMap((row) => postingsOf(row, isRouted(statements, tenant, row))),
  );
}

/** Whether routing chose a panel for it. A route never changes; one that is missing, as in a damaged file, chose none. */
function isRouted({ route, routed }: Statements, tenant: number, row: KeyRow): boolean {
  const ofTenant = within(routed, tenant, () => new Map<number, boolean>());
  return within(ofTenant, row.route, () => {
    const found = route.get(tenant, row.route);
    return found !== undefined && !isEmpty((JSON.parse(found) as Route).target);
  });
}

/** Tenant and position after which, tenant and position up to which, and how many at most (-1: all). */
type Range = [number, number, number, number, number];

interface Statements {
  readonly behind: Statement<[number], { tenant: number; indexed: number; head: number }>;
  /** Who had rows indexed last. */
  readonly turn: { tenant: number };
  readonly indexed: Statement<[number], { indexed: number }>;
  readonly rows: Statement<Range, LogRow>;
  readonly keys: Statement<Range, KeyRow>;
  readonly advance: Statement;
  readonly addId: Statement;
  readonly dropId: Statement;
  readonly addText: Statement;
  readonly dropText: Statement;
  readonly merge: Statement;
  readonly changes: Statement<[], number>;
  readonly addHour: Statement;
  readonly dropHours: Statement;
  readonly postings: PostingsWriter;
  readonly route: Statement<[number, number], string>;
  /** By tenant and route. */
  readonly routed: Map<number, Map<number, boolean>>;
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
  const entry = entryOf('?', '?');
  const keyColumns = `entry & ${positionMask} AS position, id, host_key, ip_key, source_ip_key, level, token_id, key, route,
    received_at, expires_at, muted, throttled_on IS NOT NULL AS throttled`;
  const shown = `EXISTS (SELECT 1 FROM receipts r WHERE r.tenant = entry >> 40 AND r.position = entry & ${positionMask}
    AND r.shown_at IS NOT NULL) AS shown`;
  const inRange = `FROM notifications WHERE entry > ${entry} AND entry <= ${entry} ORDER BY entry LIMIT ?`;
  return {
    behind: db.prepare(
      'SELECT tenant, indexed, head FROM logs WHERE indexed < head ORDER BY tenant <= ?, tenant',
    ),
    turn: { tenant: 0 },
    indexed: db.prepare('SELECT indexed FROM logs WHERE tenant = ?'),
    rows: db.prepare(`SELECT ${keyColumns}, ${shown}, title, message ${inRange}`),
    // As if no panel had shown it: what was seen since may still be listed as unseen.
    keys: db.prepare(`SELECT ${keyColumns}, 0 AS shown ${inRange}`),
    advance: db.prepare('UPDATE logs SET indexed = ? WHERE tenant = ?'),
    addId: db.prepare('INSERT OR REPLACE INTO index_id (tenant, id, position) VALUES (?, ?, ?)'),
    dropId: db.prepare('DELETE FROM index_id WHERE tenant = ? AND id = ?'),
    addText: db.prepare(`INSERT INTO index_text (rowid, title, message) VALUES (${entry}, ?, ?)`),
    dropText: db.prepare(`DELETE FROM index_text WHERE rowid = ${entry}`),
    merge: db.prepare("INSERT INTO index_text (index_text, rank) VALUES ('merge', ?)"),
    changes: db.prepare<[], number>('SELECT total_changes()').pluck(),
    addHour: db.prepare(`INSERT INTO index_hour (tenant, hour, first, last) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last)`),
    dropHours: db.prepare('DELETE FROM index_hour WHERE tenant = ? AND last <= ?'),
    postings: new PostingsWriter(db),
    route: db
      .prepare<[number, number], string>('SELECT route FROM routes WHERE tenant = ? AND id = ?')
      .pluck(),
    routed: new Map(),
  };
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
