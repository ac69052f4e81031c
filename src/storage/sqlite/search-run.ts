/** Runs a search: the tail of the log that no index knows yet, then what the indexes lead to, newest first. */
import type { Query } from '../../core/search-query.ts';
import { positionMask } from './rows.ts';
import { type Positions, withinTimes } from './search-bounds.ts';
import type { Source } from './search-candidates.ts';
import { hasPrefix, isMatchable } from './search-match.ts';
import { type Plan, planSearch } from './search-plan.ts';
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
  if (low > high) return [];
  const { firstRows } = scope.tuning;
  const search = new PositionSearch(query, scope, limit);
  search.scanLog({ low: Math.max(low, indexed + 1), high });
  const conjuncts = conjunctsOf(query);
  const range = withinTimes(scope.db, scope.tenant, conjuncts, { low, high: Math.min(high, indexed) });
  search.scanLog({ low: Math.max(range.low, range.high - firstRows + 1), high: range.high });
  const rest = { low: range.low, high: range.high - firstRows };
  if (search.isDone || rest.low > rest.high) return search.found;
  search.run(planSearch(conjuncts, scope, rest, limit - search.found.length), rest);
  return search.found;
}

/** What must hold all at once; words to find in the same notification are one, so that the index itself intersects them. */
function conjunctsOf(query: Query): readonly Query[] {
  const all = flatten(query);
  const texts = all.filter((term) => isMatchable(term) && !hasPrefix(term));
  return texts.length < 2
    ? all
    : [{ kind: 'and', terms: texts }, ...all.filter((term) => !texts.includes(term))];
}

function flatten(query: Query): readonly Query[] {
  if (query.kind === 'all') return [];
  if (query.kind === 'and') return query.terms.flatMap(flatten);
  if (query.kind === 'not' && query.term.kind === 'or') {
    return query.term.terms.map((term) => (term.kind === 'not' ? term.term : { kind: 'not', term }));
  }
  return [query];
}

class PositionSearch {
  readonly found: number[] = [];
  readonly #scope: SourceScope;
  readonly #limit: number;
  readonly #predicate: Sql;

  constructor(query: Query, scope: SourceScope, limit: number) {
    this.#scope = scope;
    this.#limit = limit;
    this.#predicate = predicateOf(query, scope);
  }

  get isDone(): boolean {
    return this.found.length >= this.#limit;
  }

  run(plan: Plan, range: Positions): void {
    if (plan.driver) return this.#drive(plan, plan.driver, range);
    const low = Math.max(range.low, range.high - plan.logRows + 1);
    this.scanLog({ low, high: range.high });
    if (plan.fallback && !this.isDone && low > range.low)
      this.run(plan.fallback, { low: range.low, high: low - 1 });
  }

  /** Row by row, newest first. */
  scanLog({ low, high }: Positions): void {
    if (this.isDone || low > high) return;
    this.#add(sql`SELECT n.entry & ${rawSql(String(positionMask))} FROM notifications n
      WHERE n.entry BETWEEN ${entryRange(this.#scope.tenant, low, high)} AND ${this.#predicate}
      ORDER BY n.entry DESC LIMIT ${this.#limit - this.found.length}`);
  }

  #drive(plan: Plan, driver: Source, range: Positions): void {
    if (driver.access === 'collected') return this.#collect(plan, driver, range);
    if (driver.access === 'ordered') return this.#take(plan, driver, range);
    const { firstWindow, windowFill, windowGrowth } = this.#scope.tuning;
    const density = plan.expected / (range.high - range.low + 1);
    let width = Math.max(
      firstWindow,
      Math.ceil((windowFill * this.#limit) / Math.max(density, Number.EPSILON)),
    );
    for (let high = range.high; high >= range.low && !this.isDone; ) {
      const low = Math.max(range.low, high - width + 1);
      this.#take(plan, driver, { low, high });
      high = low - 1;
      width *= windowGrowth;
    }
  }

  /** The newest candidates of a range that pass. */
  #take(plan: Plan, driver: Source, range: Positions): void {
    const conditions = [driver.where(range), ...plan.probes(driver.position), this.#predicate];
    this.#add(sql`SELECT ${driver.position} FROM ${driver.from(range)}
      CROSS JOIN notifications n ON n.entry = ${driver.entry}
      WHERE ${logicSql('AND', conditions)} ORDER BY ${driver.order} DESC LIMIT ${this.#limit - this.found.length}`);
  }

  /** All candidates at once, then tested in batches. */
  #collect(plan: Plan, driver: Source, range: Positions): void {
    const all = sql`SELECT ${driver.position} FROM ${driver.from(range)} WHERE ${driver.where(range)}`;
    const positions = Float64Array.from(this.#positions(all)).sort().reverse();
    let size = this.#scope.tuning.firstBatch;
    for (let start = 0; start < positions.length && !this.isDone; ) {
      this.#test(plan, [...positions.subarray(start, start + size)]);
      start += size;
      size *= 2;
    }
  }

  #test(plan: Plan, positions: readonly number[]): void {
    const { tenant } = this.#scope;
    const position = rawSql('j.value');
    this.#add(sql`SELECT j.value FROM json_each(${JSON.stringify(positions)}) j
      CROSS JOIN notifications n ON n.entry = ${entrySql(tenant, position)}
      WHERE ${logicSql('AND', [...plan.probes(position), this.#predicate])}
      ORDER BY j.key LIMIT ${this.#limit - this.found.length}`);
  }

  #add(query: Sql): void {
    this.found.push(...this.#positions(query));
  }

  #positions({ text, values }: Sql): number[] {
    return this.#scope.db
      .prepare<unknown[], number>(text)
      .pluck()
      .all(...values);
  }
}
