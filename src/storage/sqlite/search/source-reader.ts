import { PositionSet, type Positions } from '../index/position-set.ts';
import type { Source } from './candidates.ts';
import type { Sieve } from './plan.ts';
import type { Costs } from './tuning.ts';

/** Reads sources for the time of one search. What can only be read as a whole is read once. */
export class SourceReader {
  readonly #costs: Costs;
  readonly #whole = new Map<Source, PositionSet>();
  /** What was paid for rows instead of reading a source as a whole. */
  readonly #paid = new Map<Source, number>();

  #tested = 0;
  #matched = 0;

  constructor(costs: Costs) {
    this.#costs = costs;
  }

  /** The candidates in a window of the range, as a set of the caller's own. */
  read(source: Source, window: Positions, range: Positions): PositionSet {
    const set = new PositionSet(window);
    if (!source.isWhole) {
      source.read(set, window);
      return set;
    }
    let whole = this.#whole.get(source);
    if (!whole) {
      whole = new PositionSet(range);
      source.read(whole, range);
      this.#whole.set(source, whole);
    }
    set.addPartOf(whole);
    return set;
  }

  /** Tells how many candidates' rows were fetched, and how many of them matched. */
  learn(tested: number, matched: number): void {
    this.#tested += tested;
    this.#matched += matched;
  }

  /** The share of fetched rows that matched: conditions that exclude each other show here, and nowhere before. */
  get #passed(): number {
    return (this.#matched + 1) / (this.#tested + 1);
  }

  /**
   * Whether reading the window costs less than fetching the rows of as many candidates as that would save. Reading a source as
   * a whole is worth it once not having it has cost as much.
   */
  isWorth(
    { source, cost, passing }: Sieve,
    candidates: number,
    window: Positions,
    range: Positions,
  ): boolean {
    const saved = candidates * (1 - Math.min(passing, this.#passed)) * this.#costs.row;
    if (!source.isWhole) return cost * (window.high - window.low + 1) < saved;
    if (this.#whole.has(source)) return true;
    const paid = (this.#paid.get(source) ?? 0) + saved;
    this.#paid.set(source, paid);
    return cost * (range.high - range.low + 1) < paid;
  }
}
