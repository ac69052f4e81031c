import checkIcon from 'virtual:icon/circle-check';
import searchIcon from 'virtual:icon/search';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { AlarmsTab } from '#contract/history/alarm-states.ts';
import { lastEndedQuery } from '#web/dashboard/api/alarms.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { EmptyState } from '#web/dashboard/components/notice.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import styles from './alarms-page.module.css';

/** The list without alarms. */
export function NothingWrong({
  q,
  tab,
  onSearch,
}: {
  q: string;
  tab: AlarmsTab;
  onSearch: (text: string) => void;
}) {
  const { t } = useTranslation(['alarms', 'history']);
  if (q !== '')
    return (
      <EmptyState
        icon={searchIcon}
        title={t('noMatch')}
        action={<Button onClick={() => onSearch('')}>{t('clearSearch', { ns: 'history' })}</Button>}
      />
    );
  return (
    <EmptyState icon={checkIcon} title={t(`empty.${tab}`)}>
      {t(`emptyHint.${tab}`)}
      {(tab === 'open' || tab === 'active') && <LastEnded />}
    </EmptyState>
  );
}

/** What ended last, with the way to it in history. */
function LastEnded() {
  const { t } = useTranslation('alarms');
  const tenant = useTenant();
  const formats = useFormats();
  const { data: last } = useQuery(lastEndedQuery(tenant));
  if (!last) return null;
  return (
    <span className={styles.last}>
      {t('lastEnded', { ago: formats.relative(last.cleared?.at ?? last.receivedAt) })}{' '}
      <Link
        to="/t/$tenant/history"
        params={{ tenant: tenant.name }}
        search={{ q: 'is:cleared', id: last.id }}
      >
        <bdi>{last.title}</bdi>
      </Link>
    </span>
  );
}
