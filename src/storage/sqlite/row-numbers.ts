/** Numbers of rows that the index of a partition finds, without reading a row. */
import type { TermExpression } from '#core/search/search-compile.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';

export interface RowRange {
  readonly low: number;
  readonly high: number;
}

/** A term expression as FTS5 takes it. A term in double quotes is one token, whatever it holds. */
export function matchExpression(terms: TermExpression): string {
  switch (terms.kind) {
    case 'term':
      return `"${terms.term}"${terms.prefix ? ' *' : ''}`;
    case 'and':
      return `(${terms.of.map(matchExpression).join(' AND ')})`;
    case 'or':
      return `(${terms.of.map(matchExpression).join(' OR ')})`;
    case 'without':
      return `(${matchExpression(terms.of)} NOT ${matchExpression(terms.not)})`;
  }
}

/** The rows that an expression of FTS5 finds, in ascending order; the first `limit` of them. */
export function rowsMatching(
  sql: Statements,
  partition: Partition,
  match: string,
  { low, high, limit = -1 }: RowRange & { readonly limit?: number },
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
