import { Button, Group, Stack } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { sessionQuery } from '#web/dashboard/api/session.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { CopyField } from '#web/dashboard/pieces/fields/copy-field.tsx';
import { Dialog } from '#web/dashboard/pieces/layers/dialog.tsx';
import { codeOf } from './pair-code.ts';
import { PairForm } from './pair-form.tsx';
import { PairedPanel } from './paired-panel.tsx';

/** Lets in the screen that shows a code, and stays until it has come. */
export function PairDialog({
  panels,
  code,
  onClose,
  onSetUp,
}: {
  panels: readonly Panel[];
  /** From a QR code; empty when one is to type it. */
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

/** For who scanned a code and may not approve it: a link for an admin, and the tenants in which they may. */
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
        <span>{t('askAdmin', { tenant, role: t(`role.${role}`, { ns: 'shell' }) })}</span>
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
