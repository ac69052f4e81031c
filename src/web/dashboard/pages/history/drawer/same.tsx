import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/notification.ts';
import { histogramQuery } from '#web/dashboard/api/histogram.ts';
import { useLevels } from '#web/dashboard/api/levels.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { stackOf, totalOf } from '#web/dashboard/charts/buckets.ts';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { quoteValue } from '#web/dashboard/query/refine.ts';
import styles from './notification-drawer.module.css';

/** Those that have a plural of their own. */
const builtIn = ['success', 'info', 'warning', 'error', 'critical'] as const;
/** A quarter of an hour each: that fine is the time of the first told. */
const buckets = 100;

/** What else there was of this host, and with this key, in 24 h: each a search. */
export function DrawerSame({
  notification: { host, ip, key },
  onSearch,
}: {
  notification: HistoryNotification;
  onSearch: (text: string) => void;
}) {
  const { t } = useTranslation('history');
  const origin =
    host !== null ? `host:${quoteValue(host)}` : ip !== null ? `ip:${quoteValue(ip)}` : undefined;
  return (
    <>
      {origin !== undefined && (
        <Counts title={t(host !== null ? 'sameHost' : 'sameIp')} term={origin} onSearch={onSearch} />
      )}
      {key !== null && <Counts title={t('sameKey')} term={`key:${quoteValue(key)}`} onSearch={onSearch} />}
    </>
  );
}

function Counts({
  title,
  term,
  onSearch,
}: {
  title: string;
  term: string;
  onSearch: (text: string) => void;
}) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const levels = useLevels();
  const q = `${term} since:24h`;
  const { data } = useQuery({
    ...histogramQuery(useTenant(), { q, buckets }),
    placeholderData: () => undefined,
    refetchInterval: 15_000,
  });
  const sums: Record<string, number> = {};
  for (const { counts } of data?.buckets ?? [])
    for (const [level, count] of Object.entries(counts)) sums[level] = (sums[level] ?? 0) + count;
  const counted = (level: string, count: number) => {
    const number = formats.number(count);
    const known = builtIn.find((each) => each === level);
    return known ? t(`counted.${known}`, { count, number }) : `${number} ${level}`;
  };
  const first = data?.buckets.find(({ counts }) => totalOf(counts) > 0);
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      <p className={styles.counts}>
        {stackOf(sums, (name) => levels.get(name)?.rank ?? 20).map(({ level, count }) => (
          <button
            key={level}
            type="button"
            className={styles.link}
            onClick={() => onSearch(`${q} level:${quoteValue(level)}`)}
          >
            {counted(level, count)}
          </button>
        ))}
        {data?.total === 0 && <span className={styles.quiet}>{t('noneIn24h')}</span>}
        {first && (
          <span className={styles.quiet}>{t('firstAround', { time: formats.dayTime(first.at) })}</span>
        )}
      </p>
    </section>
  );
}
