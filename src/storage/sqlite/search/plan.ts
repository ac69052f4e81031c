/**
 * Which index to go by. Any condition that an index leads to can drive a search; the others are then tested on what it
 * proposes. Estimates are bounded looks at the newest postings. They may be wrong, and conditions may exclude each other in
 * ways that no estimate sees, so the plan that looks quickest is given up for the one whose worst is best once it has taken
 * many times what it should have, and at the latest when it has cost as much as that worst.
 */
import type { Query } from '../../../core/search/search-query.ts';
import type { Positions } from '../index/position-set.ts';
import { joinSql, type Sql, sql } from '../sql-text.ts';
import type { Estimate, Source } from './candidates.ts';
import { allOf, type Conjunct } from './conjuncts.ts';
import { entryRange, predicateOf } from './predicate.ts';
import type { SourceScope } from './source.ts';
import type { Costs } from './tuning.ts';

/** Candidates that a source holds are kept, or those it does not hold. */
export interface Sieve {
  readonly source: Source;
  readonly keeps: boolean;
  /** Microseconds to read it for one position of the range, and the share of candidates that passes. */
  readonly cost: number;
  readonly passing: number;
}

export interface Plan {
  /** undefined: the log itself, newest first. */
  readonly driver: Source | undefined;
  readonly sieves: readonly Sieve[];
  /** What is left for the rows to decide, and what would be had not every sieve been read. */
  readonly rest: Query;
  readonly unsifted: Query;
  /** Rows read of the index that most are read of, and matches to expect, for each position of the range. */
  readonly density: number;
  readonly yield: number;
}

/** Goes by `first` for the newest `share` of the range, then by `then`. */
export interface Route {
  readonly first: Plan;
  readonly share: number;
  readonly then: Plan | undefined;
}

interface Estimated extends Conjunct {
  /** The share of the range's positions that match. */
  readonly share: number;
  /** Rows of its index to read, and the microseconds that takes, for each position of the range. */
  readonly reads: number;
  readonly cost: number;
}

interface Priced {
  readonly plan: Plan;
  /** Microseconds, when matches are as frequent as they seem, and when there are none. */
  readonly expected: number;
  readonly worst: number;
}

/** Chooses for a search of `limit` matches among the indexed positions of `range`. */
export function planSearch(
  conjuncts: readonly Conjunct[],
  scope: SourceScope,
  range: Positions,
  limit: number,
): Route {
  const terms = estimate(conjuncts, scope, range);
  const size = range.high - range.low + 1;
  const matching = terms.reduce((share, term) => share * term.share, 1);
  const early = Math.min(1, limit / Math.max(1, matching * size));
  const situation = { terms, size, early, matching, costs: scope.tuning.costs };
  const plans = [
    byLog(situation),
    ...terms.flatMap((term) => (term.source ? [byIndex(term, term.source, situation)] : [])),
  ];
  const first = plans.reduce((best, plan) => (plan.expected < best.expected ? plan : best));
  const safest = plans.reduce((best, plan) => (plan.worst < best.worst ? plan : best));
  const { patience, leastPatience } = scope.tuning;
  const patient = Math.min(safest.worst, Math.max(leastPatience, patience * first.expected));
  if (first.plan === safest.plan || first.worst <= 2 * patient)
    return { first: first.plan, share: 1, then: undefined };
  return { first: first.plan, share: patient / first.worst, then: safest.plan };
}

interface Situation {
  readonly terms: readonly Estimated[];
  readonly size: number;
  readonly early: number;
  readonly matching: number;
  readonly costs: Costs;
}

function byLog({ terms, size, early, matching, costs }: Situation): Priced {
  const rest = allOf(terms.map(({ query }) => query));
  const worst = size * (costs.logRow + (terms.some(({ isText }) => isText) ? costs.text : 0));
  return {
    plan: { driver: undefined, sieves: [], rest, unsifted: rest, density: 1, yield: matching },
    expected: early * worst,
    worst,
  };
}

