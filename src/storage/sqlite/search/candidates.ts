/** Indexes as sources of candidates: each holds every match of its term, and perhaps more. The predicate decides. */
import type { Database } from 'better-sqlite3';
import type { TenantId } from '../../../core/ports.ts';
import { countInBlock } from '../index/blocks.ts';
import { blockOf, type PositionSet, type Positions, startOf } from '../index/position-set.ts';
import type { Field, FieldValue } from '../index/postings.ts';
import { inSpan, liveRanks, type Span } from '../index/values.ts';
import { positionMask } from '../rows.ts';
import { bytesListSql, listSql, logicSql, rawSql, type Sql, sql } from '../sql-text.ts';
import { entryRange } from './predicate.ts';
import type { Tuning } from './tuning.ts';

const mask = rawSql(String(positionMask));

export interface Source {
  /** Adds the candidates of a window, and perhaps some around it, to a set of that window. */
  read(into: PositionSet, window: Positions): void;
  /** How many candidates a range holds, by a bounded look; undefined when that tells nothing. */
  estimate(range: Positions): Estimate | undefined;
  /** Nothing of it can be read without reading all of it. */
  readonly isWhole: boolean;
  /** Holds matches only; otherwise candidates too that only their rows can tell from them. */
  readonly isExact: boolean;
  /** Microseconds for reading what one unit of `Estimate.reads` counts. */
  readonly readCost: number;
}

export interface Estimate {
  /** The share of the range's positions that are candidates. */
  readonly share: number;
  /** Rows to read of the index for all of the range, for each position of it. */
  readonly reads: number;
}

export interface Place {
  readonly db: Database;
  readonly tenant: TenantId;
  readonly tuning: Tuning;
}

/** The postings of any of the values of a field; all text, all numbers or all bytes. */
export function listed(field: Field, values: readonly FieldValue[], place: Place): Source {
  const bytes = values.filter((value) => value instanceof Uint8Array);
  const others = values.filter((value) => typeof value !== 'object');
  const [only] = values;
  const isOne = values.length === 1 && only !== undefined;
  const list = bytes.length > 0 ? bytesListSql(bytes) : listSql(others);
  const condition = isOne ? sql`value = ${only}` : sql`value IN ${list}`;
  return postings(field, condition, place, { isWhole: false, isExact: true, isOne });
}

/** The postings of all values in any of the spans, however many there are. */
export function spanned(field: Field, spans: readonly Span[], place: Place, isExact: boolean): Source {
  const condition = logicSql(
    'OR',
    spans.map((span) => sql`(${inSpan(rawSql('value'), span)})`),
  );
  return postings(field, condition, place, { isWhole: true, isExact, isOne: false });
}

interface Block {
  readonly block: number;
  readonly positions: Uint8Array;
}

interface Kind {
  readonly isWhole: boolean;
  readonly isExact: boolean;
  /** There is one list, so that its newest blocks can be had without the others. */
  readonly isOne: boolean;
}

function postings(field: Field, condition: Sql, { db, tenant, tuning }: Place, kind: Kind): Source {
  const select = ({ low, high }: Positions, end: Sql) => {
    const { text, values } =
      sql`SELECT block, positions FROM postings WHERE tenant = ${tenant} AND field = ${field}
      AND ${condition} AND block BETWEEN ${blockOf(low)} AND ${blockOf(high)} ${end}`;
    return { statement: db.prepare<unknown[], Block>(text), values };
  };
  const some = (range: Positions, end: Sql) => {
    const { statement, values } = select(range, end);
    return statement.all(...values);
  };
  const { isWhole, isExact, isOne } = kind;
  return {
    isWhole,
    isExact,
    readCost: tuning.costs.block,
    read(into, window) {
      const { statement, values } = select(window, rawSql(''));
      for (const { block, positions } of statement.iterate(...values)) into.addBlock(block, positions);
    },
    estimate(range) {
      const { probed, probedBlocks } = tuning;
      const first = some(range, sql`${rawSql(isOne ? 'ORDER BY block DESC' : '')} LIMIT ${probedBlocks}`);
      if (first.length < probedBlocks) return measure(first, range);
      if (isOne) return measure(first, { low: startOf(first.at(-1)?.block ?? 0), high: range.high });
      if (isWhole) return undefined;
      // The newest block may have just begun: the one before it tells more.
      const newest = { low: Math.max(range.low, startOf(blockOf(range.high) - 1)), high: range.high };
      const recent = measure(some(newest, sql`LIMIT ${2 * probed}`), newest);
      return recent.share > 0 ? recent : measure(some(range, sql`LIMIT ${probed}`), range);
    },
  };
}

