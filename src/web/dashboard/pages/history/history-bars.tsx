import { useTranslation } from 'react-i18next';
import type { Histogram } from '#contract/overview.ts';
import type { TimeSpan } from '#web/dashboard/charts/level-bars.tsx';
import { LevelChart } from '#web/dashboard/charts/level-chart.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import styles from './history-bars.module.css';

/** What the search finds, over its time: a part of it is chosen by drawing over it. The place is kept while it is counted. */
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
