/** Lists of positions, ascending, each once. */
import type { Database } from 'better-sqlite3';
import type { Positions } from './search-bounds.ts';
import type { Source } from './search-candidates.ts';
import type { Costs } from './search-tuning.ts';
import { sql } from './sql-text.ts';

/** Reads what sources hold, for the time of one search. */
export class PositionLists {
  readonly #db: Database;
  readonly #costs: Costs;
  readonly #collected = new Map<Source, Float64Array>();
  /** What was paid for rows instead of collecting a source. */
  readonly #paid = new Map<Source, number>();

  constructor(db: Database, costs: Costs) {
    this.#db = db;
    this.#costs = costs;
  }

  /**
   * Whether reading the window of a source that lists this share of all positions costs less than fetching so many rows. What
   * can only be read as a whole is worth it once not having it has cost as much.
   */
  isWorth(source: Source, rows: number, listed: number, window: Positions, range: Positions): boolean {
    const { row, posting, collected } = this.#costs;
    if (source.access !== 'collected') {
      return listed * (window.high - window.low + 1) * posting < rows * row;
    }
    if (this.#collected.has(source)) return true;
    const paid = (this.#paid.get(source) ?? 0) + rows * row;
    this.#paid.set(source, paid);
    return listed * (range.high - range.low + 1) * collected < paid;
  }

  /** The candidates in a window of the range. What can only be read as a whole is read once, for all of the range. */
  read(source: Source, window: Positions, range: Positions): Float64Array {
    if (source.access !== 'collected') return this.#select(source, window);
    let all = this.#collected.get(source);
    if (!all) {
      all = this.#select(source, range);
      this.#collected.set(source, all);
    }
    return all.subarray(firstAtLeast(all, window.low), firstAtLeast(all, window.high + 1));
  }

  #select(source: Source, range: Positions): Float64Array {
    const { text, values } =
      sql`SELECT ${source.position} FROM ${source.from(range)} WHERE ${source.where(range)}`;
    const positions = Float64Array.from(
      this.#db
        .prepare<unknown[], number>(text)
        .pluck()
        .all(...values),
    );
    // One list is in order already.
    return source.access === 'ordered' ? positions : positions.sort();
  }
}

/** What of `list` is in `others`, or is not. */
export function sift(list: Float64Array, others: Float64Array, keeps: boolean): Float64Array {
  const left = new Float64Array(list.length);
  let count = 0;
  let at = 0;
  for (const position of list) {
    while (at < others.length && (others[at] as number) < position) at += 1;
    if ((others[at] === position) === keeps) {
      left[count] = position;
      count += 1;
    }
  }
  return left.subarray(0, count);
}

function firstAtLeast(list: Float64Array, position: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
