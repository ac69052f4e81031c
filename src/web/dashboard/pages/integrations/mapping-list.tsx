import mappingIcon from 'virtual:icon/webhook';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { mappingsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { EmptyState, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { RowButton, RowTable } from '#web/dashboard/components/row-table.tsx';
import type { Open } from '#web/dashboard/fields/opened.ts';
import { actorText } from '#web/dashboard/formats/actor.ts';
import { useFormats } from '#web/dashboard/formats/formats.ts';
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
