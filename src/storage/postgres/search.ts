/** Searches of history: the newest rows one by one, older ones by the index. */
import type { HistoryRecord, SearchOptions, SearchPage, TenantId } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import { type RecordRow, recordColumns, recordJoins, recordJoinsIn, toRecord } from './rows.ts';
import {
  foundIn,
  isFewLive,
  type Part,
  type PreparedQuery,
  prepareQuery,
  readBounds,
  type SearchLanes,
  testedRows,
  timeAt,
  walk,
  walkLive,
} from './walk.ts';

/** The newest rows of a tenant are tested without the index: a search for what is frequent ends here. */
export const newestRows = 1_000;

/** As `History.search` promises; each `yield` ends a step. */
export async function* searchInSteps(
  lanes: SearchLanes,
  tenant: TenantId,
  query: Query,
  options: SearchOptions,
): AsyncGenerator<void, SearchPage> {
  const endsAt = performance.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY);
  const bounds = await readBounds(lanes.reads, tenant);
  if (!bounds) return { records: [], next: null, searchedTo: null, head: 0 };
  const search = new Search(lanes, prepareQuery(tenant, query, options.now), options);
  const range = {
    first: Math.max(bounds.first, (options.after ?? 0) + 1),
    last: Math.min(bounds.head, (options.before ?? Number.POSITIVE_INFINITY) - 1),
  };
  let last = range.last;
  for await (last of search.walk(range)) {
    if (search.isFull || last < range.first) break;
    if (last < range.last && performance.now() >= endsAt) break;
    yield;
  }
  return { ...(await search.page(range.first, last)), head: bounds.head };
}

interface Range {
  readonly first: number;
  readonly last: number;
}

class Search {
  readonly #lanes: SearchLanes;
  readonly #query: PreparedQuery;
  readonly #options: SearchOptions;
  readonly #records: HistoryRecord[] = [];

  constructor(lanes: SearchLanes, query: PreparedQuery, options: SearchOptions) {
    this.#lanes = lanes;
    this.#query = query;
    this.#options = options;
  }

  /** One more than asked for tells whether there is a next page. */
  get isFull(): boolean {
    return this.#missing === 0;
  }

  get #missing(): number {
    return this.#options.limit + 1 - this.#records.length;
  }

  /** Yields the position from which on, downwards, the log is still to be searched. */
  async *walk(range: Range): AsyncGenerator<number> {
    if (range.last < range.first) return;
    if (await isFewLive(this.#lanes, this.#query)) {
      yield* walkLive(this.#lanes, this.#query, range, (rows) => this.#take(rows));
      return;
    }
    const below = await this.#lookAtNewest(range);
    yield below;
    yield* walk(this.#lanes, this.#query, { ...range, last: below }, (part) => this.#lookAt(part));
  }

  /** Downwards from `last`, all was searched to `last + 1`. */
  async page(first: number, last: number): Promise<Omit<SearchPage, 'head'>> {
    const { limit, before, now } = this.#options;
    const records = this.#records.slice(0, limit);
    // Asked for none, a page says whether there are more.
    if (this.isFull) return { records, next: records.at(-1)?.position ?? before ?? null, searchedTo: null };
    if (last < first) return { records, next: null, searchedTo: null };
    const at = await timeAt(this.#lanes.reads, this.#query.tenant, last + 1);
    return { records, next: last + 1, searchedTo: at ?? now };
  }

  /** Takes rows in descending order of position. */
  #take(rows: readonly RecordRow[]): void {
    this.#records.push(...rows.slice(0, this.#missing).map(toRecord));
  }

  /** Those that match; all of them where the index decides. */
  #takeMatching(rows: readonly RecordRow[]): void {
    this.#take(this.#query.compiled.exact ? rows : rows.filter(this.#query.matches));
  }

  async #lookAtNewest({ first, last }: Range): Promise<number> {
    const { newestRows, reads } = this.#lanes;
    const { exact } = this.#query.compiled;
    const rows = await reads.query<RecordRow>(
      this.#query.tenant,
      'search-newest',
      `SELECT ${recordColumns} FROM (
         SELECT * FROM log WHERE tenant = $1 AND position BETWEEN $5 AND $6 ORDER BY position DESC LIMIT $7
       ) n ${recordJoins}
       WHERE n.cleared IS NULL AND n.terms @@ $2::tsquery AND n.at >= $3 AND n.at < $4
       ORDER BY n.position DESC LIMIT $8`,
      [...this.#query.values, first, last, newestRows, exact ? this.#missing : newestRows],
    );
    this.#takeMatching(rows);
    return last - newestRows;
  }

  async #lookAt({ connections, partition, first, last }: Part): Promise<number> {
    const atOnce = this.#query.compiled.exact ? this.#missing : testedRows;
    const rows = await connections.query<RecordRow>(
      this.#query.tenant,
      '',
      // Materialized: the planner shall not walk all of the partition in the order of rows until enough of them match.
      `WITH found AS MATERIALIZED (SELECT n.row, n.position FROM ${foundIn(partition)})
       SELECT ${recordColumns} FROM (SELECT row FROM found ORDER BY position DESC LIMIT $7) f
       JOIN log n ON n.row = f.row AND n.row >= ${partition.low} AND n.row < ${partition.high}
       ${recordJoinsIn(partition)} ORDER BY n.position DESC`,
      [...this.#query.values, first, last, atOnce],
    );
    this.#takeMatching(rows);
    return rows.length < atOnce ? first : (rows.at(-1) as RecordRow).position;
  }
}
