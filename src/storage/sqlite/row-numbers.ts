/** Numbers of rows that the index of a partition finds, without reading a row. */
import type { TermExpression } from '#core/search/search-compile.ts';
import { minuteMs } from '../counting.ts';
import { type LogRange, type TermDialect, writeTerms } from '../log-search.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';

const dialect: TermDialect = {
  and: ' AND ',
  or: ' OR ',
  without: ' NOT ',
  // A term in double quotes is one token, whatever it holds.
  term: (term, prefix) => `"${term}"${prefix ? ' *' : ''}`,
};

/** A term expression as FTS5 takes it. */
export const matchExpression = (terms: TermExpression): string => writeTerms(terms, dialect);

/** The rows that an expression of FTS5 finds, in ascending order; the first `limit` of them. */
export function rowsMatching(
  sql: Statements,
  partition: Partition,
  match: string,
  { low, high, limit = -1 }: LogRange & { readonly limit?: number },
): Float64Array {
  const { terms } = tablesOf(partition);
  const { firstRow } = partition;
  // One text for all of them: several times as fast as a result row for each.
  // Whole numbers as such: FTS5 would not narrow its search by others.
  const text = sql
    .of<[string, bigint, bigint, number], { rows: string | null }>(
      `SELECT group_concat(row) AS rows FROM (
         SELECT rowid - ${firstRow} AS row FROM ${terms} WHERE ${terms} MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)`,
    )
    .get(match, BigInt(low), BigInt(high), limit)?.rows;
  return numbersIn(text ?? '', firstRow);
}

/** Narrows indexed rows to those that may be of these times. Clocks go back, so rows of other times may be among them. */
export function rowsInTimes(
  sql: Statements,
  { firstRow, firstMinute, lastMinute }: Partition,
  { after, before }: { readonly after: number; readonly before: number },
  { low, high }: LogRange,
): LogRange {
  const nothing = { low: 1, high: 0 };
  const [first, last] = [after, before - 1].map((at) => Math.floor(finite(at) / minuteMs)) as [
    number,
    number,
  ];
  if (firstMinute === null || lastMinute === null || lastMinute < first || firstMinute > last) return nothing;
  if (first <= firstMinute && lastMinute <= last) return { low, high };
  const { from, upTo, end } = sql
    .of<[{ firstRow: number; high: number; first: number; last: number }], Record<string, number | null>>(
      `WITH runs AS MATERIALIZED (
         SELECT (SELECT min(row) FROM row_minutes WHERE row BETWEEN @firstRow AND @high AND minute >= @first) AS "from",
           (SELECT max(row) FROM row_minutes WHERE row BETWEEN @firstRow AND @high AND minute <= @last) AS "upTo"
       ) SELECT *, (SELECT min(row) FROM row_minutes WHERE row > runs."upTo") AS "end" FROM runs`,
    )
    .get({ firstRow, high, first, last }) as Record<string, number | null>;
  if (from == null || upTo == null) return nothing;
  return { low: Math.max(low, from), high: Math.min(high, (end ?? high + 1) - 1) };
}

/** SQLite has no infinity that compares with whole numbers. */
export const finite = (at: number): number => Math.max(-8.64e15, Math.min(8.64e15, at));

/** Numbers separated by commas, each plus `offset`. */
export function numbersIn(text: string, offset: number): Float64Array {
  if (text === '') return new Float64Array();
  const numbers = new Float64Array(Math.ceil(text.length / 2) + 1);
  let count = 0;
  let number = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x2c) {
      numbers[count++] = number + offset;
      number = 0;
    } else number = number * 10 + code - 0x30;
  }
  numbers[count++] = number + offset;
  return numbers.subarray(0, count);
}
