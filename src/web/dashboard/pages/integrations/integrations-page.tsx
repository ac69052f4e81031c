import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import {
  FilterField,
  OpeningRow,
  RowButton,
  RowTable,
  useRowKeys,
} from '#web/dashboard/components/row-table.tsx';
import { FormatDrawer } from './format-drawer.tsx';
import { formats } from './formats.ts';
import styles from './integrations.module.css';
import { MappingList, newMapping } from './mapping-list.tsx';
import { useCreatedTokens } from './token-choice.tsx';

/** How other software sends to this server: with a format that Belfry knows, or by a mapping of the tenant's own. */
export function IntegrationsPage() {
  const { t } = useTranslation('integrations');
  const { id, tab = 'formats' } = useSearch({ from: '/signed-in/t/$tenant/settings/integrations' });
  const navigate = useNavigate({ from: '/t/$tenant/settings/integrations' });
  const { may } = useTenant();
  const created = useCreatedTokens();
  const open = (opened: string | undefined) =>
    void navigate({
      search: { ...(tab === 'mappings' && { tab }), ...(opened !== undefined && { id: opened }) },
      replace: opened === undefined,
    });
  const format = formats.find(({ name }) => name === id);
  return (
    <Page
      wide
      title={t('integrations')}
      about={t('about')}
      actions={
        tab === 'mappings' &&
        may('admin') && <CreateButton onClick={() => open(newMapping)}>{t('createMapping')}</CreateButton>
      }
    >
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) =>
          void navigate({ search: next === 'mappings' ? { tab: 'mappings' } : {}, replace: true })
        }
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="formats">{t('formats')}</Tabs.Tab>
          <Tabs.Tab value="mappings">{t('mappings')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="formats">
          <FormatList onOpen={open} />
        </Tabs.Panel>
        <Tabs.Panel value="mappings">
          <MappingList opened={id} created={created} onOpen={open} />
        </Tabs.Panel>
      </Tabs>
      {tab === 'formats' && format && (
        <FormatDrawer key={format.name} format={format} created={created} onClose={() => open(undefined)} />
      )}
    </Page>
  );
}

function FormatList({ onOpen }: { onOpen: (name: string) => void }) {
  const { t } = useTranslation('integrations');
  const [filter, setFilter] = useState('');
  const rows = useRowKeys<HTMLTableElement>();
  const wanted = filter.trim().toLowerCase();
  const shown = formats.filter(({ title, name }) => `${title} ${name}`.toLowerCase().includes(wanted));
  return (
    <>
      <div className={styles.tools}>
        <FilterField label={t('filter')} value={filter} onChange={setFilter} onEnterList={rows.enter} />
      </div>
      <RowTable
        rows={rows}
        caption={t('integrations')}
        isWaiting={false}
        nothing={shown.length === 0 && t('noneMatch')}
        hint={t('keys')}
        head={
          <>
            <th className={styles.software}>{t('software')}</th>
            <th className={styles.address}>{t('address')}</th>
          </>
        }
      >
        {shown.map(({ name, title, path, isSigned }) => (
          <OpeningRow key={name} onOpen={() => onOpen(name)}>
            <td>
              <RowButton onOpen={() => onOpen(name)}>
                <strong>{title}</strong>
              </RowButton>
            </td>
            <td className={`mono ${styles.address}`}>{isSigned ? `${path}/…` : path}</td>
          </OpeningRow>
        ))}
      </RowTable>
    </>
  );
}
