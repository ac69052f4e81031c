import bellIcon from 'virtual:icon/bell';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/history/notification.ts';
import { curlWithJson } from '#web/dashboard/api/curl.ts';
import { useChanges, useHistoryPages, useLivePages } from '#web/dashboard/api/history.ts';
import type { HistoryPages } from '#web/dashboard/api/history-pages.ts';
import { overviewQuery } from '#web/dashboard/api/queries.ts';
import type { TailState } from '#web/dashboard/api/tail.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { EmptyState, ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { LinkButton, PageHeading } from '#web/dashboard/components/page.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { LatestNotifications } from '#web/dashboard/notifications/latest-notifications.tsx';
import type { OnRefine } from '#web/dashboard/notifications/notification-row.tsx';
import { refine } from '#web/dashboard/query/query-words.ts';
import styles from './overview-page.module.css';
import { PanelProblems, Rejections, TopHosts } from './side-lists.tsx';
import { LastHour, StatusStrip } from './status.tsx';

/** The current state of the tenant: new notifications, live notifications, panel problems. */
export function OverviewPage() {
  const { t } = useTranslation('overview');
  const tenant = useTenant();
  const navigate = useNavigate();
  const { data: overview, error, refetch } = useQuery(overviewQuery(tenant));
  const pages = useHistoryPages('');
  useChanges(pages);
  const tail = useLivePages(pages, '', true);
  const toHistory = (search: { q?: string; id?: string }) =>
    void navigate({ to: '/t/$tenant/history', params: { tenant: tenant.name }, search });
  const isUnused = pages.isReady && pages.count === 0 && pages.waiting === 0;
  return (
    <>
      <PageHeading title={t('overview')} className="hidden" />
      {isUnused ? (
        <GettingStarted />
      ) : (
        <div className={styles.page}>
          {error && !overview && (
            <div className={styles.error}>
              <ErrorNotice error={error} onRetry={() => void refetch()} />
            </div>
          )}
          <StatusStrip overview={overview} onSearch={(q) => toHistory({ q })} />
          <LastHour overview={overview} onSearch={(q) => toHistory({ q })} />
          <div className={styles.parts}>
            <LatestSection
              pages={pages}
              tail={tail}
              onOpen={({ id }) => toHistory({ id })}
              onRefine={(refinement) => toHistory({ q: refine('', refinement) })}
            />
            <div className={styles.side}>
              <PanelProblems overview={overview} />
              <TopHosts overview={overview} onSearch={(q) => toHistory({ q })} />
              <Rejections overview={overview} />
            </div>
          </div>
        </div>
      )}
    </>
  );
}

const newest = 50;

/** The newest notifications as they arrive. */
function LatestSection({
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
        <LatestNotifications
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

/** How to send the first notification; the overview replaces it when one arrives. */
function GettingStarted() {
  const { t } = useTranslation('overview');
  const { name, may } = useTenant();
  const example = { title: t('exampleTitle'), message: t('exampleMessage'), level: 'warning', host: 'db-01' };
  return (
    <div className={styles.frame}>
      <EmptyState
        icon={bellIcon}
        title={t('waiting')}
        action={
          may('admin') && (
            <div className={styles.ways}>
              <LinkButton to="/t/$tenant/settings/tokens" params={{ tenant: name }} variant="filled">
                {t('createToken')}
              </LinkButton>
              <LinkButton to="/t/$tenant/welcome" params={{ tenant: name }}>
                {t('stepByStep')}
              </LinkButton>
            </div>
          )
        }
      >
        {may('admin') ? t('waitingHint') : t('waitingHintViewer')}
      </EmptyState>
      <div className={styles.command}>
        <CopyField text={curlWithJson(location.origin, t('yourToken'), example)} label="curl" />
      </div>
    </div>
  );
}
