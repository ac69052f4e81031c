import comeIcon from 'virtual:icon/circle-check';
import waitingIcon from 'virtual:icon/hourglass';
import { Button, Group, Stack } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panels/panel.ts';
import { panelsQuery } from '#web/dashboard/api/queries.ts';
import { sessionQuery } from '#web/dashboard/api/session.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Dialog, NewContent } from '#web/dashboard/components/layers.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { codeOf } from './pair-code.ts';
import { PairForm } from './pair-form.tsx';
import styles from './pairing.module.css';

/** Approves a screen by its code, and stays open until the screen is online. */
export function PairDialog({
  panels,
  code,
  onClose,
  onSetUp,
}: {
  panels: readonly Panel[];
  /** From a QR code; empty: the person types it. */
  code: string;
  onClose: () => void;
  /** Opens the panel's settings. */
  onSetUp: (id: string) => void;
}) {
  const { t } = useTranslation('panels');
  const [paired, setPaired] = useState<Panel>();
  return (
    <Dialog onClose={onClose} title={t('approve')} size={460}>
      {paired ? (
        <PairedPanel panel={paired} onClose={onClose} onSetUp={() => onSetUp(paired.id)} />
      ) : (
        <PairForm panels={panels} code={code} onPaired={setPaired} onClose={onClose} />
      )}
    </Dialog>
  );
}

/** For a person who may not approve the scanned code: a link for an admin, and the tenants where they may. */
export function AskAdminDialog({ code: scanned, onClose }: { code: string; onClose: () => void }) {
  const { t } = useTranslation('panels');
  const navigate = useNavigate();
  const { name, title: tenant, role } = useTenant();
  const { data } = useSuspenseQuery(sessionQuery);
  const elsewhere = data.tenants.filter((each) => each.role === 'admin' || each.role === 'owner');
  const code = codeOf(scanned);
  return (
    <Dialog onClose={onClose} title={t('approve')} size={460}>
      <Stack gap="md">
        <span>{t('askAdmin', { tenant, role: t(`role.${role}`) })}</span>
        {code !== '' && (
          <>
            <span>{t('askAdminCode', { code })}</span>
            <CopyField text={`${location.origin}/t/${name}/panels?pair=${code}`} label={t('askAdminLink')} />
          </>
        )}
        {elsewhere.length > 0 && <span>{t('askElsewhere')}</span>}
        <Group gap="xs">
          {elsewhere.map((each) => (
            <Button
              key={each.name}
              onClick={() =>
                void navigate({
                  to: '/t/$tenant/panels',
                  params: { tenant: each.name },
                  search: { pair: code === '' ? 'new' : code },
                })
              }
            >
              {each.title}
            </Button>
          ))}
        </Group>
      </Stack>
    </Dialog>
  );
}

/** The screen asks every two seconds. */
const askEveryMs = 1_000;

function PairedPanel({
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
      <NewContent className={styles.paired ?? ''} role="status">
        <span className={isOnline ? styles.come : styles.waiting}>
          <Icon paths={isOnline ? comeIcon : waitingIcon} size={36} />
        </span>
        <strong>
          <bdi>{panel.name}</bdi>
        </strong>
        <span className="muted">{t(isOnline ? 'pairedOnline' : 'pairedWaiting')}</span>
      </NewContent>
      <Group justify="flex-end" gap="xs">
        <Button onClick={onSetUp}>{t('setUp')}</Button>
        <Button variant="filled" onClick={onClose}>
          {t('done')}
        </Button>
      </Group>
    </>
  );
}
