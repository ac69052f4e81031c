/** Runs a search: the tail of the log that no index knows yet, then what the indexes lead to, newest first. */
import type { Query } from '../../core/search-query.ts';
import { positionMask } from './rows.ts';
import { type Positions, withinTimes } from './search-bounds.ts';
import type { Source } from './search-candidates.ts';
import { conjunctsOf, flatten } from './search-conjuncts.ts';
import { type Plan, planSearch, type Sieve } from './search-plan.ts';
import { PositionLists, sift } from './search-positions.ts';
import { entryRange, entrySql, predicateOf } from './search-predicate.ts';
import type { SourceScope } from './search-source.ts';
import { logicSql, rawSql, type Sql, sql } from './sql-text.ts';

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
  readonly #lists: PositionLists;
  readonly #limit: number;

  constructor(scope: SourceScope, limit: number) {
    this.#scope = scope;
    this.#lists = new PositionLists(scope.db, scope.tuning.costs);
    this.#limit = limit;
  }

  get isDone(): boolean {
    return this.found.length >= this.#limit;
  }

  get #missing(): number {
    return this.#limit - this.found.length;
  }

  run(plan: Plan, range: Positions): void {
    if (this.isDone || range.low > range.high) return;
    const { driver, sieves, rest } = plan;
    if (!driver) this.scanLog(predicateOf(rest, this.#scope), range);
    else if (driver.access === 'ordered' && sieves.length === 0) this.#stream(plan, driver, range);
    else this.#sift(plan, driver, range);
  }

  /** Row by row, newest first. */
  scanLog(predicate: Sql, { low, high }: Positions): void {
    if (this.isDone || low > high) return;
    this.#add(sql`SELECT n.entry & ${rawSql(String(positionMask))} FROM notifications n
      WHERE n.entry BETWEEN ${entryRange(this.#scope.tenant, low, high)} AND ${predicate}
      ORDER BY n.entry DESC LIMIT ${this.#missing}`);
  }

  /** One list, newest first, until the page is full. */
  #stream({ probes, rest }: Plan, driver: Source, range: Positions): void {
    const conditions = [
      driver.where(range),
      ...probesOf(probes, driver.position),
      predicateOf(rest, this.#scope),
    ];
    this.#add(sql`SELECT ${driver.position} FROM ${driver.from(range)}
      CROSS JOIN notifications n ON n.entry = ${driver.entry}
      WHERE ${logicSql('AND', conditions)} ORDER BY ${driver.order} DESC LIMIT ${this.#missing}`);
  }

  /** Windows of positions, newest first and ever wider; in each, the lists are read and intersected. */
  #sift(plan: Plan, driver: Source, range: Positions): void {
    const { firstWindow, windowFill, windowGrowth, widestWindow } = this.#scope.tuning;
    let width = Math.max(
      firstWindow,
      Math.ceil((windowFill * this.#missing) / Math.max(plan.yield, Number.EPSILON)),
    );
    for (let high = range.high; high >= range.low && !this.isDone; ) {
      width = Math.min(width, Math.max(1, Math.ceil(widestWindow / plan.density)));
      const window = { low: Math.max(range.low, high - width + 1), high };
      this.#siftWindow(plan, this.#lists.read(driver, window, range), window, range);
      high = window.low - 1;
      width *= windowGrowth;
    }
  }

  /** A list that costs more to read than the rows it would save is not read: estimates are one thing, counts another. */
  #siftWindow(plan: Plan, candidates: Float64Array, window: Positions, range: Positions): void {
    let positions = candidates;
    let isSifted = true;
    for (const { source, keeps, listed, passing } of plan.sieves) {
      if (positions.length === 0) return;
      const saved = positions.length * (1 - passing);
      if (this.#lists.isWorth(source, saved, listed, window, range)) {
        positions = sift(positions, this.#lists.read(source, window, range), keeps);
      } else isSifted = false;
    }
    this.#test(plan.probes, predicateOf(isSifted ? plan.rest : plan.unsifted, this.#scope), positions);
  }

  /** Tests candidates in ascending order from the end, in batches. */
  #test(probes: readonly Sieve[], rest: Sql, positions: Float64Array): void {
    const position = rawSql('j.value');
    let size = this.#scope.tuning.firstBatch;
    for (let end = positions.length; end > 0 && !this.isDone; size *= 2) {
      const start = Math.max(0, end - size);
      const batch = JSON.stringify([...positions.subarray(start, end)].reverse());
      this.#add(sql`SELECT j.value FROM json_each(${batch}) j
        CROSS JOIN notifications n ON n.entry = ${entrySql(this.#scope.tenant, position)}
        WHERE ${logicSql('AND', [...probesOf(probes, position), rest])}
        ORDER BY j.key LIMIT ${this.#missing}`);
      end = start;
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

/** The plus keeps SQLite from making a join of it, which would fetch the row first. */
const probesOf = (probes: readonly Sieve[], position: Sql): Sql[] =>
  probes.flatMap(({ source: { has }, keeps }) =>
    has ? [keeps ? sql`+${has(position)}` : sql`NOT ${has(position)}`] : [],
  );
