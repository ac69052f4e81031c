import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { panelShowingQuery } from '#web/dashboard/api/panels.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { LevelMark } from '#web/dashboard/pieces/level-mark.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { Ago } from '#web/dashboard/pieces/time/ago.tsx';
import styles from './panel.module.css';

/** Everything the panel should be showing now, the most serious first. */
export function ShownList({ id }: { id: string }) {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const { data, error } = useQuery(panelShowingQuery(tenant, id));
  const count = data ? data.notifications.length + data.more : 0;
  return (
    <section className={styles.part} aria-labelledby="shown-now">
      <h3 id="shown-now">
        {t('shows')} {count > 0 && <span className="muted">{count}</span>}
      </h3>
      {error && !data && <ErrorNotice error={error} />}
      {data?.notifications.length === 0 && <p className="muted">{t('quietLong')}</p>}
      <ul className={styles.shown}>
        {data?.notifications.map((each) => (
          <li key={each.id}>
            <LevelMark name={each.level} iconOnly />
            <Link to="/t/$tenant/history" params={{ tenant: tenant.name }} search={{ id: each.id }}>
              <bdi>{each.title}</bdi>
            </Link>
            {each.host !== null && <bdi className={`${styles.host} mono muted`}>{each.host}</bdi>}
            <span className={`${styles.when} muted`}>
              <Ago at={each.receivedAt} />
            </span>
          </li>
        ))}
      </ul>
      {data !== undefined && data.more > 0 && <p className="muted">{t('andMore', { count: data.more })}</p>}
    </section>
  );
}
