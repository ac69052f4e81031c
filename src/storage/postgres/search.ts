/** Searches of history: the newest rows one by one, older ones by the index, a partition at a time. */
import type { HistoryRecord, SearchOptions, SearchPage, TenantId } from '#core/ports.ts';
import { type CompiledQuery, compileQuery, type TermExpression } from '#core/search/search-compile.ts';
import { type Matcher, matcherOf } from '#core/search/search-evaluate.ts';
import type { Query } from '#core/search/search-query.ts';
import type { Connections } from './connections.ts';
import { type Partition, readPartitions } from './partitions.ts';
import { type RecordRow, recordColumns, recordJoins, toNotification, toRecord } from './rows.ts';

/** The newest rows of a tenant are tested without the index: a search for what is frequent ends here. */
const newestRows = 1_000;
/** Rows that the index found and that are tested one by one, read at once. */
const testedRows = 500;
/** With more notifications on panels than this, "is:live" is answered like any other search. */
const mostLiveRows = 10_000;

/** A query made ready to run. */
export interface PreparedQuery {
  readonly tenant: TenantId;
  readonly compiled: CompiledQuery;
  readonly tsquery: string;
  readonly matches: (row: RecordRow) => boolean;
}

export function prepareQuery(tenant: TenantId, query: Query, now: number): PreparedQuery {
  const compiled = compileQuery(query, tenant);
  return { tenant, compiled, tsquery: tsqueryOf(compiled.terms), matches: rowMatcher(matcherOf(query, now)) };
}

const rowMatcher =
  (matches: Matcher): PreparedQuery['matches'] =>
  (row) =>
    matches({ ...toNotification(row), cleared: row.cleared_at !== null, shown: row.shown > 0 });

/** Bytes. */
const longestTerm = 2_046;

/** A term expression as PostgreSQL takes it. */
export function tsqueryOf(terms: TermExpression): string {
  switch (terms.kind) {
    case 'term':
      // PostgreSQL takes no longer one, and none is indexed.
      if (Buffer.byteLength(terms.term) > longestTerm) return "'0.none'";
      return `'${terms.term.replace(/['\\]/g, '$&$&')}'${terms.prefix ? ':*' : ''}`;
    case 'and':
      return `(${terms.of.map(tsqueryOf).join(' & ')})`;
    case 'or':
      return `(${terms.of.map(tsqueryOf).join(' | ')})`;
    case 'without':
      return `(${tsqueryOf(terms.of)} & !${tsqueryOf(terms.not)})`;
  }
}

interface Bounds {
  readonly head: number;
  readonly first: number;
}

/** As `History.search` promises. Between two statements nothing is held; each ends within a partition. */
export async function searchPage(
  connections: Connections,
  tenant: TenantId,
  query: Query,
  options: SearchOptions,
): Promise<SearchPage> {
  const [bounds] = await connections.query<Bounds>(
    'search-bounds',
    'SELECT head, first FROM logs WHERE tenant = $1',
    [tenant],
  );
  if (!bounds) return { records: [], next: null, searchedTo: null, head: 0 };
  return new Search(connections, prepareQuery(tenant, query, options.now), bounds, options).run();
}

class Search {
  readonly #connections: Connections;
  readonly #query: PreparedQuery;
  readonly #bounds: Bounds;
  readonly #options: SearchOptions;
  readonly #endsAt: number;
  /** Positions from here on are still to be looked at, downwards. */
  #from: number;
  readonly #last: number;
  readonly #records: HistoryRecord[] = [];

  constructor(connections: Connections, query: PreparedQuery, bounds: Bounds, options: SearchOptions) {
    this.#connections = connections;
    this.#query = query;
    this.#bounds = bounds;
    this.#options = options;
    this.#endsAt = performance.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY);
    this.#from = Math.min(bounds.head, (options.before ?? Number.POSITIVE_INFINITY) - 1);
    this.#last = Math.max(bounds.first, (options.after ?? 0) + 1);
  }

