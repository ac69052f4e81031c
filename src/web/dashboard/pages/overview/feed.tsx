import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/notification.ts';
import type { HistoryPages } from '#web/dashboard/api/history-pages.ts';
import type { TailState } from '#web/dashboard/api/tail.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { NotificationGlance } from '#web/dashboard/notifications/notification-glance.tsx';
import type { OnRefine } from '#web/dashboard/notifications/refine-chip.tsx';
import styles from './overview-page.module.css';

const newest = 50;

/** The newest as they arrive; everything about one is in history. */
export function Feed({
  pages,
  tail,
  onOpen,
  onRefine,
}: {
  pages: HistoryPages;
  tail: TailState;
  onOpen: (notification: HistoryNotification) => void;
  onRefine: OnRefine;
}) {
  const { t } = useTranslation('overview');
  const { name } = useTenant();
  const [activeId, setActiveId] = useState<string>();
  return (
    <section className={styles.feed} aria-label={t('feed')}>
      <div className={styles.feedHead}>
        <h2>{t('feed')}</h2>
        <span className={styles.pulse} data-state={tail} aria-hidden="true" />
        <span>{tail !== 'off' && t(`tail.${tail}`)}</span>
        <Link to="/t/$tenant/history" params={{ tenant: name }} search={{ live: true }}>
          {t('toHistory')}
        </Link>
      </div>
      <div className={styles.grid}>
        <NotificationGlance
          label={t('feed')}
          pages={pages}
          most={newest}
          activeId={activeId}
          onOpen={onOpen}
          onMove={({ id }) => setActiveId(id)}
          onRefine={onRefine}
        />
      </div>
    </section>
  );
}
