/** The numbers a search is planned by. They decide how long it takes, never what it finds. */
export interface Tuning {
  /** Rows of the log tried before any planning: most searches of a dashboard end there. */
  readonly firstRows: number;
  /** Postings counted, or rows tried, for an estimate. */
  readonly probed: number;
  /** The first window is expected to fill the page this many times, and is no narrower than `firstWindow`. */
  readonly windowFill: number;
  readonly firstWindow: number;
  /** How much wider each next one is. */
  readonly windowGrowth: number;
  /** Postings of one list read at once, at most. */
  readonly widestWindow: number;
  /** Collected candidates tested at once, at first. */
  readonly firstBatch: number;
  /** Looking into this many lists for each candidate still costs less than fetching its row. */
  readonly probedLists: number;
  /** Narrowing this many lists to a window costs about a millisecond. */
  readonly windowedLists: number;
  /** Values looked at to find those that a glob matches: a few milliseconds. */
  readonly visitedValues: number;
  readonly costs: Costs;
}

/** Microseconds, on warm pages. */
export interface Costs {
  /** To begin with an index at all. */
  readonly open: number;
  /** For each candidate: read from its list in order, collected and sorted, looked up in another list, fetched, its text read. */
  readonly posting: number;
  readonly collected: number;
  readonly probe: number;
  readonly row: number;
  readonly text: number;
  /** For each row of the log, read in order. */
  readonly logRow: number;
}

/** As measured by bench/search.ts. */
export const defaultTuning: Tuning = {
  firstRows: 500,
  probed: 1000,
  windowFill: 2,
  firstWindow: 4096,
  windowGrowth: 4,
  widestWindow: 200_000,
  firstBatch: 256,
  probedLists: 8,
  windowedLists: 1000,
  visitedValues: 4000,
  costs: { open: 100, posting: 0.1, collected: 0.15, probe: 0.5, row: 5, text: 1.5, logRow: 0.6 },
};
