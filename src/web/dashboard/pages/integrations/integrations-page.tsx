import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { RowButton, RowTable } from '#web/dashboard/components/row-table.tsx';
import { useOpened } from '#web/dashboard/fields/opened.ts';
import { FormatDrawer } from './format-drawer.tsx';
import { formats } from './formats.ts';
import styles from './integrations.module.css';
import { MappingList, newMapping } from './mapping-list.tsx';
import { useCreatedTokens } from './token-choice.tsx';

/** How other software sends to this server: with a format that Belfry knows, or by a mapping of the tenant's own. */
export function IntegrationsPage() {
  const { t } = useTranslation('integrations');
  const { tab = 'formats' } = useSearch({ from: '/signed-in/t/$tenant/settings/integrations' });
  const [id, open] = useOpened();
  const navigate = useNavigate({ from: '/t/$tenant/settings/integrations' });
  const { may } = useTenant();
  const created = useCreatedTokens();
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
  return (
    <RowTable
      query={{ data: formats }}
      caption={t('integrations')}
      filter={{
        label: t('filter'),
        textsOf: ({ title, name }) => [title, name],
        noneMatch: t('noneMatch'),
      }}
      keyOf={({ name }) => name}
      onOpen={onOpen}
      columns={[
        [t('software'), ({ title }) => <RowButton name={title} />, styles.software],
        [
          t('address'),
          ({ path, isSigned }) => <span className="mono">{isSigned ? `${path}/…` : path}</span>,
          styles.address,
        ],
      ]}
    />
  );
}
