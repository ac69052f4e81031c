import type { Query } from '../../../core/search/search-query.ts';
import type { PositionSet, Positions } from '../index/position-set.ts';
import { matched } from '../search/candidates.ts';
import { allOf } from '../search/conjuncts.ts';
import { hasPrefix, isMatchable, matchOf } from '../search/match.ts';
import type { SourceScope } from '../search/source.ts';
import { SourceReader } from '../search/source-reader.ts';
import { createSetContext, type SetContext, type SetOfMatches, setOf } from './count-sets.ts';

/** What the indexes say of a window. */
export interface Candidates {
  readonly set: PositionSet;
  /** What only the candidates' rows can tell; `all` when every candidate matches. */
  readonly undecided: Query;
}

interface Part {
  readonly query: Query;
  readonly set: SetOfMatches;
  /** For text: microseconds to read it for one position; undefined for lists, which cost next to nothing. */
  readonly textCost: number | undefined;
}

/** Of a word's beginning nothing is known before all of it is read; then this much of all words is likely. */
const likelyShareOfPrefix = 0.1;

/** Which of a query's conditions are counted as sets, and which are left to rows. */
export class CountPlan {
  readonly #scope: SourceScope;
  readonly #parts: readonly Part[];
  readonly #left: readonly Query[];
  readonly #range: Positions;
  /** Microseconds that were paid for reading texts of rows, instead of what can only be read as a whole. */
  #paid = 0;

  constructor(conjuncts: readonly Query[], scope: SourceScope, range: Positions) {
    this.#scope = scope;
    this.#range = range;
    const context = createSetContext(scope, new SourceReader(scope.tuning.costs), range);
    const parts = conjuncts.flatMap((query) => partOf(query, context, range) ?? []);
    // Without an index for any of it, rows are read in order; with no condition at all everything is one.
    if (conjuncts.length === 0 && context.everything)
      parts.push({ query: { kind: 'all' }, set: context.everything, textCost: undefined });
    this.#parts = parts.sort((a, b) => (a.textCost ?? 0) - (b.textCost ?? 0));
    this.#left = conjuncts.filter((query) => !parts.some((part) => part.query === query && part.set.isExact));
  }

  /** Something is read as a whole, which would have to be done again for each step. */
  get readsWhole(): boolean {
    return this.#parts.some(({ set }) => set.isWhole);
  }

  /** undefined when no index leads to the matches. */
  candidates(window: Positions): Candidates | undefined {
    const undecided = [...this.#left];
    let set: PositionSet | undefined;
    for (const part of this.#parts) {
      if (set && this.#isCheaperByRow(part, set.size, window)) undecided.push(part.query);
      else if (set) set.sift(part.set.read(window), true);
      else set = part.set.read(window);
    }
    return set && { set, undecided: allOf(undecided) };
  }

  /** Whether to read the texts of so many rows costs less than to read the index of all texts. */
  #isCheaperByRow({ textCost, query }: Part, candidates: number, window: Positions): boolean {
    if (textCost === undefined) return false;
    const { row, text } = this.#scope.tuning.costs;
    const byRow = candidates * (row + text);
    if (!hasPrefix(query)) return byRow < textCost * (window.high - window.low + 1);
    this.#paid += byRow;
    return this.#paid < textCost * (this.#range.high - this.#range.low + 1);
  }
}

function partOf(query: Query, context: SetContext, range: Positions): Part | undefined {
  const set = setOf(query, context);
  return (
    set && { query, set, textCost: isMatchable(query) ? textCostOf(query, context.scope, range) : undefined }
  );
}

function textCostOf(query: Query, scope: SourceScope, range: Positions): number {
  const estimate = matched(matchOf(query), hasPrefix(query), scope).estimate(range);
  return (estimate?.share ?? likelyShareOfPrefix) * scope.tuning.costs.match;
}
