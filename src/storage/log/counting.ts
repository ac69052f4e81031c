/** Code that the statistics of both stores share. */
import { isPatternField } from '#contract/history/fields.ts';
import { addressKey, compareAddresses } from '#core/addresses.ts';
import type { CountTimes, LevelCount, WantedValues } from '#core/history/statistics.ts';
import type { Query } from '#core/search/search-query.ts';

export const minuteMs = 60_000;

/** The time limit of a whole count, without the time in which it waits for its turns. */
export const countBudgetMs = 500;

/** The query, restricted to the counted times. */
export const withTimes = (query: Query, { after, before }: CountTimes): Query => ({
  kind: 'and',
  terms: [...conjuncts(query), { kind: 'after', at: after }, { kind: 'before', at: before }],
});

/** The levels in a query that has no other condition except times; `all` if it has no levels; otherwise undefined. */
export function levelsAlone(query: Query): readonly string[] | 'all' | undefined {
  const [first, second] = conjuncts(query).filter(({ kind }) => kind !== 'after' && kind !== 'before');
  if (first === undefined) return 'all';
  return first.kind === 'level' && second === undefined ? first.names : undefined;
}

const conjuncts = (query: Query) =>
  query.kind === 'and' ? query.terms : query.kind === 'all' ? [] : [query];

/** Values of a field as completion shows them: addresses by number, others as text. */
export function sortedValues(values: Iterable<string>, field: WantedValues['field']): string[] {
  if (isPatternField(field)) return [...values].sort((a, b) => (a < b ? -1 : 1));
  return [...values]
    .map((text) => ({ text, key: addressKey(text) }))
    .sort((a, b) => compareAddresses(a.key, b.key))
    .map(({ text }) => text);
}

/** Counts by bucket and level. */
export class Tally {
  readonly times: CountTimes;
  readonly #counts = new Map<string, Map<number, number>>();

  constructor(times: CountTimes) {
    this.times = times;
  }

  /** Whether each bucket is made of whole minutes. */
  get isOfMinutes(): boolean {
    return this.times.origin % minuteMs === 0 && this.times.bucketMs % minuteMs === 0;
  }

  /** Counts notifications that were received at `at`; times outside the counted range are ignored. */
  addAt(at: number, level: string): void {
    const { after, before, origin, bucketMs } = this.times;
    if (at >= after && at < before) this.add(Math.floor((at - origin) / bucketMs), level, 1);
  }

  add(bucket: number, level: string, count: number): void {
    let buckets = this.#counts.get(level);
    if (!buckets) {
      buckets = new Map();
      this.#counts.set(level, buckets);
    }
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + count);
  }

  addAll(counts: readonly LevelCount[]): void {
    for (const { bucket, level, count } of counts) this.add(bucket, level, count);
  }

  rows(): LevelCount[] {
    return [...this.#counts].flatMap(([level, buckets]) =>
      [...buckets].filter(([, count]) => count !== 0).map(([bucket, count]) => ({ bucket, level, count })),
    );
  }
}
