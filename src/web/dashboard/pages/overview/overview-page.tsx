import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useChanges, useHistoryPages } from '#web/dashboard/api/history.ts';
import { useLivePages } from '#web/dashboard/api/live-pages.ts';
import { overviewQuery } from '#web/dashboard/api/overview.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { PageHeading } from '#web/dashboard/pieces/page.tsx';
import { refine } from '#web/dashboard/query/refine.ts';
import { Feed } from './feed.tsx';
import { FirstUse } from './first-use.tsx';
import { LastHour } from './last-hour.tsx';
import styles from './overview-page.module.css';
import { PanelsNow } from './panels-now.tsx';
import { Refused } from './refused.tsx';
import { StandingNow } from './standing-now.tsx';
import { TopHosts } from './top-hosts.tsx';

/** How the tenant stands, now: what arrives, what is on panels, what is not as it should be. */
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
      <PageHeading title={t('title')} className="hidden" />
      {isUnused ? (
        <FirstUse />
      ) : (
        <div className={styles.page}>
          {error && !overview && (
            <div className={styles.error}>
              <ErrorNotice error={error} onRetry={() => void refetch()} />
            </div>
          )}
          <StandingNow overview={overview} onSearch={(q) => toHistory({ q })} />
          <LastHour overview={overview} onSearch={(q) => toHistory({ q })} />
          <div className={styles.parts}>
            <Feed
              pages={pages}
              tail={tail}
              onOpen={({ id }) => toHistory({ id })}
              onRefine={(refinement) => toHistory({ q: refine('', refinement) })}
            />
            <div className={styles.side}>
              <PanelsNow overview={overview} />
              <TopHosts overview={overview} onSearch={(q) => toHistory({ q })} />
              <Refused overview={overview} />
            </div>
          </div>
        </div>
      )}
    </>
  );
}
