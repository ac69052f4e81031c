/**
 * Goes through a tenant's log, newest first, for searches and counts: a statement at a time, each within one partition and
 * each with a short time-out. Between two statements nothing is held, and other tenants have their turn.
 */
import type { LogBounds, TenantId } from '#core/ports.ts';
import { type CompiledQuery, compileQuery, type TermExpression } from '#core/search/search-compile.ts';
import { matcherOf } from '#core/search/search-evaluate.ts';
import type { Query } from '#core/search/search-query.ts';
import type { Connections } from './connections.ts';
import { isMissingTable, isTimeout } from './errors.ts';
import { logOf, type Partition, readPartitions } from './partitions.ts';
import { type RecordRow, recordColumns, recordJoins, toNotification } from './rows.ts';

/** Rows that are tested one by one, read at once. */
export const testedRows = 500;
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

/** A query made ready to run. */
export interface PreparedQuery {
  readonly tenant: TenantId;
  readonly now: number;
  readonly compiled: CompiledQuery;
  readonly matches: (row: RecordRow) => boolean;
  /** What every statement begins its values with: `$1` the tenant, `$2` the terms, times `$3` from and `$4` to. */
  readonly values: readonly unknown[];
}

export function prepareQuery(tenant: TenantId, query: Query, now: number): PreparedQuery {
  const compiled = compileQuery(query, tenant);
  const matches = matcherOf(query, now);
  return {
    tenant,
    now,
    compiled,
    matches: (row) =>
      matches({
        ...toNotification(row),
        cleared: row.cleared_at !== null,
        shown: row.shown > 0,
        acknowledged: row.acknowledged_at !== null,
      }),
    values: [tenant, tsqueryOf(compiled.terms), finite(compiled.after), finite(compiled.before)],
  };
}

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

/** Positions from `first` to `last` of one partition, to be looked at by `connections`. */
export interface Part {
  readonly connections: Connections;
  readonly partition: Partition;
  readonly first: number;
  readonly last: number;
}

/**
 * Calls `visit` with one part after another, from position `last` down to `first`, and yields the position below which is
 * still to be looked at after each statement: `visit` answers the lowest that it looked at. After a time-out the next part is
 * smaller.
 */
export async function* walk(
  { steps, reads }: SearchLanes,
  { tenant }: PreparedQuery,
  range: { readonly first: number; readonly last: number },
  visit: (part: Part) => Promise<number>,
): AsyncGenerator<number> {
  let { last } = range;
  let size = Number.MAX_SAFE_INTEGER;
  for (const partition of await readPartitions(reads)) {
    if (last < range.first) return;
    const first = Math.max(range.first, await lowestIn(reads, partition, tenant));
    while (last >= first) {
      const part = { partition, first: Math.max(first, last - size + 1), last };
      const isSmall = part.last - part.first < fewestPositions;
      try {
        const lowest = await visit({ ...part, connections: isSmall ? reads : steps });
        // Where much is found, as much more is a small part.
        size = lowest > part.first ? Math.max(2 * fewestPositions, 2 * (last - lowest)) : 2 * size;
        last = lowest - 1;
      } catch (error) {
        // Dropped meanwhile: nobody keeps any of it.
        if (isMissingTable(error)) break;
        if (isSmall || !isTimeout(error)) throw error;
        size = Math.max(fewestPositions, Math.floor((part.last - part.first) / 4));
      }
      yield last;
    }
  }
  yield range.first - 1;
}

/** The tenant's lowest position in a partition; above all others when it has none there. */
async function lowestIn(reads: Connections, partition: Partition, tenant: TenantId): Promise<number> {
  try {
    const [lowest] = await reads.query<{ position: number }>(
      tenant,
      '',
      `SELECT position FROM ${logOf(partition)} WHERE tenant = $1 AND tenant = policy_tenant() ORDER BY position LIMIT 1`,
      [tenant],
    );
    return lowest?.position ?? Number.POSITIVE_INFINITY;
  } catch (error) {
    if (isMissingTable(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** Whether a query asks only for what is on panels, and that is little: then {@link walkLive} finds it. */
export async function isFewLive(
  { reads }: SearchLanes,
  { tenant, compiled }: PreparedQuery,
): Promise<boolean> {
  if (!compiled.live) return false;
  const [counted] = await reads.query<{ isFew: boolean }>(
    tenant,
    'is-few-live',
    `SELECT count(*) <= ${mostLiveRows} AS "isFew" FROM (SELECT 1 FROM live WHERE tenant = $1 LIMIT ${mostLiveRows + 1}) l`,
    [tenant],
  );
  return counted?.isFew ?? false;
}

/** As {@link walk}, through what is on panels alone; `take` gets the rows of a statement that match. */
export async function* walkLive(
  { reads }: SearchLanes,
  query: PreparedQuery,
  range: { readonly first: number; readonly last: number },
  take: (rows: readonly RecordRow[]) => void,
): AsyncGenerator<number> {
  let { last } = range;
  while (last >= range.first) {
    const rows = await reads.query<RecordRow>(
      query.tenant,
      'live-rows',
      // OFFSET 0: the planner shall go from what is live to the log, and never the other way.
      `SELECT ${recordColumns} FROM (
         SELECT row, position FROM live WHERE tenant = $1 AND (expires_at IS NULL OR expires_at > $7)
           AND position BETWEEN $5 AND $6 ORDER BY position DESC OFFSET 0
       ) l CROSS JOIN LATERAL (SELECT * FROM log WHERE row = l.row OFFSET 0) n ${recordJoins}
       WHERE n.terms @@ $2::tsquery AND n.at >= $3 AND n.at < $4
       ORDER BY l.position DESC LIMIT ${testedRows}`,
      [...query.values, range.first, last, query.now],
    );
    take(rows.filter(query.matches));
    last = rows.length < testedRows ? range.first - 1 : (rows.at(-1) as RecordRow).position - 1;
    yield last;
  }
}

/** The time of the entry at a position: down to there the log was searched. */
export async function timeAt(
  reads: Connections,
  tenant: TenantId,
  position: number,
): Promise<number | undefined> {
  const [found] = await reads.query<{ at: number }>(
    tenant,
    'time-at',
    'SELECT at FROM log WHERE tenant = $1 AND position = $2',
    [tenant, position],
  );
  return found?.at;
}

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
