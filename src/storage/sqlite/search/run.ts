/** Runs a search: the tail of the log that no index knows yet, then what the indexes lead to, newest first. */
import type { Query } from '../../../core/search/search-query.ts';
import type { PositionSet, Positions } from '../index/position-set.ts';
import { positionMask } from '../rows.ts';
import { rawSql, type Sql, sql } from '../sql-text.ts';
import { withinTimes } from './bounds.ts';
import type { Source } from './candidates.ts';
import { conjunctsOf, flatten } from './conjuncts.ts';
import { type Plan, planSearch } from './plan.ts';
import { entryRange, entrySql, predicateOf } from './predicate.ts';
import type { SourceScope } from './source.ts';
import { SourceReader } from './source-reader.ts';

export interface SearchRange extends Positions {
  /** Up to where the indexes know the log. */
  readonly indexed: number;
  readonly limit: number;
  /** On the clock of `performance.now`: the search stops soon after it. */
  readonly endsAt: number;
}

export interface FoundPositions {
  /** Newest first, at most the limit. */
  readonly found: number[];
  /** Time was over: everything from this position on was searched, and nothing below it. */
  readonly stoppedAt: number | undefined;
}

/** Rows of the log tested between two looks at the clock: some ten milliseconds. */
const mostRows = 4_096;

/** Positions of the newest matches within the range. Something is searched, however little time there is. */
export function findPositions(
  query: Query,
  scope: SourceScope,
  { low, high, indexed, limit, endsAt }: SearchRange,
): FoundPositions {
  const { firstRows } = scope.tuning;
  const search = new PositionSearch(scope, limit, { lowest: low, endsAt });
  const all = predicateOf(query, scope);
  search.scanLog(all, { low: Math.max(low, indexed + 1), high });
  const range = withinTimes(scope.db, scope.tenant, flatten(query), { low, high: Math.min(high, indexed) });
  search.scanLog(all, { low: Math.max(range.low, range.high - firstRows + 1), high: range.high });
  const rest = { low: range.low, high: range.high - firstRows };
  if (search.isDone || rest.low > rest.high) return search.result;
  const route = planSearch(conjunctsOf(query, scope), scope, rest, limit - search.found.length);
  const turn = route.then
    ? Math.max(rest.low, rest.high - Math.ceil(route.share * (rest.high - rest.low)))
    : rest.low;
  search.run(route.first, { low: turn, high: rest.high });
  if (route.then) search.run(route.then, { low: rest.low, high: turn - 1 });
  return search.result;
}

class PositionSearch {
  readonly found: number[] = [];
  readonly #scope: SourceScope;
  readonly #limit: number;
  readonly #reader: SourceReader;
  readonly #lowest: number;
  #endsAt: number;
  #stoppedAt: number | undefined;

  constructor(
    scope: SourceScope,
    limit: number,
    { lowest, endsAt }: { readonly lowest: number; readonly endsAt: number },
  ) {
    this.#scope = scope;
    this.#limit = limit;
    this.#reader = new SourceReader(scope.tuning.costs);
    this.#lowest = lowest;
    this.#endsAt = endsAt;
  }

  get isDone(): boolean {
    return this.found.length >= this.#limit || this.#stoppedAt !== undefined;
  }

  get result(): FoundPositions {
    return { found: this.found, stoppedAt: this.#stoppedAt };
  }

  /** Stops when time is over; everything from `position` on has been searched. */
  #searchedTo(position: number): void {
    if (this.isDone || position <= this.#lowest || performance.now() < this.#endsAt) return;
    this.#stoppedAt = position;
  }

  get #missing(): number {
    return this.#limit - this.found.length;
  }

  run(plan: Plan, range: Positions): void {
    if (this.isDone || range.low > range.high) return;
    if (plan.driver) this.#sift(plan, plan.driver, range);
    else this.scanLog(predicateOf(plan.rest, this.#scope), range);
  }

  /** Row by row, newest first. */
  scanLog(predicate: Sql, { low, high }: Positions): void {
    let size = this.#scope.tuning.firstBatch;
    for (let end = high; end >= low && !this.isDone; size = Math.min(2 * size, mostRows)) {
      const start = Math.max(low, end - size + 1);
      this.#add(sql`SELECT n.entry & ${rawSql(String(positionMask))} FROM notifications n
        WHERE n.entry BETWEEN ${entryRange(this.#scope.tenant, start, end)} AND ${predicate}
        ORDER BY n.entry DESC LIMIT ${this.#missing}`);
      this.#searchedTo(start);
      end = start - 1;
    }
  }

  /** Windows of positions, newest first and ever wider: in each, what the indexes hold is read and put together. */
  #sift(plan: Plan, driver: Source, range: Positions): void {
    const { firstWindow, windowFill, windowGrowth, widestWindow } = this.#scope.tuning;
    let width = Math.max(
      firstWindow,
      Math.ceil((windowFill * this.#missing) / Math.max(plan.yield, Number.EPSILON)),
    );
    for (let high = range.high; high >= range.low && !this.isDone; ) {
      width = Math.min(width, Math.max(1, Math.ceil(widestWindow / plan.density)));
      const window = { low: Math.max(range.low, high - width + 1), high };
      const readFrom = performance.now();
      const candidates = this.#reader.read(driver, window, range);
      // What had to be read as a whole is made use of for as long again: the next call would have to read it anew.
      if (driver.isWhole) this.#endsAt += 2 * (performance.now() - readFrom);
      this.#siftWindow(plan, candidates, window, range);
      this.#searchedTo(window.low);
      high = window.low - 1;
      width *= windowGrowth;
    }
  }

  /** An index that costs more to read than the rows it would save is not read: estimates are one thing, counts another. */
  #siftWindow(plan: Plan, candidates: PositionSet, window: Positions, range: Positions): void {
    let isSifted = true;
    for (const sieve of plan.sieves) {
      const { size } = candidates;
      if (size === 0) return;
      if (this.#reader.isWorth(sieve, size, window, range)) {
        candidates.sift(this.#reader.read(sieve.source, window, range), sieve.keeps);
      } else isSifted = false;
    }
    this.#test(predicateOf(isSifted ? plan.rest : plan.unsifted, this.#scope), candidates);
  }

  /** Fetches the candidates' rows in batches, newest first. */
  #test(predicate: Sql, candidates: PositionSet): void {
    let size = this.#scope.tuning.firstBatch;
    let before = Number.POSITIVE_INFINITY;
    for (let batch = candidates.highest(size, before); batch.length > 0 && !this.isDone; ) {
      const known = this.found.length;
      this.#add(sql`SELECT j.value FROM json_each(${JSON.stringify(batch)}) j
        CROSS JOIN notifications n ON n.entry = ${entrySql(this.#scope.tenant, rawSql('j.value'))}
        WHERE ${predicate} ORDER BY j.key LIMIT ${this.#missing}`);
      this.#reader.learn(batch.length, this.found.length - known);
      before = batch.at(-1) ?? 0;
      this.#searchedTo(before);
      size = Math.min(2 * size, mostRows);
      batch = candidates.highest(size, before);
    }
  }

  #add({ text, values }: Sql): void {
    this.found.push(
      ...this.#scope.db
        .prepare<unknown[], number>(text)
        .pluck()
        .all(...values),
    );
  }
}