  async run(): Promise<SearchPage> {
    const { live } = this.#query.compiled;
    if (!(live && (await this.#lookAtLive()))) {
      await this.#lookAtNewest();
      if (!this.#isFull() && this.#from >= this.#last) await this.#lookAtPartitions();
    }
    return this.#page();
  }

  /** One more than asked for tells whether there is a next page. */
  #isFull(): boolean {
    return this.#records.length > this.#options.limit;
  }

  #isOver(): boolean {
    this.#options.signal?.throwIfAborted();
    return performance.now() >= this.#endsAt;
  }

  async #page(): Promise<SearchPage> {
    const { limit, before } = this.#options;
    const { head } = this.#bounds;
    const records = this.#records.slice(0, limit);
    if (this.#isFull())
      return { records, next: records.at(-1)?.position ?? before ?? null, searchedTo: null, head };
    if (this.#from < this.#last) return { records, next: null, searchedTo: null, head };
    const [place] = await this.#connections.query<{ position: number; at: number }>(
      'search-place',
      'SELECT position, at FROM log WHERE tenant = $1 AND position > $2 ORDER BY position LIMIT 1',
      [this.#query.tenant, this.#from],
    );
    return { records, next: this.#from + 1, searchedTo: place?.at ?? this.#options.now, head };
  }

  /** Takes rows in descending order of position. */
  #take(rows: readonly RecordRow[], test: boolean): void {
    for (const row of rows) {
      if (this.#isFull()) return;
      if (!test || this.#query.matches(row)) this.#records.push(toRecord(row));
    }
  }

  /** All that is on panels, when that is little; answers whether it is. */
  async #lookAtLive(): Promise<boolean> {
    const [{ few } = { few: false }] = await this.#connections.query<{ few: boolean }>(
      'search-few-live',
      `SELECT count(*) <= ${mostLiveRows} AS few FROM (SELECT 1 FROM live WHERE tenant = $1 LIMIT ${mostLiveRows + 1}) l`,
      [this.#query.tenant],
    );
    if (!few) return false;
    for (;;) {
      const rows = await this.#select<RecordRow>(
        'search-live',
        `SELECT ${recordColumns} FROM live l JOIN log n ON n.row = l.row ${recordJoins}
         WHERE l.tenant = $1 AND (l.expires_at IS NULL OR l.expires_at > $7) AND n.terms @@ $2::tsquery
           AND n.position BETWEEN $3 AND $4 AND n.at >= $5 AND n.at < $6
         ORDER BY n.position DESC LIMIT ${testedRows}`,
        [this.#options.now],
      );
      this.#take(rows, true);
      if (rows.length < testedRows || this.#isFull()) break;
      this.#from = (rows.at(-1) as RecordRow).position - 1;
      if (this.#isOver()) return true;
    }
    this.#from = this.#last - 1;
    return true;
  }

  async #lookAtNewest(): Promise<void> {
    if (this.#from < this.#last) return;
    const rows = await this.#select<RecordRow>(
      'search-newest',
      `SELECT ${recordColumns} FROM (
         SELECT * FROM log WHERE tenant = $1 AND position BETWEEN $3 AND $4 ORDER BY position DESC LIMIT ${newestRows}
       ) n ${recordJoins}
       WHERE n.cleared IS NULL AND n.terms @@ $2::tsquery AND n.at >= $5 AND n.at < $6
       ORDER BY n.position DESC LIMIT $7`,
      [this.#query.compiled.exact ? this.#options.limit + 1 : newestRows],
    );
    this.#take(rows, !this.#query.compiled.exact);
    this.#from -= newestRows;
  }

  async #lookAtPartitions(): Promise<void> {
    const [start] = await this.#connections.query<{ row: number }>(
      'search-start',
      'SELECT row FROM log WHERE tenant = $1 AND position <= $2 ORDER BY position DESC LIMIT 1',
      [this.#query.tenant, this.#from],
    );
    if (!start) return;
    for (const partition of await readPartitions(this.#connections)) {
      if (partition.low > start.row) continue;
      await this.#lookAt(partition);
      if (this.#isFull() || this.#from < this.#last || this.#isOver()) return;
    }
    this.#from = this.#last - 1;
  }

  async #lookAt({ low, high }: Partition): Promise<void> {
    const { exact } = this.#query.compiled;
    const atOnce = exact ? this.#options.limit + 1 - this.#records.length : testedRows;
    for (;;) {
      const rows = await this.#select<RecordRow>(
        'search-partition',
        // Materialized: the planner shall not walk all of the partition in the order of rows until enough of them match.
        `WITH found AS MATERIALIZED (
           SELECT row, position FROM log WHERE row >= $8 AND row < $9 AND tenant = $1 AND terms @@ $2::tsquery
             AND position BETWEEN $3 AND $4 AND at >= $5 AND at < $6
         )
         SELECT ${recordColumns} FROM (SELECT row FROM found ORDER BY position DESC LIMIT $7) f
         JOIN log n ON n.row = f.row AND n.row >= $8 AND n.row < $9 ${recordJoins} ORDER BY n.position DESC`,
        [atOnce, low, high],
      );
      this.#take(rows, !exact);
      if (this.#isFull()) return;
      if (rows.length === atOnce) this.#from = (rows.at(-1) as RecordRow).position - 1;
      else break;
      if (this.#isOver()) return;
    }
    // Positions below those of this partition are still to be looked at.
    const [lowest] = await this.#connections.query<{ position: number }>(
      'search-lowest',
      'SELECT position FROM log WHERE tenant = $1 AND row >= $2 AND row < $3 AND position >= $4 ORDER BY position LIMIT 1',
      [this.#query.tenant, low, high, this.#bounds.first],
    );
    if (lowest) this.#from = Math.min(this.#from, lowest.position - 1);
  }

  #select<Row>(name: string, text: string, more: readonly unknown[]): Promise<Row[]> {
    const { tenant, tsquery, compiled } = this.#query;
    const [after, before] = [finite(compiled.after), finite(compiled.before)];
    return this.#connections.query<Row>(name, text, [
      tenant,
      tsquery,
      this.#last,
      this.#from,
      after,
      before,
      ...more,
    ]);
  }
}

/** Times as PostgreSQL's whole numbers have them. */
export const finite = (time: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Math.ceil(time), Number.MAX_SAFE_INTEGER));
