/** What storage can count: the promise behind overview, histogram and completion. Times are Unix milliseconds. */
import type { CallOptions, TenantId } from './ports.ts';
import type { Query } from './search/search-query.ts';

/** Buckets of `bucketMs` from `origin` on; counted is what came at `after` or later, and before `before`. */
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

export interface Counted {
  /** In no particular order; what would be 0 is left out. */
  readonly counts: readonly LevelCount[];
  /** null when all was counted; else the time (Unix milliseconds) back to which it was: there was no time for older ones. */
  readonly searchedTo: number | null;
}

export interface MinuteCount {
  readonly at: number;
  readonly level: string;
  readonly count: number;
}

export interface BusyHost {
  readonly host: string;
  readonly count: number;
  /** The highest in rank of what it was named in. */
  readonly level: string;
}

export const valueFields = ['host', 'ip', 'source', 'key'] as const;
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
  /** The matches of a query by time and level, newest first, for as long as there is time. */
  count(tenant: TenantId, query: Query, times: CountTimes, options: CountOptions): Promise<Counted>;
  /** What was received in each minute that begins at `from` or later. Retention takes nothing from it but whole minutes. */
  minutes(tenant: TenantId, from: number): Promise<readonly MinuteCount[]>;
  /** How many were received in the minutes that begin at `from` or later. */
  received(tenant: TenantId, from: number): Promise<number>;
  /** Hosts that were named most since `from`, the most frequent first, among the newest 10,000 notifications. */
  busiestHosts(tenant: TenantId, from: number, limit: number): Promise<readonly BusyHost[]>;
  /**
   * The first values of a field that start with `prefix`, in order; hosts in lower case, addresses in canonical form. Fewer
   * when the time is over.
   */
  values(tenant: TenantId, wanted: WantedValues): Promise<readonly string[]>;
}
