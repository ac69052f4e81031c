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
import {
  type RecordRow,
  recordColumns,
  recordJoins,
  recordJoinsIn,
  toNotification,
  toRecord,
} from './rows.ts';

/** The newest rows of a tenant are tested without the index: a search for what is frequent ends here. */
export const newestRows = 1_000;
/** Rows that are tested one by one, read at once. */
const testedRows = 500;
/** With more notifications on panels than this, "is:live" is answered like any other search. */
const mostLiveRows = 10_000;
/** A statement over so few positions may take as long as any other. */
const fewestPositions = 1_000;

export interface SearchLanes {
  /** Ends a statement after about a step's time. */
  readonly steps: Connections;
  readonly reads: Connections;
  /** So many of the newest rows are looked at before the index. */
  readonly newestRows: number;
}

/** Positions of one partition, or of several where `rows` says which of them are looked at. */
export type PostgresPart = LogPart & { readonly rows: 'live' | 'newest' | Partition };

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
    const { low } = this.range;
    let { high } = this.range;
    if (low > high) return;
    if (await this.isFewLive()) return yield { low, high, rows: 'live', isExact: false };
    const isExact = this.compiled.exact;
    if (this.#scope.wanted !== undefined) {
      const lowest = high - this.#lanes.newestRows + 1;
      yield { low: Math.max(low, lowest), high, rows: 'newest', isExact };
      high = lowest - 1;
    }
    for (const partition of await readPartitions(this.#lanes.reads)) {
      if (high < low) return;
      const lowest = Math.max(low, await this.#lowestIn(partition));
      yield { low: lowest, high, rows: partition, isExact };
      high = Math.min(high, lowest - 1);
    }
  }

  async look(part: PostgresPart, take: (row: RecordRow) => boolean): Promise<number> {
    const most = part.isExact ? (this.#scope.wanted ?? testedRows) : testedRows;
    const passOn = (rows: readonly RecordRow[], limit: number) => {
      rows.every(take);
      return rows.length < limit ? part.low : (rows.at(-1) as RecordRow).position;
    };
    if (part.rows === 'live') return passOn(await this.#readLive(part), testedRows);
    if (part.rows === 'newest') return passOn(await this.#readNewest(part, most), most);
    const { rows: partition } = part;
    return this.within(part, async (connections, { low, high }) => {
      const rows = await connections.query<RecordRow>(
        this.#tenant,
        '',
        // Materialized: the planner shall not walk all of the partition in the order of rows until enough of them match.
        `WITH found AS MATERIALIZED (SELECT n.row, n.position FROM ${foundIn(partition)})
         SELECT ${recordColumns} FROM (SELECT row FROM found ORDER BY position DESC LIMIT $7) f
         JOIN log n ON n.row = f.row AND n.row >= ${partition.low} AND n.row < ${partition.high}
         ${recordJoinsIn(partition)} ORDER BY n.position DESC`,
        [...this.values, low, high, most],
      );
      return Math.max(low, passOn(rows, most));
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

  /** A position that retention has dropped meanwhile is as old as can be told. */
  async placeAt(position: number): Promise<LogPlace> {
    const [found] = await this.#lanes.reads.query<{ at: number }>(
      this.#tenant,
      'time-at',
      'SELECT at FROM log WHERE tenant = $1 AND position = $2',
      [this.#tenant, position],
    );
    return { position, at: found?.at ?? this.#scope.now };
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

  /** The tenant's lowest position in a partition; above all others when it has none there. */
  async #lowestIn(partition: Partition): Promise<number> {
    try {
      const [lowest] = await this.#lanes.reads.query<{ position: number }>(
        this.#tenant,
        '',
        `SELECT position FROM ${logOf(partition)} WHERE tenant = $1 AND tenant = policy_tenant() ORDER BY position LIMIT 1`,
        [this.#tenant],
      );
      return lowest?.position ?? Number.POSITIVE_INFINITY;
    } catch (error) {
      if (isMissingTable(error)) return Number.POSITIVE_INFINITY;
      throw error;
    }
  }

  /** Whether the query asks only for what is on panels, and that is little. */
  async isFewLive(): Promise<boolean> {
    if (!this.compiled.live) return false;
    const [counted] = await this.#lanes.reads.query<{ isFew: boolean }>(
      this.#tenant,
      'is-few-live',
      `SELECT count(*) <= ${mostLiveRows} AS "isFew" FROM (SELECT 1 FROM live WHERE tenant = $1 LIMIT ${mostLiveRows + 1}) l`,
      [this.#tenant],
    );
    return counted?.isFew ?? false;
  }

  #readLive({ low, high }: LogRange): Promise<RecordRow[]> {
    return this.#lanes.reads.query<RecordRow>(
      this.#tenant,
      'live-rows',
      // OFFSET 0: the planner shall go from what is live to the log, and never the other way.
      `SELECT ${recordColumns} FROM (
         SELECT row, position FROM live WHERE tenant = $1 AND (expires_at IS NULL OR expires_at > $7)
           AND position BETWEEN $5 AND $6 ORDER BY position DESC OFFSET 0
       ) l CROSS JOIN LATERAL (SELECT * FROM log WHERE row = l.row OFFSET 0) n ${recordJoins}
       WHERE n.terms @@ $2::tsquery AND n.at >= $3 AND n.at < $4
       ORDER BY l.position DESC LIMIT ${testedRows}`,
      [...this.values, low, high, this.#scope.now],
    );
  }

  #readNewest({ low, high }: LogRange, limit: number): Promise<RecordRow[]> {
    return this.#lanes.reads.query<RecordRow>(
      this.#tenant,
      'search-newest',
      `SELECT ${recordColumns} FROM (
         SELECT * FROM log WHERE tenant = $1 AND position BETWEEN $5 AND $6 ORDER BY position DESC LIMIT $8
       ) n ${recordJoins}
       WHERE n.cleared IS NULL AND n.terms @@ $2::tsquery AND n.at >= $3 AND n.at < $4
       ORDER BY n.position DESC LIMIT $7`,
      [...this.values, low, high, limit, this.#lanes.newestRows],
    );
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

const dialect: TermDialect = {
  and: ' & ',
  or: ' | ',
  without: ' & !',
  term(term, prefix) {
    // PostgreSQL takes no longer one, and none is indexed.
    if (Buffer.byteLength(term) > longestTerm) return "'0.none'";
    return `'${term.replace(/['\\]/g, '$&$&')}'${prefix ? ':*' : ''}`;
  },
};

/** A term expression as PostgreSQL takes it. */
export const tsqueryOf = (terms: TermExpression): string => writeTerms(terms, dialect);

/** Times as PostgreSQL's whole numbers have them. */
export const finite = (time: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Math.ceil(time), Number.MAX_SAFE_INTEGER));

/**
 * Rows of a partition's log `n` that the terms and times of a query lead to, between the positions `$5` and `$6`. PostgreSQL
 * would not use the index under a policy, so this reads the partition itself, and has the tenant of the policies in its condition.
 */
export const foundIn = (partition: Partition) => `${logOf(partition)} n
  WHERE n.tenant = $1 AND n.tenant = policy_tenant() AND n.terms @@ $2::tsquery AND n.cleared IS NULL
    AND n.at >= $3 AND n.at < $4 AND n.position BETWEEN $5 AND $6`;

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
