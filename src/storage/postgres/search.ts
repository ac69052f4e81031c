/**
 * Searches of the log: a statement at a time, each on a few partitions and each with a short time-out. Between two statements
 * nothing is held, and other tenants have their turn.
 */
import type { HistoryRecord, SearchOptions, SearchPage, TenantId } from '#core/ports.ts';
import { flagTerm } from '#core/search/index-terms.ts';
import { type CompiledQuery, compileQuery, type TermExpression } from '#core/search/search-compile.ts';
import { type Matcher, matcherOf } from '#core/search/search-evaluate.ts';
import type { Query } from '#core/search/search-query.ts';
import {
  emptyPage,
  type LogPart,
  type LogPlace,
  type LogRange,
  type LogSearch,
  searchInSteps,
  type TermDialect,
  timer,
  toSearchable,
  writeTerms,
} from '../log-search.ts';
import type { Connections } from './connections.ts';
import { isTimeout } from './errors.ts';
import { againIfDropped, partitionRows, readLog } from './partitions.ts';
import { type Looked, type RecordRow, readRecords, toNotification, toRecord } from './rows.ts';

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
      const [found, values] = this.#statement(part, range, nextRow);
      const given = values.toSpliced(4, 0, range.low, range.high, most);
      const { records, looked } = await readRecords(connections, this.tenant, found, given);
      const isFull = part.live !== 'beside' && records.length >= most;
      const last = isFull ? (records.at(-1) as RecordRow).position : looked.looked_to;
      this.#found += records.length;
      this.#looked += Math.max(0, (looked.looked_from ?? last - 1) - last + 1);
      records.every(take);
      return { ...looked, looked_to: last };
    });
  }

  /** A statement that finds rows, and its values without the positions and the number of rows. */
  #statement({ live }: PostgresPart, { low, high }: LogRange, nextRow: number): [string, unknown[]] {
    const [, terms, from, upTo] = this.values;
    const { now } = this.#scope;
    const { termsUnlessLive: others } = this.compiled;
    const alone = live === 'beside' ? termsAlone(others, this.tenant) : this.termsAlone;
    // The list first: of what is frequent, it has enough. What is rarer, the index finds sooner.
    if (live === 'alone' && (this.#looked === 0 || !isRestricting(this.compiled.terms, this.tenant)))
      return [foundLive, [...this.values, now]];
    // Where nothing else restricts the rows, the index would find all of a partition.
    const isFrequent = alone === null || this.#found * mostBetween >= this.#looked;
    const walked =
      isFrequent || high - low < fewPositions ? Math.max(this.#lanes.newestRows, this.#looked) : 0;
    if (live !== 'beside')
      return [foundRows, [...this.values, alone, nextRow, walked, live === 'alone' ? now : null]];
    const ofRows = [this.tenant, tsqueryOf(others), from, upTo, alone, nextRow, walked, null];
    return [foundRowsAndLive, [...ofRows, terms, now]];
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

/** Bytes. */
const longestTerm = 2_046;
/** No notification has this term. */
const nothing = "'0.none'";

const dialect: TermDialect = {
  and: ' & ',
  or: ' | ',
  without: ' & !',
  term(term, prefix) {
    // PostgreSQL takes no longer one, and none is indexed.
    if (Buffer.byteLength(term) > longestTerm) return nothing;
    return `'${term.replace(/['\\]/g, '$&$&')}'${prefix ? ':*' : ''}`;
  },
};

/** A term expression as PostgreSQL takes it. */
export const tsqueryOf = (terms: TermExpression | undefined): string =>
  terms ? writeTerms(terms, dialect) : nothing;

/** Times as PostgreSQL's whole numbers have them. */
export const finite = (time: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Math.ceil(time), Number.MAX_SAFE_INTEGER));

/** What has to be in a row besides the term that all of a tenant's rows have, and what must not. */
function partsOf(terms: TermExpression | undefined, tenant: TenantId) {
  const everything = flagTerm(tenant, 'all');
  const [wanted, unwanted]: [TermExpression[], TermExpression[]] = [[], []];
  const split = (part: TermExpression): void => {
    if (part.kind === 'and') part.of.forEach(split);
    else if (part.kind === 'without') {
      split(part.of);
      unwanted.push(part.not);
    } else if (part.kind !== 'term' || part.term !== everything) wanted.push(part);
  };
  if (terms) split(terms);
  return { wanted, unwanted };
}

const isRestricting = (terms: TermExpression | undefined, tenant: TenantId) =>
  partsOf(terms, tenant).wanted.length > 0;

/** The same rows of this tenant, and maybe rows of others. null: all of them. */
function termsAlone(terms: TermExpression | undefined, tenant: TenantId): string | null {
  const { wanted, unwanted } = partsOf(terms, tenant);
  const everything: TermExpression = { kind: 'term', term: flagTerm(tenant, 'all'), prefix: false };
  const of: TermExpression = wanted.length > 0 ? { kind: 'and', of: wanted } : everything;
  if (unwanted.length > 0) return tsqueryOf({ kind: 'without', of, not: { kind: 'or', of: unwanted } });
  return wanted.length > 0 ? tsqueryOf(of) : null;
}

/** What search_rows finds between the positions `$5` and `$6`, `$7` at the most. */
const foundRows = 'SELECT * FROM search_rows($1, $2, $8, $3, $4, $5, $6, $9, $10, $7, $11)';

/** The same among what is live. */
const foundLive = 'SELECT * FROM search_live($1, $2, $3, $4, $5, $6, $8, $7)';

const lowest = (
  of: string,
) => `(SELECT CASE WHEN count(of_row) < $7 THEN min(at_position) FILTER (WHERE of_row IS NULL)
  ELSE min(at_position) FILTER (WHERE of_row IS NOT NULL) END FROM ${of})`;

/** Both: down to where both have looked. */
const foundRowsAndLive = `WITH r AS MATERIALIZED (${foundRows}),
  v AS MATERIALIZED (SELECT * FROM search_live($1, $12, $3, $4, $5, $6, $13, $7)),
  looked AS (SELECT ${lowest('r')} AS low, ${lowest('v')} AS low_of_live, max(looked_from) AS looked_from, max(next_row) AS next_row FROM r)
  SELECT of_row, at_position, NULL::bigint AS looked_from, NULL::bigint AS next_row
  FROM (SELECT of_row, at_position FROM r UNION SELECT of_row, at_position FROM v) b, looked
  WHERE of_row IS NOT NULL AND at_position >= greatest(low, low_of_live)
  UNION ALL SELECT NULL, greatest(low, low_of_live), looked_from, CASE WHEN low >= low_of_live THEN next_row ELSE $9 END FROM looked`;
