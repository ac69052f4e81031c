import comeIcon from 'virtual:icon/circle-check';
import waitingIcon from 'virtual:icon/hourglass';
import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { panelsQuery } from '#web/dashboard/api/panels.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import styles from './pairing.module.css';

/** The screen asks every two seconds: this says when it has come. */
const askEveryMs = 1_000;

export function PairedPanel({
  panel,
  onClose,
  onSetUp,
}: {
  panel: Panel;
  onClose: () => void;
  onSetUp: () => void;
}) {
  const { t } = useTranslation('panels');
  const { data } = useQuery({ ...panelsQuery(useTenant()), refetchInterval: askEveryMs });
  const isOnline = data?.find(({ id }) => id === panel.id)?.online ?? false;
  return (
    <>
      <div className={styles.paired} role="status">
        <span className={isOnline ? styles.come : styles.waiting}>
          <Icon paths={isOnline ? comeIcon : waitingIcon} size={36} />
        </span>
        <strong>
          <bdi>{panel.name}</bdi>
        </strong>
        <span className="muted">{t(isOnline ? 'pairedOnline' : 'pairedWaiting')}</span>
      </div>
      <Group justify="flex-end" gap="xs">
        <Button onClick={onSetUp}>{t('setUp')}</Button>
        <Button variant="filled" onClick={onClose} data-autofocus>
          {t('done')}
        </Button>
      </Group>
    </>
  );
}
