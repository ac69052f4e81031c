/** Statistics: the port that storage implements for overview, histogram and completion. Times are Unix milliseconds. */
import { patternFieldNames } from '#contract/history/fields.ts';
import type { CountBucket } from '#contract/history/overview.ts';
import type { CallOptions, TenantId } from '../ports.ts';
import type { Query } from '../search/search-query.ts';
import { iso } from '../time.ts';

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

export const valueFields = [...patternFieldNames, 'ip', 'source'] as const;
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
   * The first values of a field that start with `prefix`, in order; hosts in lower case, addresses in canonical form. Fewer
   * when the time is over.
   */
  values(tenant: TenantId, wanted: WantedValues): Promise<readonly string[]>;
}
