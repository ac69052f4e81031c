import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Histogram } from '#contract/overview.ts';
import { histogramQuery } from '#web/dashboard/api/histogram.ts';
import type { HistoryPages } from '#web/dashboard/api/history-pages.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { readTimeRange } from '#web/dashboard/query/time-range.ts';

const wideBuckets = 100;
const narrowBuckets = 50;
/** Counting is work for the server: no more often than this while new ones come in. */
const againMs = 4_000;

/** The bars of a search, counted again as new ones come in; those of before stay until then. */
export function useHistogram(
  q: string,
  pages: HistoryPages,
): { histogram: Histogram | undefined; isCounting: boolean } {
  const isNarrow = useMediaQuery('(max-width: 760px)', undefined, { getInitialValueInEffect: false });
  const allTime = Object.keys(readTimeRange(q)).length === 0;
  const ask = { q, buckets: isNarrow ? narrowBuckets : wideBuckets, allTime };
  const { data, isPlaceholderData, refetch, error } = useQuery({
    ...histogramQuery(useTenant(), ask),
    // A search that cannot be read is not counted either.
    enabled: pages.isReady,
    staleTime: againMs,
  });
  const newest = pages.newest;
  const counted = useRef({ newest, at: 0 });
  useEffect(() => {
    if (!pages.isReady || counted.current.newest === newest) return;
    const waitMs = Math.max(0, counted.current.at + againMs - Date.now());
    const timer = setTimeout(() => {
      counted.current = { newest, at: Date.now() };
      void refetch();
    }, waitMs);
    return () => clearTimeout(timer);
  }, [pages, newest, refetch]);
  return { histogram: error ? undefined : data, isCounting: isPlaceholderData };
}
