/** The numbers a search is planned by. They decide how long it takes, never what it finds. */
export interface Tuning {
  /** Rows of the log tried before any planning: most searches of a dashboard end there. */
  readonly firstRows: number;
  /** Rows of the log or of an index, and blocks of postings, looked at for an estimate. */
  readonly probed: number;
  readonly probedBlocks: number;
  /** The first window is expected to fill the page this many times, and is no narrower than `firstWindow`. */
  readonly windowFill: number;
  readonly firstWindow: number;
  /** How much wider each next one is. */
  readonly windowGrowth: number;
  /** Rows of one index read for one window, at most. */
  readonly widestWindow: number;
  /** Candidates tested at once, at first. */
  readonly firstBatch: number;
  /** Values of a field that are named one by one; more are read as a whole. */
  readonly windowedLists: number;
  /** Values looked at to find those that a glob matches: a few milliseconds. */
  readonly visitedValues: number;
  /** The quickest plan is given up after so many times its expected time, and not before these microseconds. */
  readonly patience: number;
  readonly leastPatience: number;
  readonly costs: Costs;
}

/** Microseconds, on warm pages. */
export interface Costs {
  /** To begin with an index at all. */
  readonly open: number;
  /** For what is read of an index: a block of postings, a position in a table, a match of the full-text index. */
  readonly block: number;
  readonly posting: number;
  readonly match: number;
  /** For each candidate: its row fetched, its text read. */
  readonly row: number;
  readonly text: number;
  /** For each row of the log, read in order. */
  readonly logRow: number;
}

/** As measured by bench/search.ts. */
export const defaultTuning: Tuning = {
  firstRows: 500,
  probed: 1000,
  probedBlocks: 16,
  windowFill: 2,
  firstWindow: 32_768,
  windowGrowth: 4,
  widestWindow: 200_000,
  firstBatch: 256,
  windowedLists: 1000,
  visitedValues: 4000,
  patience: 10,
  leastPatience: 30_000,
  costs: { open: 100, block: 2, posting: 0.1, match: 0.2, row: 8, text: 1.5, logRow: 1 },
};

/** A search that is not done after its first step has used up its patience with the plan that looked quickest. */
export const tuningOfLaterSteps: Tuning = { ...defaultTuning, patience: 0, leastPatience: 0 };
