/**
 * Which index to go by. Any condition that an index leads to can drive a search; the others are then tested on what it
 * proposes. Estimates are bounded looks at the newest postings. They may be wrong, and conditions may exclude each other in
 * ways that no estimate sees, so the plan that looks quickest is given up for the one whose worst is best once it has cost as
 * much: a search takes at most about twice as long as it must.
 */
import type { Query } from '../../core/search-query.ts';
import type { Positions } from './search-bounds.ts';
import type { Source } from './search-candidates.ts';
import { allOf, type Conjunct } from './search-conjuncts.ts';
import { entryRange, predicateOf } from './search-predicate.ts';
import type { SourceScope } from './search-source.ts';
import type { Costs } from './search-tuning.ts';
import { joinSql, rawSql, type Sql, sql } from './sql-text.ts';

/** Candidates that a source holds are kept, or those it does not hold. */
export interface Sieve {
  readonly source: Source;
  readonly keeps: boolean;
  /** The share of all positions that it lists, and of candidates that pass it. */
  readonly listed: number;
  readonly passing: number;
}

export interface Plan {
  /** undefined: the log itself, newest first. */
  readonly driver: Source | undefined;
  /** Looked into for each candidate. */
  readonly probes: readonly Sieve[];
  /** Read as the driver is, and set against it. */
  readonly sieves: readonly Sieve[];
  /** What is left for the rows to decide, and what would be had no sieve been read. */
  readonly rest: Query;
  readonly unsifted: Query;
  /** The share of candidates or rows to expect among the positions of the range, of the most frequent source. */
  readonly density: number;
  /** The share of matches. */
  readonly yield: number;
}

/** Goes by `first` for the newest `share` of the range, then by `then`. */
export interface Route {
  readonly first: Plan;
  readonly share: number;
  readonly then: Plan | undefined;
}

interface Estimated extends Conjunct {
  /** The share of the range's positions that match, and that its source, or what it excludes, lists. */
  readonly share: number;
  readonly listed: number;
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
  if (first.worst <= safest.worst * 2) return { first: first.plan, share: 1, then: undefined };
  return { first: first.plan, share: safest.worst / first.worst, then: safest.plan };
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
    plan: { driver: undefined, probes: [], sieves: [], rest, unsifted: rest, density: 1, yield: matching },
    expected: early * worst,
    worst,
  };
}

/** What one condition's index proposes, narrowed by whatever is cheaper to ask than the rows. */
function byIndex(
  driving: Estimated,
  driver: Source,
  { terms, size, early, matching, costs }: Situation,
): Priced {
  const others = terms.filter((term) => term !== driving).sort((a, b) => a.share - b.share);
  let fixed = costs.open;
  let walked = 0;
  const read = (source: Source, share: number) => {
    if (source.access === 'collected') fixed += share * size * costs.collected;
    else walked += share * size * costs.posting;
  };
  read(driver, driving.share);
  const probes: Sieve[] = [];
  const sieves: Sieve[] = [];
  const decided = new Set<Conjunct>(driving.isExact ? [driving] : []);
  let left = driving.share * size;
  let density = driving.share;
  for (const term of others) {
    const source = term.source ?? term.excluded;
    if (!source) continue;
    const { listed, share: passing } = term;
    const sieve = { source, keeps: term.source !== undefined, listed, passing };
    const saved = left * (1 - term.share) * costs.row + (term.isText ? left * costs.text : 0);
    const probing = source.has ? left * costs.probe : Number.POSITIVE_INFINITY;
    const sieving =
      term.listed * size * (source.access === 'collected' ? costs.collected / early : costs.posting);
    if (Math.min(probing, sieving) >= saved) continue;
    if (probing <= sieving) {
      probes.push(sieve);
      walked += probing;
    } else {
      sieves.push(sieve);
      read(source, term.listed);
      density = Math.max(density, term.listed);
    }
    if (term.isExact) decided.add(term);
    left *= term.share;
  }
  const undecided = terms.filter((term) => !decided.has(term));
  walked += left * (costs.row + (undecided.some(({ isText }) => isText) ? costs.text : 0));
  const plan = {
    driver,
    probes,
    sieves,
    rest: allOf(undecided.map(({ query }) => query)),
    unsifted: allOf(terms.filter((term) => term !== driving || !term.isExact).map(({ query }) => query)),
    density,
    yield: matching,
  };
  return { plan, expected: fixed + early * walked, worst: fixed + walked };
}

function estimate(conjuncts: readonly Conjunct[], scope: SourceScope, range: Positions): Estimated[] {
  const counted = conjuncts.map((term) => ({ term, listed: countedShare(term, scope, range) }));
  const unknown = counted.flatMap(({ term, listed }) => (listed === undefined ? [term.query] : []));
  const sampled = sampledShares(unknown, scope, range).values();
  return counted.map(({ term, listed }) => {
    if (listed !== undefined) return { ...term, listed, share: term.source ? listed : 1 - listed };
    const share = sampled.next().value ?? 1;
    return { ...term, share, listed: term.source ? share : 1 - share };
  });
}

/** By counting a bounded number of postings; undefined when that tells nothing. */
function countedShare(
  { source, excluded, words }: Conjunct,
  scope: SourceScope,
  range: Positions,
): number | undefined {
  const list = source ?? excluded;
  if (!list) return undefined;
  if (words.length === 0) return newestShare(list, scope, range);
  const shares = words.map((word) => newestShare(word, scope, range) ?? 1).sort((a, b) => a - b);
  // Words of a phrase neither always come together nor by chance alone: half way between the two.
  return shares.reduce((all, share) => all * Math.sqrt(share));
}

function newestShare(source: Source, scope: SourceScope, range: Positions): number | undefined {
  if (source.access === 'collected') return undefined;
  if (source.arms) return sumOfShares(source.arms, scope, range);
  const { db, tuning } = scope;
  const { probed } = tuning;
  const size = range.high - range.low + 1;
  const isOrdered = source.access === 'ordered';
  const { text, values } = sql`SELECT count(*) AS count, min(position) AS oldest FROM (
    SELECT ${source.position} AS position FROM ${source.from(range)} WHERE ${source.where(range)}
    ${isOrdered ? sql`ORDER BY ${source.order} DESC` : rawSql('')} LIMIT ${probed})`;
  const found = db.prepare<unknown[], { count: number; oldest: number | null }>(text).get(...values);
  if (!found || found.oldest === null) return 0;
  if (found.count < probed) return found.count / size;
  return isOrdered ? found.count / (range.high - found.oldest + 1) : undefined;
}

function sumOfShares(sources: readonly Source[], scope: SourceScope, range: Positions): number | undefined {
  let sum = 0;
  for (const source of sources) {
    const share = newestShare(source, scope, range);
    if (share === undefined) return undefined;
    sum += share;
  }
  return Math.min(1, sum);
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