/** What one condition's index proposes, sifted by the others' wherever reading them costs less than the rows they save. */
function byIndex(
  driving: Estimated,
  driver: Source,
  { terms, size, early, matching, costs }: Situation,
): Priced {
  const sieves: Sieve[] = [];
  const decided = new Set<Conjunct>(driving.isExact ? [driving] : []);
  let fixed = costs.open + (driver.isWhole ? driving.cost * size : 0);
  let walked = driver.isWhole ? 0 : driving.cost * size;
  let density = driving.reads;
  let left = driving.share * size;
  for (const term of terms.filter((other) => other !== driving).sort((a, b) => a.share - b.share)) {
    const source = term.source ?? term.excluded;
    if (!source) continue;
    const saved = left * (1 - term.share) * costs.row + (term.isText ? left * costs.text : 0);
    const reading = term.cost * size;
    if ((source.isWhole ? reading / early : reading) >= saved) continue;
    if (source.isWhole) fixed += reading;
    else walked += reading;
    sieves.push({ source, keeps: term.source !== undefined, cost: term.cost, passing: term.share });
    if (term.isExact) decided.add(term);
    density = Math.max(density, term.reads);
    left *= term.share;
  }
  const undecided = terms.filter((term) => !decided.has(term));
  walked += left * (costs.row + (undecided.some(({ isText }) => isText) ? costs.text : 0));
  const plan = {
    driver,
    sieves,
    rest: allOf(undecided.map(({ query }) => query)),
    unsifted: allOf(terms.filter((term) => term !== driving || !term.isExact).map(({ query }) => query)),
    density,
    yield: matching,
  };
  return { plan, expected: fixed + early * walked, worst: fixed + walked };
}

function estimate(conjuncts: readonly Conjunct[], scope: SourceScope, range: Positions): Estimated[] {
  const counted = conjuncts.map((term) => ({ term, counted: countOf(term, range) }));
  const unknown = counted.flatMap(({ term, counted }) => (counted ? [] : [term.query]));
  const sampled = sampledShares(unknown, scope, range).values();
  return counted.map(({ term, counted }) => {
    const readCost = (term.source ?? term.excluded)?.readCost ?? 0;
    if (counted) {
      const share = term.source ? counted.share : 1 - counted.share;
      return { ...term, share, reads: counted.reads, cost: counted.reads * readCost };
    }
    const share = sampled.next().value ?? 1;
    const reads = term.source ? share : 1 - share;
    return { ...term, share, reads, cost: reads * readCost };
  });
}

/** By a bounded look at the index; undefined when that tells nothing. */
function countOf({ source, excluded, words }: Conjunct, range: Positions): Estimate | undefined {
  if (words.length === 0) return (source ?? excluded)?.estimate(range);
  const shares = words.map((word) => word.estimate(range)?.share ?? 1).sort((a, b) => a - b);
  // Words of a phrase neither always come together nor by chance alone: half way between the two.
  const share = shares.reduce((all, next) => all * Math.sqrt(next));
  return { share, reads: share };
}

/** The share of each query among the newest rows; where none is met, less than what would have been. */
function sampledShares(queries: readonly Query[], scope: SourceScope, { low, high }: Positions): number[] {
  if (queries.length === 0) return [];
  const { probed } = scope.tuning;
  const rows = entryRange(scope.tenant, Math.max(low, high - probed + 1), high);
  const columns: Sql[] = queries.map((query) => sql`avg(${predicateOf(query, scope)})`);
  const { text, values } =
    sql`SELECT ${joinSql(columns, ', ')} FROM notifications n WHERE n.entry BETWEEN ${rows}`;
  const shares =
    scope.db
      .prepare<unknown[], (number | null)[]>(text)
      .raw()
      .get(...values) ?? [];
  return shares.map((share) => Math.max(share ?? 0, 0.5 / probed));
}
