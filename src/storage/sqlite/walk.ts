/**
 * Goes through the rows of a tenant's log that a query may mean, newest first and partition by partition. Searches and counts
 * both do it by this: what the index decides, what is not indexed yet, and what is live.
 */
import { lastRowOf, type Partition, type Statements, tablesOf } from './partitions.ts';
import { type PreparedQuery, placeOf, type WalkedRow } from './prepared-query.ts';
import { type RowRange, rowsMatching } from './row-numbers.ts';
import { entryColumns } from './rows.ts';

const minuteMs = 60_000;
/** Rows read at once by their numbers. */
const rowsAtOnce = 64;
/** The time is checked after so many rows. */
const rowsACheck = 256;
/** The index narrows what is live where it finds fewer than this many times as many rows. */
const mostFoundPerLive = 4;

/** A run of rows in one partition. */
export interface Run {
  readonly partition: Partition;
  readonly range: RowRange;
  /** Whether the index knows the rows of the run. */
  readonly indexed: boolean;
  /** Those of them that are live, where only such can match. */
  readonly live: Float64Array | undefined;
}

export class Walk {
  /** The row down to which all was scanned, once the time was over. */
  stoppedAt: number | undefined;
  readonly #sql: Statements;
  readonly #query: PreparedQuery;
  readonly #isOver: () => boolean;
  #scanned = 0;

  /** `isOver` is asked now and then; once it says so, the walk ends, after at least one step forward. */
  constructor(sql: Statements, query: PreparedQuery, isOver: () => boolean) {
    this.#sql = sql;
    this.#query = query;
    this.#isOver = isOver;
  }

  /** What the query has to go through, newest first; runs whose times cannot match are left out. */
  *runs(): Iterable<Run> {
    for (const partition of this.#query.partitions) {
      for (const run of this.#runsOf(partition)) {
        yield run;
        this.#check(run.range.low);
        if (this.stoppedAt !== undefined) return;
      }
    }
  }

  /** The rows of a run that match, newest first. */
  *rows(run: Run): Iterable<WalkedRow> {
    const { compiled, tenant, matches } = this.#query;
    const isDecided = run.indexed && compiled.exact;
    for (const row of this.#candidates(run)) {
      this.#scanned += 1;
      if (this.#scanned % rowsACheck === 0 && this.#isOver()) {
        this.stoppedAt = row.row + 1;
        return;
      }
      if (isDecided ? row.tenant === tenant : matches(row, run.partition)) yield row;
    }
  }

