/** Indexes as sources of candidates: each holds every match of its term, and perhaps more. The predicate decides. */
import type { Database } from 'better-sqlite3';
import type { TenantId } from '../../core/ports.ts';
import { positionMask } from './rows.ts';
import type { Positions } from './search-bounds.ts';
import { entryRange, entrySql } from './search-predicate.ts';
import type { Tuning } from './search-tuning.ts';
import { type IndexColumn, inSpan, type Span } from './search-values.ts';
import { bytesListSql, joinSql, listSql, logicSql, rawSql, type Sql, sql } from './sql-text.ts';

export interface Source {
  /** What to select from, as `s`, and on which conditions. */
  from(range: Positions): Sql;
  where(range: Positions): Sql;
  /** SQL on `s`. */
  readonly position: Sql;
  readonly entry: Sql;
  readonly order: Sql;
  /**
   * How candidates come. `ordered`: newest first, as many as are taken. `windowed`: they have to be sorted, but a narrow
   * range costs little. `collected`: for any of them all have to be read.
   */
  readonly access: 'ordered' | 'windowed' | 'collected';
  /** Whether a position is among the candidates, where a look or two can tell. */
  readonly has?: (position: Sql) => Sql;
  /** Holds matches only; otherwise candidates too that only their rows can tell from them. */
  readonly isExact: boolean;
  /** What it is put together from. */
  readonly arms?: readonly Source[];
}

export interface Place {
  readonly db: Database;
  readonly tenant: TenantId;
  readonly tuning: Tuning;
}

/** The postings under any of the values. */
export function listed(
  { table, column }: IndexColumn,
  values: readonly (string | number)[],
  place: Place,
): Source {
  const [only] = values;
  const one = values.length === 1 ? only : undefined;
  return postings(table, place, {
    isExact: true,
    lists: values.length,
    condition: (name) => {
      const value = rawSql(`${name}.${column}`);
      return one === undefined ? sql`${value} IN ${listSql(values)}` : sql`${value} = ${one}`;
    },
  });
}

/** The postings under any of the addresses. */
export function listedBytes(
  { table, column }: IndexColumn,
  values: readonly Uint8Array[],
  place: Place,
): Source {
  const [only] = values;
  const one = values.length === 1 ? only : undefined;
  return postings(table, place, {
    isExact: true,
    lists: values.length,
    condition: (name) => {
      const value = rawSql(`${name}.${column}`);
      return one === undefined ? sql`${value} IN ${bytesListSql(values)}` : sql`${value} = ${one}`;
    },
  });
}

/** The postings of all values in any of the spans, however many there are. */
export function spanned(
  { table, column }: IndexColumn,
  spans: readonly Span[],
  place: Place,
  isExact: boolean,
): Source {
  return postings(table, place, {
    isExact,
    lists: Number.POSITIVE_INFINITY,
    condition: (name) =>
      logicSql(
        'OR',
        spans.map((span) => sql`(${inSpan(rawSql(`${name}.${column}`), span)})`),
      ),
  });
}

interface Postings {
  /** How many lists of positions the condition covers. */
  readonly lists: number;
  readonly isExact: boolean;
  condition(name: string): Sql;
}

function postings(table: string, { tenant, tuning }: Place, { lists, isExact, condition }: Postings): Source {
  const of = (name: string) => sql`${rawSql(name)}.tenant = ${tenant} AND ${condition(name)}`;
  const has = (position: Sql) =>
    sql`EXISTS (SELECT 1 FROM ${rawSql(table)} p WHERE ${of('p')} AND p.position = ${position})`;
  return {
    from: () => rawSql(`${table} s`),
    where: ({ low, high }) => sql`${of('s')} AND s.position BETWEEN ${low} AND ${high}`,
    position: rawSql('s.position'),
    entry: entrySql(tenant, rawSql('s.position')),
    order: rawSql('s.position'),
    isExact,
    access: lists === 1 ? 'ordered' : lists <= tuning.windowedLists ? 'windowed' : 'collected',
    ...(lists <= tuning.probedLists && { has }),
  };
}

/** What the full-text index finds. */
export function matched(match: string, hasPrefix: boolean, { tenant }: Place): Source {
  return {
    from: () => rawSql('index_text s'),
    where: ({ low, high }) =>
      sql`s.index_text MATCH ${match} AND s.rowid BETWEEN ${entryRange(tenant, low, high)}`,
    position: rawSql(`(s.rowid & ${positionMask})`),
    entry: rawSql('s.rowid'),
    order: rawSql('s.rowid'),
    isExact: true,
    // All words that start alike are put together before the first result comes.
    access: hasPrefix ? 'collected' : 'ordered',
  };
}

/** The notifications that were cleared. */
export function cleared({ tenant }: Place): Source {
  return {
    from: () => rawSql('clears s'),
    where: ({ low, high }) => sql`s.cleared BETWEEN ${entryRange(tenant, low, high)}`,
    position: rawSql(`(s.cleared & ${positionMask})`),
    entry: rawSql('s.cleared'),
    order: rawSql('s.cleared'),
    isExact: true,
    access: 'ordered',
    has: (position) => sql`EXISTS (SELECT 1 FROM clears p WHERE p.cleared = ${entrySql(tenant, position)})`,
  };
}

/** What any of the sources leads to; undefined when one of them is missing. */
export function anyOf(sources: readonly (Source | undefined)[], { tenant }: Place): Source | undefined {
  const arms = sources.filter((source) => source !== undefined);
  if (arms.length < sources.length) return undefined;
  if (arms.length === 1) return arms[0];
  const select = (arm: Source, range: Positions) =>
    sql`SELECT ${arm.position} AS position FROM ${arm.from(range)} WHERE ${arm.where(range)}`;
  const probes = arms.flatMap(({ has }) => (has ? [has] : []));
  return {
    from: (range) =>
      sql`(${joinSql(
        arms.map((arm) => select(arm, range)),
        ' UNION ',
      )}) s`,
    where: () => rawSql('1'),
    position: rawSql('s.position'),
    entry: entrySql(tenant, rawSql('s.position')),
    order: rawSql('s.position'),
    arms,
    isExact: arms.every(({ isExact }) => isExact),
    access: arms.some(({ access }) => access === 'collected') ? 'collected' : 'windowed',
    ...(probes.length === arms.length && {
      has: (position: Sql) =>
        logicSql(
          'OR',
          probes.map((has) => has(position)),
        ),
    }),
  };
}
