import bookmarkIcon from 'virtual:icon/bookmark';
import trashIcon from 'virtual:icon/trash';
import { ActionIcon, Button, Popover, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SavedSearch } from '#contract/history/search.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { searchesQuery, useListChange } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import styles from './saved-searches.module.css';

/** The tenant's saved searches: run one, save this one, delete one. */
export function SavedSearches({ q, onSearch }: { q: string; onSearch: (text: string) => void }) {
  const { t } = useTranslation('history');
  const tenant = useTenant();
  const [opened, setOpened] = useState(false);
  const { data: searches = [] } = useQuery({ ...searchesQuery(tenant), enabled: opened });
  const run = (search: SavedSearch) => {
    setOpened(false);
    onSearch(search.q);
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
                  <bdi className={styles.query}>{search.q}</bdi>
                </button>
                {tenant.may('member') && <Forget search={search} />}
              </li>
            ))}
          </ul>
        )}
        {tenant.may('member') && <Keep key={q} q={q} onKept={() => setOpened(false)} />}
      </Popover.Dropdown>
    </Popover>
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

function Keep({ q, onKept }: { q: string; onKept: () => void }) {
  const { t } = useTranslation('history');
  const [name, setName] = useState('');
  const keep = useListChange('searches', ({ api }, body: { name: string; q: string }) =>
    api.post('/api/searches', body),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') keep.mutate({ name: name.trim(), q }, { onSuccess: onKept });
  };
  if (q === '') return <p className={styles.none}>{t('nothingToSave')}</p>;
  return (
    <form className={styles.keep} onSubmit={submit}>
      <TextInput
        className={styles.name}
        label={t('saveThis')}
        description={<bdi className={styles.query}>{q}</bdi>}
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
