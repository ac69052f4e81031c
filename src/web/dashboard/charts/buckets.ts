/** Counts over time, as they are drawn and told. */
import type { Formats } from '../pieces/formats.ts';

export interface LevelCount {
  readonly level: string;
  readonly count: number;
}

type Counts = Readonly<Record<string, number>>;

export const totalOf = (counts: Counts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** The levels with any, the most serious first. */
export function stackOf(counts: Counts, rank: (level: string) => number): LevelCount[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([level, count]) => ({ level, count }))
    .sort((a, b) => rank(b.level) - rank(a.level) || a.level.localeCompare(b.level));
}

const dayMs = 86_400_000;

/** As in "21 Nov, 09:15 – 09:30", or the day alone where buckets are days. */
export function bucketSpan(at: string, bucketMs: number, formats: Formats): string {
  const from = Date.parse(at);
  if (bucketMs === dayMs) return formats.date(from);
  if (bucketMs > dayMs) return `${formats.date(from)} – ${formats.date(from + bucketMs - 1)}`;
  if (bucketMs < 60_000) return `${formats.dayTime(from)}:${new Date(from).toISOString().slice(17, 19)}`;
  return `${formats.dayTime(from)} – ${formats.shortClock(from + bucketMs)}`;
}
