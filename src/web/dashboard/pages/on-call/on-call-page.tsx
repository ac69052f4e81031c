import emptyIcon from 'virtual:icon/bell';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { onCallQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { newItem, useOpened } from '#web/dashboard/components/layers.tsx';
import { EmptyState, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { RowButton, RowTable } from '#web/dashboard/components/row-table.tsx';
import { useZonedTime } from '#web/dashboard/formats/use-formats.tsx';
import styles from './on-call.module.css';
import { OnCallDrawer } from './on-call-drawer.tsx';

const refreshMs = 10_000;

/** Who takes care of alarms at which time. */
export function OnCallPage() {
  const { t } = useTranslation('onCall');
  const tenant = useTenant();
  const zonedTime = useZonedTime();
  const [id, open] = useOpened();
  const query = useQuery({ ...onCallQuery(tenant), refetchInterval: refreshMs });
  const mayEdit = tenant.may('admin');
  const schedule = query.data?.find((each) => each.id === id);
  const named = (people: readonly string[] | undefined) =>
    people === undefined ? '–' : people.length > 0 ? people.join(', ') : t('nobody');
  return (
    <Page
      wide
      title={t('onCall')}
      about={t('about')}
      actions={mayEdit && <CreateButton onClick={() => open(newItem)}>{t('create')}</CreateButton>}
    >
      {!mayEdit && <RoleRemark what="mayNot" />}
      <RowTable
        query={query}
        empty={
          <EmptyState
            icon={emptyIcon}
            title={t('empty')}
            action={
              mayEdit && (
                <Button variant="filled" onClick={() => open(newItem)}>
                  {t('create')}
                </Button>
              )
            }
          >
            {t('emptyText')}
          </EmptyState>
        }
        caption={t('onCall')}
        keys={[mayEdit && t('keys.create')]}
        keyOf={(each) => each.id}
        onOpen={open}
        columns={[
          [t('name'), ({ name }) => <RowButton name={name} />],
          [
            t('now'),
            ({ now, calendarState, timeZone }) => (
              <div className={styles.cell}>
                <bdi>{named(now.people)}</bdi>
                {calendarState?.failingSince && (
                  <div className={styles.problem}>
                    {t('unreadable', { time: zonedTime(calendarState.failingSince, timeZone) })}
                  </div>
                )}
              </div>
            ),
          ],
          [
            t('until'),
            ({ now, timeZone }) => (
              <div className={styles.cell}>
                {now.until === null ? t('open') : zonedTime(now.until, timeZone)}
              </div>
            ),
          ],
          [t('next'), ({ next }) => <bdi>{named(next?.people)}</bdi>],
        ]}
      />
      {schedule && <OnCallDrawer key={schedule.id} schedule={schedule} onClose={() => open(undefined)} />}
      {mayEdit && id === newItem && (
        <OnCallDrawer
          schedule={undefined}
          onCreated={(created) => open(created, true)}
          onClose={() => open(undefined)}
        />
      )}
    </Page>
  );
}
