import { queryOptions } from '@tanstack/react-query';
import type { Histogram } from '#contract/overview.ts';
import type { Api } from './call.ts';
import { isStatus } from './call.ts';
import type { Tenant } from './tenant.tsx';

export interface HistogramAsk {
  readonly q: string;
  /** At most so many. */
  readonly buckets: number;
  /** All there is, where the search names no time; otherwise the last 24 hours are counted then. */
  readonly allTime?: boolean;
}

/** How many a search finds, over time and by level. */
export const histogramQuery = (tenant: Tenant, ask: HistogramAsk) =>
  queryOptions({
    queryKey: [...tenant.key, 'histogram', ask],
    queryFn: ({ signal }) =>
      ask.allTime ? wholeExtent(tenant.api, ask, signal) : count(tenant.api, ask, undefined, signal),
    retry: (failures, error) => failures < 1 && isStatus(error, 0),
  });

const count = (api: Api, { q, buckets }: HistogramAsk, after: string | undefined, signal: AbortSignal) =>
  api.get<Histogram>('/api/history/histogram', { q: q || undefined, after, buckets }, signal);

/** Bars that begin where something is: each round asks about what is left after the empty beginning. */
async function wholeExtent(api: Api, ask: HistogramAsk, signal: AbortSignal): Promise<Histogram> {
  const all = await count(api, { ...ask, buckets: 200 }, new Date(0).toISOString(), signal);
  let histogram = all;
  for (let round = 0; round < 4; round++) {
    const first = firstFilled(histogram);
    if (first < 0 || (round > 0 && first < histogram.buckets.length / 2)) break;
    const bucket = histogram.buckets[first];
    const finer = await count(api, ask, bucket?.at, signal);
    if (finer.bucketMs >= histogram.bucketMs) break;
    histogram = finer;
  }
  const { total, searchedTo } = all;
  return {
    ...histogram,
    buckets: histogram.buckets.slice(emptyAtFirst(histogram)),
    total: Math.max(total, histogram.total),
    searchedTo: histogram.searchedTo ?? searchedTo,
  };
}

/** Fewer bars than these would be blocks. */
const fewest = 48;

/** How many of the bars before the first filled one are left out. */
const emptyAtFirst = (histogram: Histogram) =>
  Math.max(0, Math.min(firstFilled(histogram), histogram.buckets.length - fewest));

const firstFilled = ({ buckets }: Histogram) =>
  buckets.findIndex(({ counts }) => Object.values(counts).some((each) => each > 0));
