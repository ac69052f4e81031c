import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Histogram } from '#contract/history/overview.ts';
import { histogramQuery } from '#web/dashboard/api/history.ts';
import type { HistoryPages } from '#web/dashboard/api/history-pages.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import type { TimeSpan } from '#web/dashboard/charts/level-bars.tsx';
import { LevelChart } from '#web/dashboard/charts/level-chart.tsx';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import { readTimeRange } from '#web/dashboard/query/time-range.ts';
import styles from './history-bars.module.css';

/** The histogram of the results; dragging selects a time range. Its height stays the same while it loads. */
export function HistoryBars({
  histogram,
  isOld,
  asTable,
  onSelect,
}: {
  histogram: Histogram | undefined;
  isOld: boolean;
  asTable: boolean;
  onSelect: (span: TimeSpan) => void;
}) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  if (!histogram) return <div className={styles.bars} />;
  const { buckets, bucketMs, total, searchedTo } = histogram;
  const label = t('barsLabel', { count: total, number: formats.number(total) });
  return (
    <div className={styles.bars}>
      <LevelChart
        asTable={asTable}
        label={label}
        buckets={buckets}
        bucketMs={bucketMs}
        onSelect={onSelect}
        isOld={isOld}
      />
      {searchedTo !== null && (
        <p className={styles.partly}>{t('countedPartly', { time: formats.dateTime(searchedTo) })}</p>
      )}
    </div>
  );
}

const wideBuckets = 100;
const narrowBuckets = 50;
/** The least time between two counts, because counting is expensive for the server. */
const recountMs = 4_000;

/** The histogram of a search, counted again as new ones arrive; the previous one stays until then. */
export function useHistogram(
  q: string,
  pages: HistoryPages,
): { histogram: Histogram | undefined; isCounting: boolean } {
  const isNarrow = useMediaQuery('(max-width: 760px)', undefined, { getInitialValueInEffect: false });
  const { since, after } = readTimeRange(q);
  const allTime = since === undefined && after === undefined;
  const ask = { q, buckets: isNarrow ? narrowBuckets : wideBuckets, allTime };
  const { data, isPlaceholderData, refetch, error } = useQuery({
    ...histogramQuery(useTenant(), ask),
    // An invalid search is not counted.
    enabled: pages.isReady,
    staleTime: recountMs,
  });
  const newest = pages.newest;
  const counted = useRef({ newest, at: 0 });
  useEffect(() => {
    if (!pages.isReady || counted.current.newest === newest) return;
    const waitMs = Math.max(0, counted.current.at + recountMs - Date.now());
    const timer = setTimeout(() => {
      counted.current = { newest, at: Date.now() };
      void refetch();
    }, waitMs);
    return () => clearTimeout(timer);
  }, [pages, newest, refetch]);
  return { histogram: error ? undefined : data, isCounting: isPlaceholderData };
}
