import checkIcon from 'virtual:icon/circle-check';
import { useTranslation } from 'react-i18next';
import type { Overview } from '#contract/overview.ts';
import { useLevels } from '#web/dashboard/api/levels.ts';
import { stackOf } from '#web/dashboard/charts/buckets.ts';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { LevelMark } from '#web/dashboard/pieces/level-mark.tsx';
import { quoteValue } from '#web/dashboard/query/refine.ts';
import styles from './overview-page.module.css';

/** The figures one looks at first: what is on panels, how many of these are there, what came, what was refused. */
export function StandingNow({
  overview,
  onSearch,
}: {
  overview: Overview | undefined;
  onSearch: (q: string) => void;
}) {
  const { t } = useTranslation('overview');
  const formats = useFormats();
  const levels = useLevels();
  const live = stackOf(overview?.live ?? {}, (name) => levels.get(name)?.rank ?? 20);
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
          {overview && <small>{t('since', { time: formats.dayTime(overview.countedSince) })}</small>}
        </p>
      </section>
    </div>
  );
}
