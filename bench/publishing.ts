/** The format that publishers and readers of benchmarks share. */

/** Occurs once in each event, and nowhere else. */
export const mark = '~#';
/** The digits after the mark: microseconds of the system's monotonic clock. */
export const stampDigits = 16;
/** The placeholder of the time stamp in a request's body. */
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
  /** Latency of the responses, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}
