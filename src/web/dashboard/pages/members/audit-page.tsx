import listIcon from 'virtual:icon/clipboard-list';
import { Autocomplete, Button, NativeSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditEntry } from '#contract/people/audit.ts';
import type { Token } from '#contract/people/token.ts';
import type { Rule } from '#contract/routing/rule.ts';
import { auditQuery, membersQuery } from '#web/dashboard/api/queries.ts';
import { rulesQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { EmptyState, ErrorNotice, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { Page } from '#web/dashboard/components/page.tsx';
import { WaitingRows } from '#web/dashboard/components/row-table.tsx';
import { actorFrom, actorText } from '#web/dashboard/formats/formats.ts';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import type { TextsName } from '#web/dashboard/language.ts';
import {
  ruleSentence,
  sentenceText,
  thenSentence,
  whenSentence,
  windowsText,
} from '#web/dashboard/rule-text/rule-sentence.ts';
import { useRuleWords } from '#web/dashboard/rule-text/rule-text.tsx';
import styles from './audit.module.css';
import {
  type AuditFact,
  type AuditWords,
  isCut,
  isInstant,
  isTyped,
  readDetail,
  type SubjectWords,
  subjectText,
  type TypedField,
} from './audit-detail.ts';

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

/** The words for audit entries, with the names of the tenant's panels, channels, rules and members. */

/** Of credentials, as in "deploy (0123456789)". */
const namesOf = (credentials: readonly string[]): string =>
  credentials.map((each) => each.replace(/ \([A-Za-z0-9]+\)$/, '')).join(', ');

interface WordsOfAudit extends AuditWords, SubjectWords {
  /** "Rule changed" */
  action(entry: AuditEntry): string;
}

type Limit = number | 'off' | null;

function useAuditWords(): WordsOfAudit {
  const { t, i18n } = useTranslation('audit');
  const formats = useFormats();
  const rules = useRuleWords();
  const nameOf = useNames();
  return useMemo(() => {
    // A newer server may name other fields, and do other things.
    const find = (texts: TextsName, key: string): string | undefined =>
      i18n.getResource(i18n.language, texts, key) ?? undefined;
    const field = (name: string) =>
      find('audit', `changed.${name}`) ??
      find('channels', `field.${name}`) ??
      find('shell', `field.${name}`) ??
      name;
    const values: Readonly<Record<TypedField, (value: never) => string>> = {
      when: (value: Rule['when']) => sentenceText(whenSentence(value, rules)),
      then: (value: Rule['then']) => sentenceText(thenSentence(value, rules)),
      windows: (value: Rule['windows']) => windowsText(value, undefined, rules) || '–',
      rate: (value: Token['rate']) =>
        typeof value === 'object' && value !== null ? rateText(value) : limitText(value),
      retentionDays: (value: Limit) => limitText(value),
      retentionCount: (value: Limit) => limitText(value),
      expiresAt: (value: string | null) => (value === null ? t('never') : formats.dateTime(value)),
      durationMs: (value: number) => (value === 0 ? t('untilCleared') : formats.duration(value)),
      role: (value: string) => find('shell', `role.${value}`) ?? value,
      kind: (value: string) => find('channels', `kind.${value}`) ?? value,
      minLevel: (value: string) => rules.level(value),
      secrets: (names: readonly string[]) => names.map(field).join(', ') || '–',
      revokedKeys: namesOf,
      revokedTokens: namesOf,
      invitedBy: actorText,
      order: (ids: readonly string[]) => ids.map((id) => nameOf(id) ?? t('deletedRule')).join(', '),
      panelId: (id: string) => nameOf(id) ?? t('deletedPanel'),
    };
    const rateText = (value: { perSecond: number; burst: number }) =>
      t('rate.value', { perSecond: formats.number(value.perSecond), burst: formats.number(value.burst) });
    const limitText = (value: Limit) =>
      value === null ? t('limit.server') : value === 'off' ? t('limit.off') : formats.number(value);
    return {
      nameOf,
      action({ action, detail }) {
        const isNew = action.endsWith('.put') && detail.before === null;
        const key = isNew ? action.replace(/put$/, 'create') : action;
        return find('audit', `done.${key}`) ?? action;
      },
      unnamed: (kind) => find('audit', `unnamed.${kind}`),
      field,
      rule: (detail) => sentenceText(ruleSentence(detail as unknown as Rule, rules)),
      value(name, value) {
        if (isTyped(name, value)) return values[name](value as never);
        if (isCut(name, value)) return t('tooLong');
        const word = typeof value === 'object' ? undefined : find('audit', `value.${name}.${value}`);
        if (word !== undefined) return word;
        if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
        if (typeof value === 'number')
          return name.endsWith('Ms') ? formats.duration(value) : formats.number(value);
        return isInstant(value) ? formats.dateTime(value) : undefined;
      },
    };
  }, [t, i18n, formats, rules, nameOf]);
}

function useNames(): (id: string) => string | undefined {
  const tenant = useTenant();
  const { panels, channels } = useRuleWords();
  const { data: rules } = useQuery(rulesQuery(tenant));
  const { data: members } = useQuery(membersQuery(tenant));
  return useMemo(() => {
    const people = members?.map(({ id, email }) => ({ id, name: email }));
    const named = [panels, channels, rules, people].flatMap((list) => list ?? []);
    const names = new Map(named.map(({ id, name }) => [id, name]));
    return (id) => names.get(id);
  }, [panels, channels, rules, members]);
}
