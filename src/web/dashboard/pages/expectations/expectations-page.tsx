import emptyIcon from 'virtual:icon/clock';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Expectation } from '#contract/expectation.ts';
import { curlExpecting } from '#web/dashboard/api/curl.ts';
import { expectationsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Ago } from '#web/dashboard/components/ago.tsx';
import { CopyField } from '#web/dashboard/components/copy-field.tsx';
import { useFormats } from '#web/dashboard/components/formats.ts';
import { EmptyState, ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { Page } from '#web/dashboard/components/page.tsx';
import {
  FilterField,
  OpeningRow,
  RowButton,
  RowTable,
  useRowKeys,
} from '#web/dashboard/components/row-table.tsx';
import { ExpectationDrawer, ExpectationMark } from './expectation-drawer.tsx';
import styles from './expectations.module.css';

/** Thousands of rows would make the page slow. */
const mostRows = 200;

/** What senders said will come again: what Belfry waits for, and what has not come. */
export function ExpectationsPage() {
  const { t } = useTranslation('expectations');
  const tenant = useTenant();
  const { id } = useSearch({ from: '/signed-in/t/$tenant/settings/expectations' });
  const navigate = useNavigate({ from: '/t/$tenant/settings/expectations' });
  const { data: expectations, error, refetch } = useQuery(expectationsQuery(tenant));
  const open = (opened: string | undefined) =>
    void navigate({ search: opened === undefined ? {} : { id: opened }, replace: opened === undefined });
  const opened = expectations?.find(({ key }) => key === id);
  return (
    <Page wide title={t('expectations')} about={t('about')}>
      {error && !expectations && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {expectations?.length === 0 && (
        <>
          <EmptyState icon={emptyIcon} title={t('empty')}>
            {t('emptyText')}
          </EmptyState>
          <CopyField label={t('example')} text={curlExpecting(location.origin, 'TOKEN')} />
        </>
      )}
      {!error && expectations?.length !== 0 && <ExpectationList expectations={expectations} onOpen={open} />}
      {opened && <ExpectationDrawer key={opened.key} expectation={opened} onClose={() => open(undefined)} />}
    </Page>
  );
}

function ExpectationList({
  expectations,
  onOpen,
}: {
  expectations: readonly Expectation[] | undefined;
  onOpen: (key: string) => void;
}) {
  const { t } = useTranslation('expectations');
  const [filter, setFilter] = useState('');
  const rows = useRowKeys<HTMLTableElement>();
  const wanted = filter.trim().toLowerCase();
  const found = expectations
    ?.filter(({ key, title, host, token }) =>
      [key, title, host ?? '', token.name].some((text) => text.toLowerCase().includes(wanted)),
    )
    // What is overdue first, then what is due next.
    .sort((a, b) => a.state.localeCompare(b.state) || a.overdueAt.localeCompare(b.overdueAt));
  return (
    <>
      <div className={styles.tools}>
        <FilterField label={t('filter')} value={filter} onChange={setFilter} onEnterList={rows.enter} />
      </div>
      <RowTable
        rows={rows}
        caption={t('expectations')}
        isWaiting={!found}
        nothing={found?.length === 0 && t('nothing')}
        hint={t('keys')}
        head={
          <>
            <th>{t('field.notification')}</th>
            <th className={styles.token}>{t('field.token')}</th>
            <th className={styles.every}>{t('every')}</th>
            <th className={styles.last}>{t('last')}</th>
            <th className={styles.state}>{t('state')}</th>
          </>
        }
      >
        {found?.slice(0, mostRows).map((each) => (
          <ExpectationRow key={each.key} expectation={each} onOpen={() => onOpen(each.key)} />
        ))}
      </RowTable>
      {found && found.length > mostRows && (
        <p className="muted">{t('more', { count: found.length - mostRows })}</p>
      )}
    </>
  );
}

function ExpectationRow({ expectation, onOpen }: { expectation: Expectation; onOpen: () => void }) {
  const formats = useFormats();
  const { key, title, token, everyMs, lastAt } = expectation;
  return (
    <OpeningRow onOpen={onOpen}>
      <td>
        <RowButton onOpen={onOpen}>
          <strong>
            <bdi>{title}</bdi>
          </strong>
        </RowButton>
        <div className={`mono muted ${styles.key}`}>
          <bdi>{key}</bdi>
        </div>
      </td>
      <td className={styles.token}>
        <bdi>{token.name}</bdi>
      </td>
      <td className={styles.every}>{formats.duration(everyMs)}</td>
      <td className={styles.last}>
        <Ago at={lastAt} />
      </td>
      <td className={styles.state}>
        <ExpectationMark expectation={expectation} />
      </td>
    </OpeningRow>
  );
}