  /** After a run: a walk that has nothing behind it would begin where this one did. */
  #check(low: number): void {
    if (this.stoppedAt !== undefined || low <= this.#query.rows.low || !this.#isOver()) return;
    if (placeOf(this.#sql, this.#query, low)) this.stoppedAt = low;
  }

  *#runsOf(partition: Partition): Iterable<Run> {
    const { rows, live } = this.#query;
    const low = Math.max(rows.low, partition.firstRow);
    const high = Math.min(rows.high, lastRowOf(partition));
    if (low > high) return;
    const of = (range: RowRange, indexed: boolean): Run => ({
      partition,
      range,
      indexed,
      live: live && within(live, range),
    });
    const rest = { low: Math.max(low, partition.indexed + 1), high };
    const isOpen = partition.lastRow === null && rest.low <= rest.high;
    const known = { low, high: Math.min(high, partition.indexed) };
    const runs = isOpen ? [of(rest, false)] : [];
    runs.push(of(withinTimes(this.#sql, this.#query, partition, known), true));
    for (const run of runs) if (run.range.low <= run.range.high && run.live?.length !== 0) yield run;
  }

  #candidates({ partition, range, indexed, live }: Run): Iterable<WalkedRow> {
    if (live) return this.#rowsNumbered(partition, indexed ? this.#narrowed(partition, range, live) : live);
    const { tenant, match, compiled } = this.#query;
    const { log, terms } = tablesOf(partition);
    const times = [finite(compiled.after), finite(compiled.before)] as const;
    // Whole numbers as such: FTS5 would not narrow its search by others.
    const rows = [BigInt(range.low), BigInt(range.high)] as const;
    if (!indexed) {
      // `+`: by the rows, which are few, and not by the index on the tenant, which has all of the partition.
      return this.#sql
        .of<unknown[], WalkedRow>(
          `${this.#select(partition)} FROM ${log} n ${stateJoin(partition)}
           WHERE n.row BETWEEN ? AND ? AND +n.tenant = ? AND n.cleared IS NULL AND n.at >= ? AND n.at < ? ORDER BY n.row DESC`,
        )
        .iterate(...rows, tenant, ...times);
    }
    return this.#sql
      .of<unknown[], WalkedRow>(
        `${this.#select(partition)} FROM ${terms} t CROSS JOIN ${log} n ON n.row = t.rowid ${stateJoin(partition)}
         WHERE t.${terms} MATCH ? AND t.rowid BETWEEN ? AND ? AND n.at >= ? AND n.at < ? ORDER BY t.rowid DESC`,
      )
      .iterate(match, ...rows, ...times);
  }

  /** Live rows that the index finds too, unless it finds so many that this tells little. */
  #narrowed(partition: Partition, range: RowRange, live: Float64Array): Float64Array {
    if (live.length <= rowsAtOnce) return live;
    const limit = live.length * mostFoundPerLive;
    const found = rowsMatching(this.#sql, partition, this.#query.match, { ...range, limit });
    if (found.length === limit) return live;
    const both = new Set(found);
    return live.filter((row) => both.has(row));
  }

  *#rowsNumbered(partition: Partition, numbers: Float64Array): Iterable<WalkedRow> {
    const read = this.#sql.of<[string], WalkedRow>(
      `${this.#select(partition)} FROM ${tablesOf(partition).log} n ${stateJoin(partition)}
       WHERE n.row IN (SELECT value FROM json_each(?)) ORDER BY n.row DESC`,
    );
    for (let end = numbers.length; end > 0; end -= rowsAtOnce)
      yield* read.all(`[${numbers.subarray(Math.max(0, end - rowsAtOnce), end).join()}]`);
  }

  #select(partition: Partition): string {
    const receipts = `SELECT 1 FROM ${tablesOf(partition).receipts} r WHERE r.row = n.row AND r.shown_at IS NOT NULL`;
    const shown = this.#query.asksShown ? `EXISTS (${receipts})` : '0';
    const acknowledged = this.#query.asksAcknowledged ? `EXISTS (${acknowledgement})` : '0';
    return `SELECT ${entryColumns}, s.cleared_at, s.cleared_by, s.cleared_reason, ${shown} AS shown,
      ${acknowledged} AS acknowledged`;
  }
}

const acknowledgement = 'SELECT 1 FROM acknowledgements a WHERE a.tenant = n.tenant AND a.row = n.row';

const stateJoin = (partition: Partition) => `LEFT JOIN ${tablesOf(partition).state} s ON s.row = n.row`;

/** The numbers of a sorted list that lie in a range. */
function within(numbers: Float64Array, { low, high }: RowRange): Float64Array {
  const first = numbers.findIndex((number) => number >= low);
  if (first < 0) return numbers.subarray(0, 0);
  return numbers.subarray(first, numbers.findLastIndex((number) => number <= high) + 1);
}

/** Narrows indexed rows to where the times of a query can be met. Clocks go back, so what is left may have others among it. */
function withinTimes(
  sql: Statements,
  { compiled: { after, before } }: PreparedQuery,
  { firstRow, firstMinute, lastMinute }: Partition,
  { low, high }: RowRange,
): RowRange {
  const nothing = { low: 1, high: 0 };
  if (firstMinute === null || lastMinute === null) return nothing;
  const [first, last] = [Math.floor(after / minuteMs), Math.floor((before - 1) / minuteMs)];
  if (lastMinute < first || firstMinute > last) return nothing;
  const range = { low, high };
  if (firstMinute < first) {
    const run = sql
      .of<[number, number, number], { row: number | null }>(
        'SELECT min(row) AS row FROM row_minutes WHERE row BETWEEN ? AND ? AND minute >= ?',
      )
      .get(firstRow, high, first);
    range.low = Math.max(low, run?.row ?? Number.MAX_SAFE_INTEGER);
  }
  if (lastMinute > last) {
    const run = sql
      .of<[number, number, number], { row: number | null }>(
        `SELECT (SELECT min(m.row) FROM row_minutes m WHERE m.row > r.row) AS row
         FROM row_minutes r WHERE r.row BETWEEN ? AND ? AND r.minute <= ? ORDER BY r.row DESC LIMIT 1`,
      )
      .get(firstRow, high, last);
    if (!run) return nothing;
    range.high = Math.min(high, (run.row ?? Number.MAX_SAFE_INTEGER) - 1);
  }
  return range;
}

/** SQLite has no infinity that compares with whole numbers. */
const finite = (at: number) => Math.max(-8.64e15, Math.min(8.64e15, at));
