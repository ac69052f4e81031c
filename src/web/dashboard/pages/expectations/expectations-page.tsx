import overdueIcon from 'virtual:icon/alert-triangle';
import emptyIcon from 'virtual:icon/clock';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Expectation } from '#contract/history/notification.ts';
import { curlExpecting } from '#web/dashboard/api/curl.ts';
import { expectationsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Facts, StateMark } from '#web/dashboard/components/facts.tsx';
import { DrawerFoot, SideDrawer, useOpened } from '#web/dashboard/components/layers.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { EmptyState } from '#web/dashboard/components/notice.tsx';
import { Page } from '#web/dashboard/components/page.tsx';
import { RowButton, RowTable } from '#web/dashboard/components/row-table.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { DeleteButton } from '#web/dashboard/fields/edit-form.tsx';
import { Ago, useFormats, useNow } from '#web/dashboard/formats/use-formats.tsx';
import { quoteValue } from '#web/dashboard/query/query-words.ts';
import styles from './expectations.module.css';

/** What senders said will come again: what Belfry waits for, and what has not come. */
export function ExpectationsPage() {
  const { t } = useTranslation('expectations');
  const [id, open] = useOpened();
  const { data, error, refetch } = useQuery(expectationsQuery(useTenant()));
  // What is overdue first, then what is due next.
  const expectations = data?.toSorted(
    (a, b) => a.state.localeCompare(b.state) || a.overdueAt.localeCompare(b.overdueAt),
  );
  const opened = expectations?.find(({ key }) => key === id);
  return (
    <Page wide title={t('expectations')} about={t('about')}>
      <RowTable
        query={{ data: expectations, error, refetch }}
        empty={<NoExpectations />}
        caption={t('expectations')}
        filter={{
          label: t('filter'),
          textsOf: ({ key, title, host, token }) => [key, title, host, token.name],
          noneMatch: t('nothing'),
        }}
        keyOf={({ key }) => key}
        onOpen={open}
        columns={[
          [t('field.notification'), (each) => <ExpectationName expectation={each} />],
          [t('field.token'), ({ token }) => <bdi>{token.name}</bdi>, styles.token],
          [t('every'), (each) => <Interval expectation={each} />, styles.every],
          [t('last'), ({ lastAt }) => <Ago at={lastAt} />, styles.last],
          [t('state'), (each) => <ExpectationMark expectation={each} />, styles.state],
        ]}
      />
      {opened && <ExpectationDrawer key={opened.key} expectation={opened} onClose={() => open(undefined)} />}
    </Page>
  );
}

function NoExpectations() {
  const { t } = useTranslation('expectations');
  return (
    <>
      <EmptyState icon={emptyIcon} title={t('empty')}>
        {t('emptyText')}
      </EmptyState>
      <CopyField label={t('example')} text={curlExpecting(location.origin, 'TOKEN')} />
    </>
  );
}

function ExpectationName({ expectation: { title, key } }: { expectation: Expectation }) {
  return (
    <>
      <RowButton name={title} />
      <div className={`mono muted ${styles.key}`}>
        <bdi>{key}</bdi>
      </div>
    </>
  );
}

/** "1 day", or an expression of cron; nothing when only the end of what began is expected. */
function Interval({
  expectation: { everyMs, cron, timeZone },
  withZone = false,
}: {
  expectation: Expectation;
  withZone?: boolean;
}) {
  const formats = useFormats();
  if (everyMs !== null) return formats.duration(everyMs);
  if (cron === null) return null;
  return (
    <>
      <bdi className="mono">{cron}</bdi>
      {withZone && ` ${timeZone}`}
    </>
  );
}

/** "due in 5 min", "must end in 5 min" when work has begun, "overdue", or "did not end". */
function ExpectationMark({ expectation: { state, isRunning, overdueAt } }: { expectation: Expectation }) {
  const { t } = useTranslation('expectations');
  const formats = useFormats();
  const now = useNow();
  const isOverdue = state === 'overdue';
  const look = isOverdue
    ? ({ icon: overdueIcon, tone: 'doubtful' } as const)
    : ({ icon: emptyIcon, tone: 'quiet' } as const);
  return (
    <StateMark {...look} title={formats.dateTime(overdueAt)}>
      {isOverdue
        ? t(isRunning ? 'notEnded' : 'overdue')
        : t(isRunning ? 'running' : 'due', { time: formats.relative(overdueAt, now) })}
    </StateMark>
  );
}

/** One expectation: what it waits for, what is sent when that does not come, and how to end it. */
function ExpectationDrawer({ expectation, onClose }: { expectation: Expectation; onClose: () => void }) {
  const { t } = useTranslation('expectations');
  const formats = useFormats();
  const tenant = useTenant();
  const { key, title, host, token, graceMs, level, lastAt, notificationId } = expectation;
  return (
    <SideDrawer onClose={onClose} title={<bdi>{title}</bdi>}>
      <div className={styles.facts}>
        <Facts
          of={[
            [t('state'), <ExpectationMark key="state" expectation={expectation} />],
            [
              t('field.key'),
              <Link
                key="key"
                to="/t/$tenant/history"
                params={{ tenant: tenant.name }}
                search={{ q: `key:${quoteValue(key)}` }}
              >
                <bdi className="mono">{key}</bdi>
              </Link>,
            ],
            ...(host === null ? [] : [[t('field.host'), <bdi key="host">{host}</bdi>] as const]),
            [t('field.token'), <bdi key="token">{token.name}</bdi>],
            [t('every'), <Interval key="every" expectation={expectation} withZone />],
            [t('grace'), formats.duration(graceMs)],
            [t('last'), <Ago key="last" at={lastAt} />],
            [t('level'), <LevelMark key="level" name={level} />],
            ...(notificationId === null
              ? []
              : [
                  [
                    t('sent'),
                    <Link
                      key="sent"
                      to="/t/$tenant/history"
                      params={{ tenant: tenant.name }}
                      search={{ id: notificationId }}
                    >
                      {t('open')}
                    </Link>,
                  ] as const,
                ]),
          ]}
        />
      </div>
      {tenant.may('member') && (
        <DrawerFoot>
          <DeleteButton
            path={`/api/expectations?key=${encodeURIComponent(key)}`}
            list={['expectations']}
            label={t('end')}
            title={t('endTitle', { title })}
            action={t('endDo')}
            isGone={(row: Expectation) => row.key === key}
            onDeleted={onClose}
          >
            {t('endAbout')}
          </DeleteButton>
        </DrawerFoot>
      )}
    </SideDrawer>
  );
}
