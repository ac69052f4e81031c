/**
 * Searches of the log: a statement at a time, each within one partition and each with a short time-out. Between two statements
 * nothing is held, and other tenants have their turn.
 */
import type { HistoryRecord, LogBounds, SearchOptions, SearchPage, TenantId } from '#core/ports.ts';
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
import { isMissingTable, isTimeout } from './errors.ts';
import { logOf, type Partition, readPartitions } from './partitions.ts';
import { type RecordRow, recordsIn, toNotification, toRecord } from './rows.ts';

/** The newest rows of a tenant are tested without the index: a search for what is frequent ends here. */
export const newestRows = 1_000;
/** Rows that are tested one by one, read at once. */
const testedRows = 500;
/** With more notifications on panels than this, "is:live" is answered like any other search. */
const mostLiveRows = 10_000;
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

/** Positions of one partition. */
export interface PostgresPart extends LogPart {
  readonly partition: Partition;
  /** How its rows are found: by the terms of the index, one after the other, or from what is on panels. */
  readonly by: 'terms' | 'position' | 'live';
}

/** `wanted`: matches that a page needs; undefined for a count, which does not begin with the newest rows. */
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
  readonly #tenant: TenantId;
  readonly #lanes: SearchLanes;
  readonly #scope: SearchScope;
  readonly #matches: Matcher;
  /** Positions that a statement looks at; fewer after a time-out. */
  #size = Number.MAX_SAFE_INTEGER;

  constructor(lanes: SearchLanes, tenant: TenantId, query: Query, scope: SearchScope) {
    this.#lanes = lanes;
    this.#tenant = tenant;
    this.#scope = scope;
    this.head = scope.head;
    this.range = scope.range;
    this.compiled = compileQuery(query, tenant);
    this.#matches = matcherOf(query, scope.now);
    const { terms, after, before } = this.compiled;
    this.values = [tenant, tsqueryOf(terms), finite(after), finite(before)];
  }

  async *parts(): AsyncIterable<PostgresPart> {
    if (!this.compiled.terms) return;
    let { high } = this.range;
    const { exact: isExact } = this.compiled;
    const [, , after, before] = this.values as readonly number[];
    const live = await this.fewLive();
    let newest = live || this.#scope.wanted === undefined ? 0 : this.#lanes.newestRows;
    for (const partition of live ??
      (await readPartitions(this.#lanes.reads, this.#tenant, { after, before }))) {
      if (high < this.range.low) return;
      const held = await this.#positionsIn(partition);
      const part = { partition, isExact, low: Math.max(this.range.low, held.low) };
      high = Math.min(high, held.high);
      if (part.low > high) continue;
      if (live) yield { ...part, high, by: 'live', isExact: false };
      else {
        const lowest = Math.max(part.low, high - newest + 1);
        if (lowest <= high) yield { ...part, low: lowest, high, by: 'position' };
        newest -= high - lowest + 1;
        if (part.low < lowest) yield { ...part, high: lowest - 1, by: 'terms' };
      }
      high = part.low - 1;
    }
  }

  look(part: PostgresPart, take: (row: RecordRow) => boolean): Promise<number> {
    const { partition } = part;
    const most = part.isExact ? (this.#scope.wanted ?? testedRows) : testedRows;
    return this.within(part, async (connections, { low, high }) => {
      const by = part.by === 'terms' && high - low < fewPositions ? 'position' : part.by;
      const rows = await connections.query<RecordRow>(
        this.#tenant,
        by === 'position' ? `by-position-${partition.low}` : '',
        recordsIn(partition, found[by](partition)),
        [...this.values, low, high, most, ...(by === 'live' ? [this.#scope.now] : [])],
      );
      rows.every(take);
      return rows.length < most ? low : (rows.at(-1) as RecordRow).position;
    });
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
      this.#tenant,
      'time-at',
      'SELECT at FROM entries_at($1, $2)',
      [this.#tenant, [position]],
    );
    return found && { position, at: found.at };
  }

  /**
   * Runs a statement on the upper end of a part, within a step's time, and returns the lowest position that it looked at. After
   * a time-out that is none, and the next statement looks at fewer.
   */
  async within(
    { low: end, high }: LogRange,
    work: (connections: Connections, range: LogRange) => Promise<number>,
  ): Promise<number> {
    const low = Math.max(end, high - this.#size + 1);
    const isSmall = high - low < fewestPositions;
    try {
      const lowest = await work(isSmall ? this.#lanes.reads : this.#lanes.steps, { low, high });
      // Where much is found, as much more is a small part.
      this.#size = lowest > low ? Math.max(2 * fewestPositions, 2 * (high - lowest)) : 2 * this.#size;
      return lowest;
    } catch (error) {
      // Dropped meanwhile: nobody keeps any of it.
      if (isMissingTable(error)) return end;
      if (isSmall || !isTimeout(error)) throw error;
      this.#size = Math.max(fewestPositions, Math.floor((high - low) / 4));
      return high + 1;
    }
  }

  /** Where the tenant's entries in a partition begin and end; nowhere when it has none there. */
  async #positionsIn(partition: Partition): Promise<LogRange> {
    const end = (order: string) => `(SELECT position FROM ${logOf(partition)} n
      WHERE n.tenant = $1 AND n.tenant = policy_tenant() ORDER BY position ${order} LIMIT 1)`;
    const nowhere = { low: Number.POSITIVE_INFINITY, high: Number.POSITIVE_INFINITY };
    try {
      const [held] = await this.#lanes.reads.query<LogRange | { low: null }>(
        this.#tenant,
        '',
        `SELECT ${end('ASC')} AS low, ${end('DESC')} AS high`,
        [this.#tenant],
      );
      return held && held.low !== null ? held : nowhere;
    } catch (error) {
      if (isMissingTable(error)) return nowhere;
      throw error;
    }
  }

  /** The partitions of what is on panels, newest first, if the query asks only for that and it is little. */
  async fewLive(): Promise<readonly Partition[] | undefined> {
    if (this.compiled.termsUnlessLive) return undefined;
    const counted = await this.#lanes.reads.query<Partition & { live: number }>(
      this.#tenant,
      'partitions-of-live',
      `SELECT p.low, p.high, sum(count(*)) OVER ()::bigint AS live
       FROM (SELECT row FROM live WHERE tenant = $1 LIMIT ${mostLiveRows + 1}) l JOIN partitions p ON l.row >= p.low AND l.row < p.high
       GROUP BY p.low ORDER BY p.low DESC`,
      [this.#tenant],
    );
    return (counted[0]?.live ?? 0) > mostLiveRows ? undefined : counted;
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
  const bounds = await readBounds(lanes.reads, tenant);
  if (!bounds) return emptyPage;
  const { first, head } = bounds;
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

const isWanted = 'n.cleared IS NULL AND n.terms @@ $2::tsquery AND n.at >= $3 AND n.at < $4';

/**
 * Rows of a partition's log `n` that the terms and times of a query lead to, between the positions `$5` and `$6`. PostgreSQL
 * would not use the index under a policy, so this reads the partition itself, and has the tenant of the policies in its condition.
 */
export const foundIn = (partition: Partition) => `${logOf(partition)} n
  WHERE n.tenant = $1 AND n.tenant = policy_tenant() AND ${isWanted} AND n.position BETWEEN $5 AND $6`;

/** Rows of a partition's log for {@link recordsIn}: `$7` at the most, and by what is live at `$8`. */
const found = {
  // Materialized: the planner shall not walk all of the partition in the order of rows until enough of them match.
  terms: (
    partition: Partition,
  ) => `WITH found AS MATERIALIZED (SELECT n.row, n.position FROM ${foundIn(partition)})
    SELECT n.* FROM (SELECT row FROM found ORDER BY position DESC LIMIT $7) f JOIN ${logOf(partition)} n ON n.row = f.row`,
  // OFFSET 0: the planner shall go by position, and not by the index of terms.
  position: (partition: Partition) => `SELECT * FROM (
      SELECT * FROM ${logOf(partition)} WHERE tenant = $1 AND tenant = policy_tenant() AND position BETWEEN $5 AND $6
      ORDER BY position DESC OFFSET 0
    ) n WHERE ${isWanted} ORDER BY position DESC LIMIT $7`,
  // OFFSET 0: the planner shall go from what is live to the log, and never the other way.
  live: (partition: Partition) => `SELECT n.* FROM (
      SELECT row FROM live WHERE tenant = $1 AND (expires_at IS NULL OR expires_at > $8) AND position BETWEEN $5 AND $6
        AND row >= ${partition.low} AND row < ${partition.high} ORDER BY position DESC OFFSET 0
    ) l CROSS JOIN LATERAL (SELECT * FROM ${logOf(partition)} WHERE row = l.row OFFSET 0) n
    WHERE ${isWanted} ORDER BY position DESC LIMIT $7`,
};

/** undefined: the tenant has no log. */
export async function readBounds(reads: Connections, tenant: TenantId): Promise<LogBounds | undefined> {
  const [bounds] = await reads.query<LogBounds>(
    tenant,
    'bounds',
    'SELECT head, first FROM logs WHERE tenant = $1',
    [tenant],
  );
  return bounds;
}
