/**
 * Searches of the log: a statement at a time, each on a few partitions and each with a short time-out. Between two statements
 * nothing is held, and other tenants have their turn.
 */
import type { HistoryRecord, SearchOptions, SearchPage, TenantId } from '#core/ports.ts';
import { type CompiledQuery, compileQuery } from '#core/search/search-compile.ts';
import { type Matcher, matcherOf } from '#core/search/search-evaluate.ts';
import type { Query } from '#core/search/search-query.ts';
import {
  emptyPage,
  type LogPart,
  type LogPlace,
  type LogRange,
  type LogSearch,
  searchInSteps,
  timer,
  toSearchable,
} from '../log-search.ts';
import type { Connections } from './connections.ts';
import { isTimeout } from './errors.ts';
import { againIfDropped, partitionRows, readLog } from './partitions.ts';
import { type Looked, type RecordRow, readRecords, toNotification, toRecord } from './rows.ts';
import { quickTerms, termsAlone, termsBesideList, tsqueryOf } from './terms.ts';
import { type TextTests, textTests } from './text-tests.ts';

/** Rows that are looked at one after the other before the index is asked: a search for what is frequent ends among them. */
export const newestRows = 1_000;
/** They are looked at as long as one in so many is found; what is rarer, the index finds sooner. */
const mostBetween = 64;
/** Rows that are tested one by one, read at once. */
const testedRows = 500;
/** With more notifications on panels than this, "is:live" is answered like any other search. */
const mostLiveRows = 50_000;
/** In fewer, rows are looked at one after the other: the index would find all of the partition's first. */
const fewPositions = 5_000;
/** A statement over so few positions may take as long as any other. */
const fewestPositions = 1_000;

export interface SearchLanes {
  /** Ends a statement after about a step's time. */
  readonly steps: Connections;
  readonly reads: Connections;
  /** So many of the newest rows are looked at before the index. */
  readonly newestRows: number;
}

/** Positions of the log. `live`: whether what is on panels is read from its list, alone or beside what the terms find. */
export interface PostgresPart extends LogPart {
  readonly live: 'alone' | 'beside' | undefined;
}

/** `wanted`: matches that a page needs; undefined for a count. */
interface SearchScope {
  readonly now: number;
  readonly range: LogRange;
  readonly head: number;
  readonly wanted?: number;
}

export class PostgresSearch implements LogSearch<PostgresPart, RecordRow> {
  readonly head: number;
  readonly range: LogRange;
  readonly compiled: CompiledQuery;
  /** What statements begin their values with: `$1` the tenant, `$2` the terms, times `$3` from and `$4` to. */
  readonly values: readonly unknown[];
  /** The terms for a partition of which the tenant has most: without the one that all its rows have; null: none. */
  readonly termsAlone: string | null;
  readonly tenant: TenantId;
  readonly #lanes: SearchLanes;
  readonly #scope: SearchScope;
  readonly #matches: Matcher;
  readonly #tests: TextTests;
  /** Positions that a statement looks at; fewer after a time-out. */
  #size = Number.MAX_SAFE_INTEGER;
  #nextRow = Number.MAX_SAFE_INTEGER;
  #looked = 0;
  #found = 0;

  constructor(lanes: SearchLanes, tenant: TenantId, query: Query, scope: SearchScope) {
    this.#lanes = lanes;
    this.tenant = tenant;
    this.#scope = scope;
    this.head = scope.head;
    this.range = scope.range;
    this.compiled = compileQuery(query, tenant);
    this.#matches = matcherOf(query, scope.now);
    this.#tests = textTests(query);
    const { terms, after, before } = this.compiled;
    this.values = [tenant, tsqueryOf(terms), finite(after), finite(before)];
    this.termsAlone = termsAlone(terms, tenant);
  }

  async *parts(): AsyncIterable<PostgresPart> {
    const { terms, termsUnlessLive, exact } = this.compiled;
    if (!terms || this.range.low > this.range.high) return;
    const isByList = terms !== termsUnlessLive && (await this.areFewLive());
    const live = isByList ? (termsUnlessLive ? 'beside' : 'alone') : undefined;
    yield { ...this.range, live, isExact: exact && !live };
  }

