import emptyIcon from 'virtual:icon/clock';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Expectation } from '#contract/history/expectation.ts';
import { curlExpecting } from '#web/dashboard/api/curl.ts';
import { expectationsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { EmptyState } from '#web/dashboard/components/notice.tsx';
import { Page } from '#web/dashboard/components/page.tsx';
import { RowButton, RowTable } from '#web/dashboard/components/row-table.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { useOpened } from '#web/dashboard/fields/opened.ts';
import { Ago } from '#web/dashboard/formats/ago.tsx';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import { ExpectationDrawer, ExpectationMark } from './expectation-drawer.tsx';
import styles from './expectations.module.css';

/** What senders said will come again: what Belfry waits for, and what has not come. */
export function ExpectationsPage() {
  const { t } = useTranslation('expectations');
  const formats = useFormats();
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
          [t('every'), ({ everyMs }) => formats.duration(everyMs), styles.every],
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
