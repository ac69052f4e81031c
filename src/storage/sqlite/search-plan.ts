/**
 * Which index to go by. Every term of a search that an index leads to could drive it; the others are then looked up for each
 * candidate. Estimates are cheap, bounded looks at the newest postings: off by ten they cost milliseconds, never an answer.
 */
import type { Query } from '../../core/search-query.ts';
import type { Positions } from './search-bounds.ts';
import type { Source } from './search-candidates.ts';
import { entryRange, predicateOf } from './search-predicate.ts';
import { type SourceScope, sourceOf } from './search-source.ts';
import type { Costs } from './search-tuning.ts';
import { joinSql, rawSql, type Sql, sql } from './sql-text.ts';

export interface Plan {
  /** undefined: the log itself, newest first. */
  readonly driver: Source | undefined;
  /** Tested on a candidate's position before its row is fetched. */
  probes(position: Sql): readonly Sql[];
  /** How many rows of the log may be tried before `fallback` would have been quicker even at its worst. */
  readonly logRows: number;
  readonly fallback: Plan | undefined;
  /** Matches to expect in the range. */
  readonly expected: number;
}

interface Estimated {
  readonly query: Query;
  readonly source: Source | undefined;
  /** The share of the range's positions that match. */
  share: number;
}

/** Chooses for a search of at least `limit` matches among the indexed positions of `range`. */
export function planSearch(
  conjuncts: readonly Query[],
  scope: SourceScope,
  range: Positions,
  limit: number,
): Plan {
  const { costs } = scope.tuning;
  const size = range.high - range.low + 1;
  const terms = estimate(conjuncts, scope, range);
  const expected = terms.reduce((count, { share }) => count * share, size);
  const early = Math.min(1, limit / Math.max(1, expected));
  const plans = terms.flatMap((term) =>
    term.source ? [drivenBy(term, terms, { size, early, expected, costs })] : [],
  );
  const [best] = plans.sort((a, b) => a.cost - b.cost);
  const [safest] = plans.sort((a, b) => a.worst - b.worst);
  const perLogRow = costs.logRow + (terms.some(({ query }) => isText(query)) ? costs.text : 0);
  const byLog = early * size * perLogRow;
  if (best && best.cost <= byLog) return best.plan;
  return {
    driver: undefined,
    probes: () => [],
    logRows: safest ? Math.ceil(safest.worst / perLogRow) : size,
    fallback: safest?.plan,
    expected,
  };
}

function drivenBy(
  term: Estimated,
  terms: readonly Estimated[],
  { size, early, expected, costs }: { size: number; early: number; expected: number; costs: Costs },
): { plan: Plan; cost: number; worst: number } {
  const source = term.source as Source;
  const others = terms.filter((other) => other !== term);
  const probes = others
    .filter(({ source: index, share }) => index?.has && share < 0.5)
    .sort((a, b) => a.share - b.share);
  const passing = probes.reduce((share, other) => share * other.share, 1);
  const rowCost = costs.row + (others.some(({ query }) => isText(query)) ? costs.text : 0);
  const each = probes.length * costs.probe + passing * rowCost;
  const count = term.share * size;
  const isCollected = source.access === 'collected';
  const up = costs.open + (isCollected ? count * costs.collected : 0);
  const walk = count * (each + (isCollected ? 0 : costs.posting));
  const plan: Plan = {
    driver: source,
    probes: (position) => probes.flatMap(({ source: index }) => index?.has?.(position) ?? []),
    logRows: 0,
    fallback: undefined,
    expected,
  };
  return { plan, cost: up + early * walk, worst: up + walk };
}

function isText(query: Query): boolean {
  if (query.kind === 'text') return true;
  if (query.kind === 'not') return isText(query.term);
  return (query.kind === 'and' || query.kind === 'or') && query.terms.some(isText);
}

function estimate(conjuncts: readonly Query[], scope: SourceScope, range: Positions): Estimated[] {
  const size = range.high - range.low + 1;
  const terms = conjuncts.map(
    (query): Estimated => ({ query, source: sourceOf(query, scope), share: Number.NaN }),
  );
  for (const term of terms) {
    if (term.source) term.share = countedShare(term.source, scope, range, size) ?? Number.NaN;
  }
  const unknown = terms.filter(({ share }) => Number.isNaN(share));
  const shares = sampledShares(
    unknown.map(({ query }) => query),
    scope,
    range,
  );
  for (const [i, term] of unknown.entries()) term.share = shares[i] ?? 1;
  return terms;
}

/** By counting a bounded number of postings; undefined when that tells nothing. */
function countedShare(
  source: Source,
  { db, tuning: { probed } }: SourceScope,
  range: Positions,
  size: number,
): number | undefined {
  if (source.access === 'collected') return undefined;
  const newest = source.access === 'ordered' ? sql`ORDER BY ${source.order} DESC` : rawSql('');
  const { text, values } = sql`SELECT count(*) AS count, min(position) AS oldest FROM (
    SELECT ${source.position} AS position FROM ${source.from(range)} WHERE ${source.where(range)} ${newest} LIMIT ${probed})`;
  const found = db.prepare<unknown[], { count: number; oldest: number | null }>(text).get(...values);
  if (!found || found.oldest === null) return 0;
  if (found.count < probed) return found.count / size;
  return source.access === 'ordered' ? found.count / (range.high - found.oldest + 1) : undefined;
}

/** The share of each query among the newest rows. */
function sampledShares(queries: readonly Query[], scope: SourceScope, { low, high }: Positions): number[] {
  if (queries.length === 0) return [];
  const { probed } = scope.tuning;
  const from = Math.max(low, high - probed + 1);
  const columns = joinSql(
    queries.map((query, i) => sql`avg(${predicateOf(query, scope)}) AS ${rawSql(`share${i}`)}`),
    ', ',
  );
  const { text, values } =
    sql`SELECT ${columns} FROM notifications n WHERE n.entry BETWEEN ${entryRange(scope.tenant, from, high)}`;
  const shares =
    scope.db
      .prepare<unknown[], (number | null)[]>(text)
      .raw()
      .get(...values) ?? [];
  return shares.map((share) => Math.max(share ?? 0, 0.5 / probed));
}
