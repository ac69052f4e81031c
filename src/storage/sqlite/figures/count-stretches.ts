/** Where in the log the buckets of a count stand, so that most notifications need not be asked when they came. */
import type { CountTimes } from '../../../core/figures.ts';
import type { Positions } from '../index/position-set.ts';
import { firstFrom, lastBefore } from '../search/bounds.ts';
import type { Place } from '../search/candidates.ts';
import type { SearchScope } from '../search/predicate.ts';

/** Positions whose notifications are all of one bucket; null: of several, or perhaps of none. */
export interface Stretch extends Positions {
  readonly bucket: number | null;
}

interface Cell extends Positions {
  readonly bucket: number;
}

const units = [
  { ms: 3_600_000, table: 'index_hour', column: 'hour' },
  { ms: 60_000, table: 'minutes', column: 'minute' },
];

/**
 * Stretches of the log in order, which together hold every indexed notification of the times asked for. Clocks may go back
 * and minutes overlap in the log: such positions are of no one bucket.
 */
export function stretchesOf(scope: SearchScope & Place, times: CountTimes): Stretch[] {
  const cells = cellsOf(scope, times);
  if (!cells) return [{ low: 0, high: Number.MAX_SAFE_INTEGER, bucket: null }];
  const { db, tenant } = scope;
  // Outside of these stands what came before or after the times asked for.
  const low = (lastBefore(db, tenant, times.after) ?? 0) + 1;
  const high = (firstFrom(db, tenant, times.before) ?? Number.MAX_SAFE_INTEGER) - 1;
  const ends = [low, high + 1, ...cells.flatMap((cell) => [cell.low, cell.high + 1])];
  const edges = [...new Set(ends)].sort((a, b) => a - b);
  const stretches: Stretch[] = [];
  for (const [i, from] of edges.slice(0, -1).entries()) {
    const stretch = { low: from, high: (edges[i + 1] as number) - 1 };
    const over = cells.filter((cell) => cell.low <= stretch.low && cell.high >= stretch.high);
    if (over.length === 0) continue;
    const isSure = over.length === 1 && stretch.low >= low && stretch.high <= high;
    stretches.push({ ...stretch, bucket: isSure ? (over[0] as Cell).bucket : null });
  }
  return stretches;
}

/** Where each bucket's notifications begin and end; undefined when buckets are no whole minutes. */
function cellsOf({ db, tenant }: Place, { after, before, origin, bucketMs }: CountTimes): Cell[] | undefined {
  const unit = units.find(({ ms }) => bucketMs % ms === 0 && origin % ms === 0);
  if (!unit) return undefined;
  const { ms, table, column } = unit;
  return db
    .prepare<number[], Cell>(
      `SELECT CAST((${column} * ${ms} - ?) / ? AS INTEGER) AS bucket, min(first) AS low, max(last) AS high
       FROM ${table} WHERE tenant = ? AND ${column} BETWEEN ? AND ? GROUP BY 1`,
    )
    .all(origin, bucketMs, tenant, Math.floor(after / ms), Math.floor((before - 1) / ms));
}
