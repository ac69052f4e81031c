import warnIcon from 'virtual:icon/alert-triangle';
import goodIcon from 'virtual:icon/circle-check';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Overview } from '#contract/history/overview.ts';
import type { Panel } from '#contract/panels/panel.ts';
import { livePanelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { LevelMark, useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import { quoteValue } from '#web/dashboard/query/query-words.ts';
import styles from './overview-page.module.css';

const maxListed = 6;
/** A panel lags for a moment after each notification; that is normal. */
const lagLimit = 5;

/** Panels that are offline or behind. */
export function PanelProblems({ overview }: { overview: Overview | undefined }) {
  const { t } = useTranslation('overview');
  const tenant = useTenant();
  const formats = useFormats();
  const { data: panels, error, refetch } = useQuery(livePanelsQuery(tenant));
  const withProblem = (panels ?? [])
    .filter(({ online, lag }) => !online || lag > lagLimit)
    .sort((a, b) => (b.lastSeenAt ?? '').localeCompare(a.lastSeenAt ?? ''));
  const why = ({ online, lastSeenAt, lag }: Panel) => {
    if (online) return t('lag', { count: lag });
    return lastSeenAt === null ? t('neverSeen') : t('offline', { ago: formats.relative(lastSeenAt) });
  };
  return (
    <section className={styles.part}>
      <h2>{t('panelsUnwell')}</h2>
      {error && !panels && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {overview?.panels.total === 0 && (
        <p className={styles.quiet}>
          {t('noPanels')}{' '}
          <Link to="/t/$tenant/panels" params={{ tenant: tenant.name }}>
            {t('addPanel')}
          </Link>
        </p>
      )}
      {panels && panels.length > 0 && withProblem.length === 0 && (
        <p className={styles.calm}>
          <Icon paths={goodIcon} /> {t('panelsWell')}
        </p>
      )}
      <ul className={styles.list}>
        {withProblem.slice(0, maxListed).map((panel) => (
          <li key={panel.id}>
            <span className={styles.warn}>
              <Icon paths={warnIcon} size={15} />
            </span>
            <span className={styles.named}>
              <Link
                className={`${styles.plain} ${styles.grow}`}
                to="/t/$tenant/panels"
                params={{ tenant: tenant.name }}
                search={{ id: panel.id }}
              >
                <bdi>{panel.name}</bdi>
              </Link>
              <span className={styles.quiet}>{why(panel)}</span>
            </span>
          </li>
        ))}
      </ul>
      {withProblem.length > maxListed && (
        <Link to="/t/$tenant/panels" params={{ tenant: tenant.name }}>
          {t('morePanels', { count: withProblem.length - maxListed })}
        </Link>
      )}
    </section>
  );
}

/** The hosts that sent most in 24 hours, with their highest level. */
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

/** Refused requests since the server started, by reason. */
export function Rejections({ overview }: { overview: Overview | undefined }) {
  const { t } = useTranslation('overview');
  const formats = useFormats();
  return (
    <section className={styles.part}>
      <h2>{t('refusedBy')}</h2>
      {overview?.rejections.length === 0 && <p className={styles.quiet}>{t('noneRefused')}</p>}
      <ul className={styles.list}>
        {overview?.rejections.map(({ reason, count }) => (
          <li key={reason}>
            <span className={styles.grow}>{t(`reason.${reason}`)}</span>
            <span>{formats.number(count)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
