import overdueIcon from 'virtual:icon/alert-triangle';
import waitingIcon from 'virtual:icon/clock';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Expectation } from '#contract/history/expectation.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Facts, StateMark } from '#web/dashboard/components/facts.tsx';
import { DrawerFoot, SideDrawer } from '#web/dashboard/components/layers.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { DeleteButton } from '#web/dashboard/fields/edit-form.tsx';
import { Ago, useNow } from '#web/dashboard/formats/ago.tsx';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import { quoteValue } from '#web/dashboard/query/query-words.ts';
import styles from './expectations.module.css';

/** "in 5 min", or "overdue". */
export function ExpectationMark({ expectation: { state, overdueAt } }: { expectation: Expectation }) {
  const { t } = useTranslation('expectations');
  const formats = useFormats();
  const now = useNow();
  const isOverdue = state === 'overdue';
  const look = isOverdue
    ? ({ icon: overdueIcon, tone: 'doubtful' } as const)
    : ({ icon: waitingIcon, tone: 'quiet' } as const);
  return (
    <StateMark {...look} title={formats.dateTime(overdueAt)}>
      {isOverdue ? t('overdue') : t('due', { time: formats.relative(overdueAt, now) })}
    </StateMark>
  );
}

/** One expectation: what it waits for, what is sent when that does not come, and how to end it. */
export function ExpectationDrawer({
  expectation,
  onClose,
}: {
  expectation: Expectation;
  onClose: () => void;
}) {
  const { t } = useTranslation('expectations');
  const formats = useFormats();
  const tenant = useTenant();
  const { key, title, host, token, everyMs, level, lastAt, notificationId } = expectation;
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
            [t('every'), formats.duration(everyMs)],
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
