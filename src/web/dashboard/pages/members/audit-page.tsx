import listIcon from 'virtual:icon/clipboard-list';
import { Button, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditEntry } from '#contract/audit.ts';
import { auditQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { actorFrom, actorText } from '#web/dashboard/components/actor.ts';
import { useFormats } from '#web/dashboard/components/formats.ts';
import { EmptyState, ErrorNotice, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { Page } from '#web/dashboard/components/page.tsx';
import styles from './audit.module.css';
import { type AuditWords, readDetail } from './audit-detail.ts';

/** Who changed what, the newest first. */
export function AuditPage() {
  const { t } = useTranslation('members');
  const { may } = useTenant();
  return (
    <Page title={t('audit')} about={t('auditAbout')} wide>
      {may('admin') ? <Entries /> : <RoleRemark what="mayNotSee" />}
    </Page>
  );
}

function Entries() {
  const { t } = useTranslation('members');
  const tenant = useTenant();
  const [by, setBy] = useState('');
  const [action, setAction] = useState('');
  // The same object while nothing changes: a new one on each render would be debounced without end.
  const typed = useMemo(() => ({ by: actorFrom(by.trim()), action: action.trim() }), [by, action]);
  const [filter] = useDebouncedValue(typed, 250);
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    auditQuery(tenant, filter),
  );
  const entries = data?.pages.flatMap((page) => page.entries);
  const isFiltered = filter.by !== '' || filter.action !== '';
  return (
    <>
      <div className={styles.filters}>
        <TextInput
          aria-label={t('by')}
          placeholder={t('by')}
          value={by}
          onChange={({ currentTarget }) => setBy(currentTarget.value)}
        />
        <TextInput
          aria-label={t('filterAction')}
          placeholder={t('filterAction')}
          value={action}
          onChange={({ currentTarget }) => setAction(currentTarget.value)}
        />
      </div>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {entries?.length === 0 &&
        (isFiltered ? (
          <EmptyState title={t('auditNoMatch')} />
        ) : (
          <EmptyState icon={listIcon} title={t('auditEmpty')}>
            {t('auditEmptyHint')}
          </EmptyState>
        ))}
      {entries !== undefined && entries.length > 0 && <EntryList entries={entries} />}
      {hasNextPage && (
        <div className={styles.more}>
          <Button loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t('more')}
          </Button>
        </div>
      )}
    </>
  );
}

function EntryList({ entries }: { entries: readonly AuditEntry[] }) {
  const { t } = useTranslation('members');
  return (
    <table className={`table ${styles.table}`}>
      <thead>
        <tr>
          {(['field.time', 'by', 'action', 'subject', 'detail'] as const).map((column) => (
            <th key={column} scope="col">
              {t(column)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <EntryRow key={entry.id} entry={entry} />
        ))}
      </tbody>
    </table>
  );
}

function EntryRow({ entry: { at, by, action, subject, detail } }: { entry: AuditEntry }) {
  const formats = useFormats();
  const { name, facts } = readDetail(detail, useAuditWords());
  return (
    <tr>
      <td className={styles.at}>
        <time dateTime={at} title={formats.relative(at)}>
          {formats.dayClock(at).replace(/[.,]\d{3}$/, '')}
        </time>
      </td>
      <td className={styles.by}>
        <bdi>{actorText(by)}</bdi>
      </td>
      <td className={styles.action}>{action}</td>
      <td className={styles.subject} title={subject}>
        <bdi className={name === undefined ? 'mono' : undefined}>{name ?? subject}</bdi>
      </td>
      <td className={styles.facts}>
        {facts.map((fact) => (
          <bdi key={fact}>{fact}</bdi>
        ))}
      </td>
    </tr>
  );
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

function useAuditWords(): AuditWords {
  const { t, i18n } = useTranslation('members');
  const formats = useFormats();
  return {
    // A newer server may name other fields.
    field: (name) =>
      i18n.exists(`changed.${name}`, { ns: 'members' }) ? t(`changed.${name}` as 'changed.title') : name,
    value(field, value) {
      if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
      if (typeof value === 'number')
        return field.endsWith('Ms') ? formats.duration(value) : formats.number(value);
      if (field === 'role') return t(`role.${value as 'viewer'}`);
      return instant.test(value) ? formats.dateTime(value) : value;
    },
  };
}
