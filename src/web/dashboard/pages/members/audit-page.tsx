import listIcon from 'virtual:icon/clipboard-list';
import { Autocomplete, Button, NativeSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditEntry } from '#contract/people/audit.ts';
import { auditQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { EmptyState, ErrorNotice, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { Page } from '#web/dashboard/components/page.tsx';
import { WaitingRows } from '#web/dashboard/components/row-table.tsx';
import { actorFrom, actorText } from '#web/dashboard/formats/actor.ts';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import styles from './audit.module.css';
import { type AuditFact, readDetail, subjectText } from './audit-detail.ts';
import { useAuditWords, type WordsOfAudit } from './audit-words.ts';

/** Who changed what, the newest first. */
export function AuditPage() {
  const { t } = useTranslation('audit');
  const { may } = useTenant();
  return (
    <Page title={t('audit')} about={t('about')} wide>
      {may('admin') ? <Entries /> : <RoleRemark what="mayNotSee" />}
    </Page>
  );
}

/** The first parts of actions, by which the server filters. */
const kinds = [
  'account',
  'channel',
  'invitation',
  'key',
  'level',
  'mapping',
  'member',
  'pairing',
  'panel',
  'push-device',
  'rule',
  'search',
  'session',
  'tenant',
  'token',
] as const;

function Entries() {
  const { t } = useTranslation('audit');
  const tenant = useTenant();
  const [by, setBy] = useState('');
  const [action, setAction] = useState('');
  // The same object while nothing changes: a new one on each render would be debounced without end.
  const typed = useMemo(() => ({ by: actorFrom(by.trim()), action }), [by, action]);
  const [filter] = useDebouncedValue(typed, 250);
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    auditQuery(tenant, filter),
  );
  const entries = data?.pages.flatMap((page) => page.entries);
  const isFiltered = filter.by !== '' || filter.action !== '';
  const choices = kinds.map((kind) => ({ value: kind as string, label: t(`kind.${kind}`) }));
  return (
    <>
      <div className={styles.filters}>
        <NativeSelect
          aria-label={t('filterKind')}
          value={action}
          onChange={({ currentTarget }) => setAction(currentTarget.value)}
          data={[
            { value: '', label: t('allKinds') },
            ...choices.sort((a, b) => a.label.localeCompare(b.label)),
          ]}
        />
        <Autocomplete
          aria-label={t('by')}
          placeholder={t('by')}
          value={by}
          onChange={setBy}
          data={[...new Set(entries?.map((entry) => actorText(entry.by)))]}
        />
      </div>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!entries && !error && <WaitingRows />}
      {entries?.length === 0 &&
        (isFiltered ? (
          <EmptyState title={t('noMatch')} />
        ) : (
          <EmptyState icon={listIcon} title={t('empty')}>
            {t('emptyHint')}
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
  const { t } = useTranslation('audit');
  const words = useAuditWords();
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
          <EntryRow key={entry.id} entry={entry} words={words} />
        ))}
      </tbody>
    </table>
  );
}

function EntryRow({ entry, words }: { entry: AuditEntry; words: WordsOfAudit }) {
  const formats = useFormats();
  const { at, by, action, subject, detail } = entry;
  const { name, facts } = readDetail(detail, words);
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
      <td className={styles.action} title={action}>
        {words.action(entry)}
      </td>
      <td className={styles.subject} title={subject}>
        <bdi>{subjectText(entry, name, words)}</bdi>
      </td>
      <td className={styles.facts}>
        {facts.map((fact) => (
          <Fact key={fact.label} fact={fact} />
        ))}
      </td>
    </tr>
  );
}

const Fact = ({ fact: { label, before, after } }: { fact: AuditFact }) => (
  <div>
    {label !== '' && <span>{label}: </span>}
    {before !== undefined && (
      <>
        <bdi>{before}</bdi> →{' '}
      </>
    )}
    <bdi className={styles.after}>{after}</bdi>
  </div>
);
