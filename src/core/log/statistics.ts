/** Statistics: the port that storage implements for overview, histogram and completion. Times are Unix milliseconds. */
import { searchedFields } from '#contract/history/fields.ts';
import type { CountBucket } from '#contract/history/search.ts';
import { badRequest } from '../errors.ts';
import { type Query, timesOf } from '../search/search-query.ts';
import { iso, zoneOffset } from '../time/time.ts';
import type { CallOptions } from './log.ts';
import type { TenantId } from './route.ts';

/** Buckets of `bucketMs` from `origin` on. Counts notifications received at `after` or later, and before `before`. */
export interface CountTimes {
  readonly after: number;
  readonly before: number;
  /** At or below `after`. */
  readonly origin: number;
  readonly bucketMs: number;
}

export interface LevelCount {
  /** The bucket's number; 0 begins at `origin`. */
  readonly bucket: number;
  readonly level: string;
  readonly count: number;
}

/** As many buckets as `length`, from the one with the number `first` on, in the form of the API. */
export function toBuckets(
  counts: readonly LevelCount[],
  { origin, bucketMs }: Pick<CountTimes, 'origin' | 'bucketMs'>,
  { first, length }: { readonly first: number; readonly length: number },
): CountBucket[] {
  const buckets = Array.from({ length }, (_, i) => ({
    at: iso(origin + (first + i) * bucketMs),
    counts: {} as Record<string, number>,
  }));
  for (const { bucket, level, count } of counts) {
    const found = buckets[bucket - first];
    if (found) found.counts[level] = count;
  }
  return buckets;
}

export interface Counted {
  /** In no particular order; zero counts are omitted. */
  readonly counts: readonly LevelCount[];
  /**
   * null when everything was counted. Otherwise the time ran out, and this is the time (Unix milliseconds) back to which it was.
   */
  readonly searchedTo: number | null;
}

export interface BusyHost {
  readonly host: string;
  readonly count: number;
  /** The highest level of the host's notifications. */
  readonly level: string;
}

export const valueFields = [...searchedFields, 'ip', 'source'] as const;
export type ValueField = (typeof valueFields)[number];

export interface CountOptions extends CallOptions {
  readonly now: number;
}

export interface WantedValues extends CallOptions {
  readonly field: ValueField;
  readonly prefix: string;
  readonly limit: number;
}

export interface Statistics {
  /** Counts the matches of a query by time and level, newest first, until the time is over. */
  count(tenant: TenantId, query: Query, times: CountTimes, options: CountOptions): Promise<Counted>;
  /** The most frequent hosts since `from`, among the newest 10,000 notifications. */
  busiestHosts(tenant: TenantId, from: number, limit: number): Promise<readonly BusyHost[]>;
  /**
   * The first values of a field that start with `prefix`, in order; hosts in lower case, addresses in canonical form. Labels are
   * in lower case: names, as in `env=`, until the prefix has an `=`, then as in `env=prod`. Fewer when the time is over.
   */
  values(tenant: TenantId, wanted: WantedValues): Promise<readonly string[]>;
}

/** Chooses the buckets of a histogram over history. */

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const weekMs = 7 * dayMs;
const lengths = [
  ...[1, 5, 10, 30].map((seconds) => seconds * secondMs),
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 3, 6, 12].map((hours) => hours * hourMs),
  dayMs,
  weekMs,
];
/** 1 January 1970 was a Thursday; weeks start on the Monday before. */
const firstMonday = -3 * dayMs;

/** The default range. */
export const usualRangeMs = dayMs;

export interface HistogramTimes extends CountTimes {
  readonly buckets: number;
}

export interface HistogramRange {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
}

/**
 * At most `most` buckets of a round length over the requested range; without one, over the range that the query sets,
 * and without those over the last 24 hours. From an hour on, buckets begin on the wall clock of `timeZone`, as it is at the end
 * of the range.
 *
 * @throws AppError `bad-request` when the range is empty.
 */
export function histogramTimes(
  query: Query,
  range: HistogramRange,
  most: number,
  { now, timeZone }: { readonly now: number; readonly timeZone: string },
): HistogramTimes {
  const bounds = timesOf(query);
  // Includes the current millisecond.
  const before = range.before ?? (Number.isFinite(bounds.before) ? bounds.before : now + 1);
  const usual = Number.isFinite(bounds.after) ? bounds.after : Math.max(0, before - usualRangeMs);
  const after = range.after ?? usual;
  if (after >= before)
    throw badRequest(`after must be earlier than before: ${iso(after)} is not before ${iso(before)}`);
  const offset = zoneOffset(before, timeZone);
  for (const bucketMs of candidates(after, before, most)) {
    const origin = alignedTo(after, bucketMs, offset);
    const buckets = Math.ceil((before - origin) / bucketMs);
    if (buckets <= most) return { after, before, origin, bucketMs, buckets };
  }
  throw new Error('there is always a length long enough');
}

/** Round lengths, shortest first; beyond a week its multiples. */
function* candidates(after: number, before: number, most: number): Generator<number> {
  yield* lengths;
  for (let weeks = Math.max(2, Math.ceil((before - after) / weekMs / most)); ; weeks++) yield weeks * weekMs;
}

function alignedTo(at: number, bucketMs: number, offset: number): number {
  if (bucketMs < hourMs) return at - (at % bucketMs);
  // Historical offsets have seconds, but a bucket starts on a full minute.
  const base = (bucketMs % weekMs === 0 ? firstMonday : 0) - Math.round(offset / minuteMs) * minuteMs;
  return base + Math.floor((at - base) / bucketMs) * bucketMs;
}
