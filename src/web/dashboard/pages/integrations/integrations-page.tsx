import mappingIcon from 'virtual:icon/webhook';
import { Button, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { mappingsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { type Open, useOpened } from '#web/dashboard/components/layers.tsx';
import { EmptyState, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { RowButton, RowTable } from '#web/dashboard/components/row-table.tsx';
import { actorText } from '#web/dashboard/formats/formats.ts';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { type CreatedTokens, FormatDrawer, useCreatedTokens } from './format-drawer.tsx';
import { formats } from './formats.ts';
import styles from './integrations.module.css';
import { MappingDrawer } from './mapping-drawer.tsx';

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

/** For `id`: a mapping that is not there yet. No mapping has this name. */
const newMapping = 'New';

/** How this tenant reads payloads that no format describes. For admins alone. */
function MappingList({
  opened,
  created,
  onOpen,
}: {
  opened: string | undefined;
  created: CreatedTokens;
  onOpen: Open;
}) {
  const { t } = useTranslation('integrations');
  const tenant = useTenant();
  const mayEdit = tenant.may('admin');
  // A new mapping that is saved is opened by its name: its example is kept until the drawer closes.
  const [typed, setTyped] = useState<string>();
  const query = useQuery({ ...mappingsQuery(tenant), enabled: mayEdit });
  const formats = useFormats();
  if (!mayEdit) return <RoleRemark what="mayNotSee" />;
  const { data: mappings } = query;
  const mapping = mappings?.find(({ name }) => name === opened);
  const isOpen = mapping !== undefined || (opened === newMapping && mappings !== undefined);
  if (!isOpen && typed !== undefined) setTyped(undefined);
  const createFirst = (
    <Button variant="filled" onClick={() => onOpen(newMapping)}>
      {t('createMapping')}
    </Button>
  );
  return (
    <>
      <RowTable
        query={query}
        empty={
          <EmptyState icon={mappingIcon} title={t('mappingsEmpty')} action={createFirst}>
            {t('mappingsEmptyText')}
          </EmptyState>
        }
        caption={t('mappings')}
        keys={[t('keys.create')]}
        keyOf={({ name }) => name}
        onOpen={onOpen}
        columns={[
          [t('name'), ({ name }) => <RowButton name={name} />, styles.software],
          [
            t('address'),
            ({ name }) => <span className="mono">{`/api/integrations/custom/${name}`}</span>,
            styles.address,
          ],
          [
            t('changed'),
            ({ updatedAt, updatedBy }) => (
              <>
                {formats.date(updatedAt)} <bdi className="muted">{actorText(updatedBy)}</bdi>
              </>
            ),
            styles.changed,
          ],
        ]}
      />
      {isOpen && (
        <MappingDrawer
          key={mapping?.name ?? newMapping}
          mapping={mapping}
          taken={mappings?.map(({ name }) => name) ?? []}
          created={created}
          typed={typed}
          onTyped={setTyped}
          onSaved={(name) => onOpen(name, true)}
          onClose={() => onOpen(undefined)}
        />
      )}
    </>
  );
}
