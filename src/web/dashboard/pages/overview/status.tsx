import checkIcon from 'virtual:icon/circle-check';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Overview } from '#contract/history/overview.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { type TimeSpan, totalOf, useStack } from '#web/dashboard/charts/level-bars.tsx';
import { LevelChart, TableToggle } from '#web/dashboard/charts/level-chart.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import { quoteValue } from '#web/dashboard/query/query-words.ts';
import { spanRange, withTimeRange } from '#web/dashboard/query/time-range.ts';
import styles from './overview-page.module.css';

/** The main numbers: live notifications, panels, received, refused. */
export function StatusStrip({
  overview,
  onSearch,
}: {
  overview: Overview | undefined;
  onSearch: (q: string) => void;
}) {
  const { t } = useTranslation('overview');
  const formats = useFormats();
  const live = useStack()(overview?.live ?? {});
  const refused = overview?.rejections.reduce((sum, { count }) => sum + count, 0) ?? 0;
  return (
    <div className={styles.strip}>
      <section className={styles.figure}>
        <h2>{t('onPanels')}</h2>
        <div className={styles.levels}>
          {live.map(({ level, count }) => (
            <button
              key={level}
              type="button"
              className={styles.level}
              onClick={() => onSearch(`is:live level:${quoteValue(level)}`)}
            >
              {formats.number(count)} <LevelMark name={level} />
            </button>
          ))}
          {overview && live.length === 0 && (
            <span className={styles.calm}>
              <Icon paths={checkIcon} size={18} /> {t('calm')}
            </span>
          )}
          {overview && live.length > 0 && overview.panels.online === 0 && (
            <small className={styles.unseen}>{t('noScreen')}</small>
          )}
        </div>
      </section>
      <section className={styles.figure}>
        <h2>{t('panels')}</h2>
        <p className={styles.number}>
          {overview && t('online', { online: overview.panels.online, total: overview.panels.total })}
          {overview && overview.panels.behind > 0 && (
            <small>{t('behind', { count: overview.panels.behind })}</small>
          )}
        </p>
      </section>
      <section className={styles.figure}>
        <h2>{t('received')}</h2>
        <p className={styles.number}>{overview && formats.number(overview.received24h)}</p>
      </section>
      <section className={styles.figure}>
        <h2>{t('refused')}</h2>
        <p className={styles.number}>
          {overview && formats.number(refused)}
          {overview && <small title={formats.dateTime(overview.countedSince)}>{t('since')}</small>}
        </p>
      </section>
    </div>
  );
}

const minuteMs = 60_000;

/** The last sixty minutes, a bar each; a selected part opens in history. */
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
          <span>
            {t('hourSums', { count: total, total: formats.number(total), most: formats.number(most) })}
          </span>
        )}
        <TableToggle asTable={asTable} onToggle={() => setAsTable((was) => !was)} />
      </div>
      <div className={styles.bars}>
        <LevelChart asTable={asTable} label={label} buckets={minutes} bucketMs={minuteMs} onSelect={select} />
      </div>
    </section>
  );
}
