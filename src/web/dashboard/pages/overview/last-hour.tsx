import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Overview } from '#contract/overview.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { totalOf } from '#web/dashboard/charts/buckets.ts';
import type { TimeSpan } from '#web/dashboard/charts/level-bars.tsx';
import { LevelChart, TableToggle } from '#web/dashboard/charts/level-chart.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { spanRange, withTimeRange } from '#web/dashboard/query/time-range.ts';
import styles from './overview-page.module.css';

const minuteMs = 60_000;

/** The last sixty minutes, a bar each; a part of it opens in history. */
export function LastHour({
  overview,
  onSearch,
}: {
  overview: Overview | undefined;
  onSearch: (q: string) => void;
}) {
  const { t } = useTranslation('overview');
  const { timeZone } = useTenant();
  const formats = useFormats();
  const [asTable, setAsTable] = useState(false);
  const minutes = overview?.minutes ?? [];
  const total = minutes.reduce((sum, { counts }) => sum + totalOf(counts), 0);
  const most = Math.max(0, ...minutes.map(({ counts }) => totalOf(counts)));
  const select = ({ from, until }: TimeSpan) => onSearch(withTimeRange('', spanRange(from, until, timeZone)));
  const label = t('hourLabel', { total: formats.number(total), most: formats.number(most) });
  return (
    <section className={styles.hour}>
      <div className={styles.hourHead}>
        <h2>{t('hour')}</h2>
        {overview && (
          <span>{t('hourSums', { total: formats.number(total), most: formats.number(most) })}</span>
        )}
        <TableToggle asTable={asTable} onToggle={() => setAsTable((was) => !was)} />
      </div>
      <div className={styles.bars}>
        <LevelChart asTable={asTable} label={label} buckets={minutes} bucketMs={minuteMs} onSelect={select} />
      </div>
    </section>
  );
}