  look(part: PostgresPart, take: (row: RecordRow) => boolean): Promise<number> {
    const { wanted = testedRows } = this.#scope;
    const most = part.isExact ? wanted : Math.min(testedRows, 2 * (wanted + this.#found));
    return this.within(part, async (connections, range, nextRow) => {
      const [found, given] = this.#statement(part, { ...range, most }, nextRow);
      const { records, looked } = await readRecords(connections, this.tenant, found, given);
      const isFull = part.live !== 'beside' && records.length >= most;
      const last = isFull ? (records.at(-1) as RecordRow).position : looked.looked_to;
      this.#found += records.length;
      this.#looked += Math.max(0, (looked.looked_from ?? last - 1) - last + 1);
      records.every(take);
      return { ...looked, looked_to: last };
    });
  }

  /** A statement that finds rows, and its values. */
  #statement(
    { live }: PostgresPart,
    { low, high, most }: LogRange & { readonly most: number },
    nextRow: number,
  ): [string, unknown[]] {
    const [, terms, from, upTo] = this.values;
    const { compiled, tenant } = this;
    const bounds = [from, upTo, low, high, most, this.#tests.inTitle, this.#tests.inText];
    const ofLive = [termsBesideList(compiled.terms, tenant), this.#scope.now];
    if (live === 'alone') return [foundLive, [tenant, terms, ...bounds, ...ofLive]];
    const others = compiled.termsUnlessLive;
    const alone = live ? termsAlone(others, tenant) : this.termsAlone;
    // Where nothing else restricts the rows, the index would find all of a partition.
    const isFrequent = alone === null || this.#found * mostBetween >= this.#looked;
    const walked =
      isFrequent || high - low < fewPositions ? Math.max(this.#lanes.newestRows, this.#looked) : 0;
    const ofRows = [alone, quickTerms(others, tenant), nextRow, walked];
    if (!live) return [foundRows, [tenant, terms, ...bounds, ...ofRows]];
    return [foundRowsAndLive, [tenant, tsqueryOf(others), ...bounds, ...ofRows, terms, ...ofLive]];
  }

  matches(row: RecordRow): boolean {
    return this.#matches(toSearchable(toNotification(row), row));
  }

  levelOf(row: RecordRow): string {
    return row.level;
  }

  toRecord(row: RecordRow): HistoryRecord {
    return toRecord(row);
  }

  /** Undefined if retention has dropped the position meanwhile: then nothing older is left. */
  async placeAt(position: number): Promise<LogPlace | undefined> {
    const [found] = await this.#lanes.reads.query<{ at: number }>(
      this.tenant,
      'SELECT at FROM entries_at($1, $2)',
      [this.tenant, [position]],
    );
    return found && { position, at: found.at };
  }

  /**
   * Runs a statement on the upper end of a part, within a step's time, and returns the lowest position that it looked at. After
   * a time-out that is none, and the next statement looks at fewer.
   */
  async within(
    { low: end, high }: LogRange,
    work: (connections: Connections, range: LogRange, nextRow: number) => Promise<Looked>,
  ): Promise<number> {
    const low = Math.max(end, high - this.#size + 1);
    const isSmall = high - low < fewestPositions;
    try {
      const looked = await againIfDropped(() =>
        work(isSmall ? this.#lanes.reads : this.#lanes.steps, { low, high }, this.#nextRow),
      );
      this.#size *= 2;
      this.#nextRow = looked.next_row;
      return looked.looked_to;
    } catch (error) {
      if (isSmall || !isTimeout(error)) throw error;
      this.#size = Math.max(fewestPositions, Math.floor(Math.min(high - low, partitionRows) / 4));
      return high + 1;
    }
  }

  async areFewLive(): Promise<boolean> {
    const [counted] = await this.#lanes.reads.query<{ live: number }>(
      this.tenant,
      `SELECT count(*) AS live FROM (SELECT 1 FROM live WHERE tenant = $1 LIMIT ${mostLiveRows + 1}) l`,
      [this.tenant],
    );
    return (counted?.live ?? 0) <= mostLiveRows;
  }
}

/** As `History.search` promises; each `yield` ends a step. */
export async function* searchLog(
  lanes: SearchLanes,
  tenant: TenantId,
  query: Query,
  { limit, before, after, now, timeoutMs }: SearchOptions,
): AsyncGenerator<void, SearchPage> {
  const isOver = timer(timeoutMs);
  const log = await readLog(lanes.reads, tenant);
  if (!log) return emptyPage;
  const { first, head } = log;
  const range = { low: Math.max(first, (after ?? 0) + 1), high: Math.min(head, (before ?? head + 1) - 1) };
  const search = new PostgresSearch(lanes, tenant, query, { now, head, range, wanted: limit + 1 });
  return yield* searchInSteps(search, { limit, before }, isOver);
}

/** Times as PostgreSQL's whole numbers have them. */
export const finite = (time: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Math.ceil(time), Number.MAX_SAFE_INTEGER));

/** What search_rows finds between the positions `$5` and `$6`, `$7` at the most. */
const foundRows = 'SELECT * FROM search_rows($1, $2, $10, $11, $3, $4, $5, $6, $12, $13, $7, $8, $9)';

/** The same among what is live, with the terms `terms`, of which the index is asked `asked`. */
const liveWith = (terms: string, asked: string, now: string, low = '$5') =>
  `SELECT * FROM search_live($1, ${terms}, ${asked}, $3, $4, ${low}, $6, ${now}, $7, $8, $9)`;
const foundLive = liveWith('$2', '$10', '$11');

const lowest = (
  of: string,
) => `(SELECT CASE WHEN count(of_row) < $7 THEN min(at_position) FILTER (WHERE of_row IS NULL)
  ELSE min(at_position) FILTER (WHERE of_row IS NOT NULL) END FROM ${of})`;

/** Both: down to where both have looked. What is live is only looked at where the others were. */
const foundRowsAndLive = `WITH r AS MATERIALIZED (${foundRows}), given AS MATERIALIZED (SELECT ${lowest('r')} AS low),
  v AS MATERIALIZED (${liveWith('$14', '$15', '$16', '(SELECT low FROM given)')}),
  looked AS (SELECT low, ${lowest('v')} AS low_of_live, looked_from, next_row FROM given, r WHERE of_row IS NULL)
  SELECT of_row, at_position, NULL::bigint AS looked_from, NULL::bigint AS next_row
  FROM (SELECT of_row, at_position FROM r UNION SELECT of_row, at_position FROM v) b, looked
  WHERE of_row IS NOT NULL AND at_position >= greatest(low, low_of_live)
  UNION ALL SELECT NULL, greatest(low, low_of_live), looked_from, CASE WHEN low >= low_of_live THEN next_row ELSE $12 END FROM looked`;
