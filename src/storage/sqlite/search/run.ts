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
}

/** Positions of the newest matches within the range, newest first, at most `limit`. */
export function findPositions(
  query: Query,
  scope: SourceScope,
  { low, high, indexed, limit }: SearchRange,
): number[] {
  const { firstRows } = scope.tuning;
  const search = new PositionSearch(scope, limit);
  const all = predicateOf(query, scope);
  search.scanLog(all, { low: Math.max(low, indexed + 1), high });
  const range = withinTimes(scope.db, scope.tenant, flatten(query), { low, high: Math.min(high, indexed) });
  search.scanLog(all, { low: Math.max(range.low, range.high - firstRows + 1), high: range.high });
  const rest = { low: range.low, high: range.high - firstRows };
  if (search.isDone || rest.low > rest.high) return search.found;
  const route = planSearch(conjunctsOf(query, scope), scope, rest, limit - search.found.length);
  const turn = route.then
    ? Math.max(rest.low, rest.high - Math.ceil(route.share * (rest.high - rest.low)))
    : rest.low;
  search.run(route.first, { low: turn, high: rest.high });
  if (route.then) search.run(route.then, { low: rest.low, high: turn - 1 });
  return search.found;
}

class PositionSearch {
  readonly found: number[] = [];
  readonly #scope: SourceScope;
  readonly #limit: number;
  readonly #reader: SourceReader;

  constructor(scope: SourceScope, limit: number) {
    this.#scope = scope;
    this.#limit = limit;
    this.#reader = new SourceReader(scope.tuning.costs);
  }

  get isDone(): boolean {
    return this.found.length >= this.#limit;
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
    if (this.isDone || low > high) return;
    this.#add(sql`SELECT n.entry & ${rawSql(String(positionMask))} FROM notifications n
      WHERE n.entry BETWEEN ${entryRange(this.#scope.tenant, low, high)} AND ${predicate}
      ORDER BY n.entry DESC LIMIT ${this.#missing}`);
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
      this.#siftWindow(plan, this.#reader.read(driver, window, range), window, range);
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
    for (let batch = candidates.highest(size, before); batch.length > 0 && !this.isDone; size *= 2) {
      const known = this.found.length;
      this.#add(sql`SELECT j.value FROM json_each(${JSON.stringify(batch)}) j
        CROSS JOIN notifications n ON n.entry = ${entrySql(this.#scope.tenant, rawSql('j.value'))}
        WHERE ${predicate} ORDER BY j.key LIMIT ${this.#missing}`);
      this.#reader.learn(batch.length, this.found.length - known);
      before = batch.at(-1) ?? 0;
      batch = candidates.highest(size * 2, before);
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
