/** Which level each row of a partition has for one tenant, out of the index, without reading a row. */
import { LRUCache } from 'lru-cache';
import type { TenantId } from '#core/ports.ts';
import { valueTerm } from '#core/search/index-terms.ts';
import type { RowRange } from './candidates.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';

/** Memory for what is remembered of partitions, two bytes a row. */
const rememberedBytes = 16 * 1024 * 1024;

/** Numbers of the rows that an expression of FTS5 finds in a partition's index, in ascending order. */
export function rowsMatching(
  sql: Statements,
  partition: Partition,
  match: string,
  { low, high }: RowRange,
): Float64Array {
  const { terms } = tablesOf(partition);
  // One text for all of them: several times as fast as a result row for each.
  const text = sql
    .of<[string, bigint, bigint], { rows: string | null }>(
      `SELECT group_concat(rowid - ${partition.firstRow}) AS rows FROM ${terms} WHERE ${terms} MATCH ? AND rowid BETWEEN ? AND ?`,
    )
    .get(match, BigInt(low), BigInt(high))?.rows;
  return text ? numbersIn(text, partition.firstRow) : new Float64Array();
}

/** Numbers separated by commas, each plus `offset`. */
function numbersIn(text: string, offset: number): Float64Array {
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

interface Remembered {
  readonly names: string[];
  /** By row - firstRow: an index in `names`. */
  readonly levels: Uint16Array;
  /** Rows up to here are known. */
  upTo: number;
}

/** Remembers what it has worked out: a closed partition's levels never change. */
export class LevelsOfRows {
  readonly #cache = new LRUCache<string, Remembered>({
    maxSize: rememberedBytes,
    sizeCalculation: ({ levels }) => levels.byteLength + 1,
  });

  /** Levels of the tenant's notifications that are indexed. */
  of(sql: Statements, tenant: TenantId, partition: Partition): { at(row: number): string } {
    const key = `${tenant} ${partition.id}`;
    let known = this.#cache.get(key);
    if (!known || known.upTo < partition.indexed) {
      known = this.#read(sql, tenant, partition, known);
      this.#cache.set(key, known);
    }
    const { names, levels } = known;
    return { at: (row) => names[levels[row - partition.firstRow] as number] as string };
  }

  #read(sql: Statements, tenant: TenantId, partition: Partition, known: Remembered | undefined): Remembered {
    const { firstRow, indexed } = partition;
    const names = [...(known?.names ?? [])];
    const levels = new Uint16Array(indexed - firstRow + 1);
    if (known) levels.set(known.levels);
    const range = { low: (known?.upTo ?? firstRow - 1) + 1, high: indexed };
    for (const name of levelsIn(sql, tenant, partition)) {
      if (!names.includes(name)) names.push(name);
      const rows = rowsMatching(sql, partition, `"${valueTerm(tenant, 'level', name)}"`, range);
      const index = names.indexOf(name);
      for (const row of rows) levels[row - firstRow] = index;
    }
    return { names, levels, upTo: indexed };
  }
}

function levelsIn(sql: Statements, tenant: TenantId, partition: Partition): string[] {
  return sql
    .of<[number, number], { level: string }>(
      'SELECT DISTINCT level FROM minutes WHERE partition = ? AND tenant = ?',
    )
    .all(partition.id, tenant)
    .map(({ level }) => level);
}
