import { useTranslation } from 'react-i18next';
import type { Overview } from '#contract/overview.ts';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { LevelMark, useLevelLook } from '#web/dashboard/pieces/level-mark.tsx';
import { quoteValue } from '#web/dashboard/query/refine.ts';
import styles from './overview-page.module.css';

/** The hosts that sent most in 24 h, each with the highest of its levels. */
export function TopHosts({
  overview,
  onSearch,
}: {
  overview: Overview | undefined;
  onSearch: (q: string) => void;
}) {
  const { t } = useTranslation('overview');
  const formats = useFormats();
  const look = useLevelLook();
  const hosts = overview?.topHosts ?? [];
  const most = Math.max(1, ...hosts.map(({ count }) => count));
  return (
    <section className={styles.part}>
      <h2>{t('topHosts')}</h2>
      {overview && hosts.length === 0 && <p className={styles.quiet}>{t('noHosts')}</p>}
      <ol className={styles.list}>
        {hosts.map(({ host, count, level }) => (
          <li key={host}>
            <button
              type="button"
              className={styles.host}
              onClick={() => onSearch(`host:${quoteValue(host)} since:24h`)}
            >
              <LevelMark name={level} iconOnly />
              <bdi className={styles.grow}>{host}</bdi>
              <span>{formats.number(count)}</span>
              <span
                className={styles.hostBar}
                style={{ width: `${(count / most) * 100}%`, background: look(level).color }}
              />
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
