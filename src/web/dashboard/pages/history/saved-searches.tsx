import bookmarkIcon from 'virtual:icon/bookmark';
import trashIcon from 'virtual:icon/trash';
import { ActionIcon, Button, Popover, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SavedSearch, SavedSearchPut } from '#contract/history/search.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { searchesQuery, useListChange } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import styles from './saved-searches.module.css';

type View = NonNullable<SavedSearch['alarms']>;

interface SavedSearchesProps {
  readonly q: string;
  /** Of the page Alarms: it is saved with the search. */
  readonly view?: View;
  /** Runs a search on this page. */
  readonly onSearch: (text: string) => void;
}

/** The tenant's saved searches: run one, save this one, delete one. One of the page Alarms opens there. */
export function SavedSearches({ q, view, onSearch }: SavedSearchesProps) {
  const { t } = useTranslation('history');
  const tenant = useTenant();
  const navigate = useNavigate();
  const [opened, setOpened] = useState(false);
  const { data: searches = [] } = useQuery({ ...searchesQuery(tenant), enabled: opened });
  const run = (search: SavedSearch) => {
    setOpened(false);
    if (!search.alarms) return onSearch(search.q);
    const { tab, group } = search.alarms;
    void navigate({
      to: '/t/$tenant/alarms',
      params: { tenant: tenant.name },
      search: {
        ...(search.q !== '' && { q: search.q }),
        ...(tab !== 'open' && { tab }),
        ...(group !== 'similar' && { group }),
      },
    });
  };
  return (
    <Popover opened={opened} onChange={setOpened} width={320} position="bottom-end" trapFocus>
      <Popover.Target>
        <Button
          className={styles.target}
          aria-label={t('savedSearches')}
          title={t('savedSearches')}
          onClick={() => setOpened((was) => !was)}
        >
          <Icon paths={bookmarkIcon} />
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={styles.dropdown} aria-label={t('savedSearches')}>
        {searches.length === 0 ? (
          <p className={styles.none}>{t('noSavedSearches')}</p>
        ) : (
          <ul className={styles.list}>
            {searches.map((search) => (
              <li key={search.id}>
                <button type="button" className={styles.run} onClick={() => run(search)}>
                  <bdi>{search.name}</bdi>
                  <Saved {...search} />
                </button>
                {tenant.may('member') && <Forget search={search} />}
              </li>
            ))}
          </ul>
        )}
        {tenant.may('member') && <Keep key={q} q={q} view={view} onKept={() => setOpened(false)} />}
      </Popover.Dropdown>
    </Popover>
  );
}

/** What is saved: the search, and of the page Alarms the tab and the grouping. */
function Saved({ q, alarms: view }: Pick<SavedSearch, 'q' | 'alarms'>) {
  const { t } = useTranslation('alarms');
  const group = view?.group ?? '';
  const groupName = group === 'similar' || group === 'host' || group === 'none' ? t(`group.${group}`) : group;
  return (
    <>
      {q !== '' && <bdi className={styles.query}>{q}</bdi>}
      {view && (
        <span className={styles.query}>{[t('alarms'), t(`tab.${view.tab}`), groupName].join(' · ')}</span>
      )}
    </>
  );
}

function Forget({ search }: { search: SavedSearch }) {
  const { t } = useTranslation('history');
  const forget = useListChange('searches', ({ api }) =>
    api.delete(`/api/searches/${encodeURIComponent(search.id)}`),
  );
  return (
    <ActionIcon
      onClick={() => forget.mutate(undefined)}
      loading={forget.isPending}
      aria-label={t('forgetSearch', { name: search.name })}
      title={t('forgetSearch', { name: search.name })}
    >
      <Icon paths={trashIcon} size={15} />
    </ActionIcon>
  );
}

function Keep({ q, view, onKept }: { q: string; view: View | undefined; onKept: () => void }) {
  const { t } = useTranslation('history');
  const [name, setName] = useState('');
  const saved = { q, ...(view && { alarms: view }) };
  const keep = useListChange('searches', ({ api }, body: SavedSearchPut) => api.post('/api/searches', body));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') keep.mutate({ name: name.trim(), ...saved }, { onSuccess: onKept });
  };
  // Without a search, the first look of the page Alarms, or all of history, is nothing to save.
  if (q === '' && (!view || (view.tab === 'open' && view.group === 'similar')))
    return <p className={styles.none}>{t('nothingToSave')}</p>;
  return (
    <form className={styles.keep} onSubmit={submit}>
      <TextInput
        className={styles.name}
        label={t('saveThis')}
        description={<Saved {...saved} />}
        placeholder={t('name')}
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={keep.error ? sentenceOf(keep.error) : undefined}
      />
      <Button type="submit" variant="filled" loading={keep.isPending} disabled={name.trim() === ''}>
        {t('save')}
      </Button>
    </form>
  );
}
