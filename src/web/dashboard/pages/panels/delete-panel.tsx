import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { panelPath, panelsKey } from '#web/dashboard/api/queries.ts';
import { rulesQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Confirm, Consequences } from '#web/dashboard/components/confirm.tsx';

/** Says what goes with the panel before it does. */
export function DeletePanel({ panel, onDeleted }: { panel: Panel; onDeleted: () => void }) {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const remove = async () => {
    await tenant.api.delete(panelPath(panel.id));
    client.setQueryData(panelsKey(tenant), (panels: readonly Panel[] | undefined) =>
      panels?.filter(({ id }) => id !== panel.id),
    );
    onDeleted();
  };
  return (
    <>
      <Button variant="subtle" color="error" onClick={() => setAsking(true)}>
        {t('delete')}
      </Button>
      {asking && (
        <Confirm
          title={t('deleteTitle', { name: panel.name })}
          action={t('deleteDo')}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        >
          <WhatFollows panel={panel} />
        </Confirm>
      )}
    </>
  );
}

function WhatFollows({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const { data: rules = [] } = useQuery(rulesQuery(tenant));
  const naming = rules.filter(
    ({ then: { panels } }) => typeof panels === 'object' && 'ids' in panels && panels.ids.includes(panel.id),
  );
  return (
    <Consequences>
      <li>{t(panel.online ? 'deleteStream' : 'deleteOffline')}</li>
      <li>{t('deleteToken')}</li>
      <li>{t('deleteHistory')}</li>
      {naming.length > 0 && (
        <li>
          {t('deleteRules', { count: naming.length })}{' '}
          {naming.map(({ id, name }, n) => (
            <span key={id}>
              {n > 0 && ', '}
              <strong>
                <bdi>{name}</bdi>
              </strong>
            </span>
          ))}
        </li>
      )}
    </Consequences>
  );
}
