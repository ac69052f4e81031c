import warnIcon from 'virtual:icon/alert-triangle';
import bellIcon from 'virtual:icon/bell';
import checkIcon from 'virtual:icon/circle-check';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/history/notification.ts';
import type { Overview } from '#contract/history/search.ts';
import type { Panel } from '#contract/panels/panel.ts';
import { curlWithJson } from '#web/dashboard/api/curl.ts';
import type { TailState } from '#web/dashboard/api/event-stream.ts';
import { useChanges, useHistoryPages, useLivePages } from '#web/dashboard/api/history.ts';
import type { HistoryPages } from '#web/dashboard/api/history-pages.ts';
import { livePanelsQuery, overviewQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import {
  LevelChart,
  TableToggle,
  type TimeSpan,
  totalOf,
  useStack,
} from '#web/dashboard/charts/level-chart.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { LevelMark, useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { EmptyState, ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { LinkButton, PageHeading } from '#web/dashboard/components/page.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { useFormats, useZonedTime } from '#web/dashboard/formats/use-formats.tsx';
import { LatestNotifications } from '#web/dashboard/notifications/latest-notifications.tsx';
import type { OnRefine } from '#web/dashboard/notifications/notification-row.tsx';
import { quoteValue, refine } from '#web/dashboard/query/query-words.ts';
import { spanRange, withTimeRange } from '#web/dashboard/query/time-range.ts';
import styles from './overview-page.module.css';

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
  const toAlarms = (search: { q: string }) =>
    void navigate({ to: '/t/$tenant/alarms', params: { tenant: tenant.name }, search });
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
          <StatusStrip overview={overview} onSearch={(q) => toAlarms({ q })} />
          <LastHour overview={overview} onSearch={(q) => toHistory({ q })} />
          <div className={styles.parts}>
            <LatestSection
              pages={pages}
              tail={tail}
              onOpen={({ id }) => toHistory({ id })}
              onRefine={(refinement) => toHistory({ q: refine('', refinement) })}
            />
            <div className={styles.side}>
              <OnCallNow overview={overview} />
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

/** The main numbers: live notifications, panels, received, refused. */
function StatusStrip({
  overview,
  onSearch,
}: {
  overview: Overview | undefined;
  onSearch: (q: string) => void;
}) {
  const { t } = useTranslation('overview');
  const formats = useFormats();
  const { data: panels } = useQuery(livePanelsQuery(useTenant()));
  const screens = panels?.filter((panel) => !isPhone(panel));
  const phones = panels?.filter(isPhone);
  const behind = screens?.filter(({ online, lag }) => online && lag > 0).length ?? 0;
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
              onClick={() => onSearch(`level:${quoteValue(level)}`)}
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
          {screens && t('online', onlineOf(screens))}
          {behind > 0 && <small>{t('behind', { count: behind })}</small>}
        </p>
        {phones && phones.length > 0 && (
          <small className={styles.unseen}>{t('phones', onlineOf(phones))}</small>
        )}
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
function LastHour({ overview, onSearch }: { overview: Overview | undefined; onSearch: (q: string) => void }) {
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

const isPhone = ({ kind }: Pick<Panel, 'kind'>) => kind === 'phone';

const onlineOf = (panels: readonly Panel[]) => ({
  online: panels.filter(({ online }) => online).length,
  total: panels.length,
});

/** A phone is often away, and one of Apple never connected: only one that must report is a problem. */
function isAway({ kind, online, lastSeenAt, display: { alertWhenLostMs } }: Panel): boolean {
  if (online || kind !== 'phone') return !online;
  return (
    alertWhenLostMs !== undefined &&
    lastSeenAt !== null &&
    Date.now() - Date.parse(lastSeenAt) > alertWhenLostMs
  );
}

const maxListed = 6;
/** A panel lags for a moment after each notification; that is normal. */
const lagLimit = 5;

/** Panels that are away or behind. */
function PanelProblems({ overview }: { overview: Overview | undefined }) {
  const { t } = useTranslation('overview');
  const tenant = useTenant();
  const formats = useFormats();
  const { data: panels, error, refetch } = useQuery(livePanelsQuery(tenant));
  const withProblem = (panels ?? [])
    .filter((panel) => isAway(panel) || (panel.online && panel.lag > lagLimit))
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
          <Icon paths={checkIcon} /> {t('panelsWell')}
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

/** Who is on call now and until when, and who is next; nothing without schedules. */
function OnCallNow({ overview }: { overview: Overview | undefined }) {
  const { t } = useTranslation('overview');
  const { name: tenant } = useTenant();
  const zonedTime = useZonedTime();
  if (!overview || overview.onCall.length === 0) return null;
  const named = (people: readonly string[]) => (people.length > 0 ? people.join(', ') : t('nobody'));
  return (
    <section className={styles.part}>
      <h2>{t('onCallNow')}</h2>
      <ul className={styles.list}>
        {overview.onCall.map(({ id, name, timeZone, now, next, calendarFailingSince }) => (
          <li key={id}>
            {(now.people.length === 0 || calendarFailingSince) && (
              <span className={styles.warn}>
                <Icon paths={warnIcon} size={15} />
              </span>
            )}
            <span className={styles.named}>
              <Link
                className={`${styles.plain} ${styles.grow}`}
                to="/t/$tenant/settings/on-call"
                params={{ tenant }}
                search={{ id }}
              >
                <bdi>{name}</bdi>: <bdi>{named(now.people)}</bdi>
              </Link>
              {now.until !== null && next && (
                <span className={styles.quiet}>
                  {t('onCallNext', { time: zonedTime(now.until, timeZone), people: named(next.people) })}
                </span>
              )}
              {calendarFailingSince && (
                <span className={styles.warn}>
                  {t('onCallUnreadable', { time: zonedTime(calendarFailingSince, timeZone) })}
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The hosts that sent most in 24 hours, with their highest level. */
function TopHosts({ overview, onSearch }: { overview: Overview | undefined; onSearch: (q: string) => void }) {
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
function Rejections({ overview }: { overview: Overview | undefined }) {
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
