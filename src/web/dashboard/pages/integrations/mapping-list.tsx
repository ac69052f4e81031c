import mappingIcon from 'virtual:icon/webhook';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Mapping } from '#contract/mapping.ts';
import { mappingsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useFormats } from '#web/dashboard/components/formats.ts';
import { EmptyState, ErrorNotice, Remark } from '#web/dashboard/components/notice.tsx';
import { OpeningRow, RowButton, RowTable, useRowKeys } from '#web/dashboard/components/row-table.tsx';
import styles from './integrations.module.css';
import { MappingDrawer } from './mapping-drawer.tsx';
import type { CreatedTokens } from './token-choice.tsx';

/** For `id`: a mapping that is not there yet. No mapping has this name. */
export const newMapping = 'New';

/** How this tenant reads payloads that no format describes. For admins alone. */
export function MappingList({
  opened,
  created,
  onOpen,
}: {
  opened: string | undefined;
  created: CreatedTokens;
  onOpen: (name: string | undefined) => void;
}) {
  const { t } = useTranslation('integrations');
  const tenant = useTenant();
  const mayEdit = tenant.may('admin');
  // A new mapping that is saved is opened by its name: its example is kept until the drawer closes.
  const [typed, setTyped] = useState<string>();
  const { data: mappings, error, refetch } = useQuery({ ...mappingsQuery(tenant), enabled: mayEdit });
  if (!mayEdit) return <Remark>{t('mayNotSee', { role: t(`role.${tenant.role}`) })}</Remark>;
  if (error && !mappings) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  const mapping = mappings?.find(({ name }) => name === opened);
  const isOpen = mapping !== undefined || (opened === newMapping && mappings !== undefined);
  if (!isOpen && typed !== undefined) setTyped(undefined);
  return (
    <>
      {mappings?.length === 0 ? (
        <EmptyState
          icon={mappingIcon}
          title={t('mappingsEmpty')}
          action={
            <Button variant="filled" onClick={() => onOpen(newMapping)}>
              {t('createMapping')}
            </Button>
          }
        >
          {t('mappingsEmptyText')}
        </EmptyState>
      ) : (
        <MappingTable mappings={mappings} onOpen={onOpen} />
      )}
      {isOpen && (
        <MappingDrawer
          key={mapping?.name ?? newMapping}
          mapping={mapping}
          taken={mappings?.map(({ name }) => name) ?? []}
          created={created}
          typed={typed}
          onTyped={setTyped}
          onSaved={(name) => onOpen(name)}
          onClose={() => onOpen(undefined)}
        />
      )}
    </>
  );
}

function MappingTable({
  mappings,
  onOpen,
}: {
  mappings: readonly Mapping[] | undefined;
  onOpen: (name: string) => void;
}) {
  const { t } = useTranslation('integrations');
  const formats = useFormats();
  const rows = useRowKeys<HTMLTableElement>();
  return (
    <RowTable
      rows={rows}
      caption={t('mappings')}
      isWaiting={!mappings}
      hint={t('mappingKeys')}
      head={
        <>
          <th className={styles.software}>{t('name')}</th>
          <th className={styles.address}>{t('address')}</th>
          <th className={styles.changed}>{t('changed')}</th>
        </>
      }
    >
      {mappings?.map(({ name, updatedAt, updatedBy }) => (
        <OpeningRow key={name} onOpen={() => onOpen(name)}>
          <td>
            <RowButton onOpen={() => onOpen(name)}>
              <strong>{name}</strong>
            </RowButton>
          </td>
          <td className={`mono ${styles.address}`}>{`/api/integrations/custom/${name}`}</td>
          <td className={styles.changed}>
            {formats.date(updatedAt)} <bdi className="muted">{updatedBy}</bdi>
          </td>
        </OpeningRow>
      ))}
    </RowTable>
  );
}
