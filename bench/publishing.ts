/** What publishers and readers of the benchmark agree on. */

/** Stands in each event once, and nowhere else. */
export const mark = '~#';
/** Behind the mark: microseconds of the system's monotonic clock. */
export const stampDigits = 16;
/** Stands in a request's body where the stamp comes. */
export const stampPlace = 'S'.repeat(stampDigits);

export interface PublishOrder {
  readonly port: number;
  /** A whole HTTP request with one stampPlace. */
  readonly request: string;
  readonly count: number;
  readonly connections: number;
  /** Messages a second; null: as fast as they are answered. */
  readonly perSecond: number | null;
}

export interface Published {
  readonly beganAt: number;
  readonly endedAt: number;
  /** Of the answers, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}