/** Blocks are counted whole, so that they count for all of the block in which the range begins. */
function measure(blocks: readonly Block[], { low, high }: Positions): Estimate {
  const size = high - startOf(blockOf(low)) + 1;
  const count = blocks.reduce((sum, { positions }) => sum + countInBlock(positions), 0);
  return { share: Math.min(1, count / size), reads: blocks.length / size };
}

/** What the full-text index finds. With a prefix, all words that start alike are put together before the first result. */
export function matched(match: string, hasPrefix: boolean, place: Place): Source {
  const { tenant, tuning } = place;
  const find = ({ low, high }: Positions) => sql`SELECT rowid & ${mask} AS position FROM index_text
    WHERE index_text MATCH ${match} AND rowid BETWEEN ${entryRange(tenant, low, high)}`;
  return rows(place, {
    isWhole: hasPrefix,
    isExact: true,
    readCost: tuning.costs.match,
    find,
    order: 'rowid',
  });
}

/** The notifications that were cleared. */
export function cleared(place: Place): Source {
  const { tenant, tuning } = place;
  const find = ({ low, high }: Positions) =>
    sql`SELECT cleared & ${mask} AS position FROM clears WHERE cleared BETWEEN ${entryRange(tenant, low, high)}`;
  return rows(place, {
    isWhole: false,
    isExact: true,
    readCost: tuning.costs.posting,
    find,
    order: 'cleared',
  });
}

/** The notifications that are live: the table still has those whose time was over a moment ago. */
export function live(place: Place & { readonly now: number }): Source {
  const { db, tenant, tuning, now } = place;
  // The table is in order of rank, of which there are few, and of position only then.
  const ranks = listSql(liveRanks(db, tenant));
  const find = ({ low, high }: Positions) =>
    sql`SELECT position FROM live WHERE tenant = ${tenant} AND rank IN ${ranks} AND position BETWEEN ${low} AND ${high}
      AND (expires_at IS NULL OR expires_at > ${now})`;
  return rows(place, {
    isWhole: false,
    isExact: true,
    readCost: tuning.costs.posting,
    find,
  });
}

interface Rows {
  readonly isWhole: boolean;
  readonly isExact: boolean;
  readonly readCost: number;
  find(range: Positions): Sql;
  /** The column in whose order they can be had, and is that of positions; without one, all are counted. */
  readonly order?: string;
}

function rows({ db, tuning }: Place, { isWhole, isExact, readCost, find, order }: Rows): Source {
  const counted = (range: Positions) => {
    const newest =
      order === undefined ? rawSql('') : sql`ORDER BY ${rawSql(order)} DESC LIMIT ${tuning.probed}`;
    const { text, values } =
      sql`SELECT count(*) AS count, min(position) AS oldest FROM (${find(range)} ${newest})`;
    return db.prepare<unknown[], { count: number; oldest: number | null }>(text).get(...values);
  };
  return {
    isWhole,
    isExact,
    readCost,
    read(into, window) {
      const { text, values } = find(window);
      const positions = db.prepare<unknown[], number>(text).pluck();
      for (const position of positions.all(...values)) into.add(position);
    },
    estimate(range) {
      // To read some of it is to read it all.
      if (isWhole) return undefined;
      const { count = 0, oldest = null } = counted(range) ?? {};
      const isAll = order === undefined || count < tuning.probed || oldest === null;
      const share = Math.min(1, count / (range.high - (isAll ? range.low : oldest) + 1));
      return { share, reads: share };
    },
  };
}

/** What any of the sources leads to; undefined when one of them is missing. */
export function anyOf(sources: readonly (Source | undefined)[]): Source | undefined {
  const arms = sources.filter((source) => source !== undefined);
  if (arms.length < sources.length) return undefined;
  if (arms.length === 1) return arms[0];
  return {
    isWhole: arms.some(({ isWhole }) => isWhole),
    isExact: arms.every(({ isExact }) => isExact),
    readCost: 1,
    read: (into, window) => {
      for (const arm of arms) arm.read(into, window);
    },
    estimate(range) {
      let share = 0;
      let reads = 0;
      for (const arm of arms) {
        const estimate = arm.estimate(range);
        if (!estimate) return undefined;
        share += estimate.share;
        reads += estimate.reads * arm.readCost;
      }
      return { share: Math.min(1, share), reads };
    },
  };
}
