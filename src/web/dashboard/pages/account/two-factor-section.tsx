import { Button, Group } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { TwoFactorBegun } from '#contract/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { usePerson } from '#web/dashboard/api/session.ts';
import { Section } from '#web/dashboard/pieces/page.tsx';
import styles from './account.module.css';
import { BackupCodes } from './backup-codes.tsx';
import { ProvePassword } from './prove-password.tsx';
import { TwoFactorSetup } from './two-factor-setup.tsx';

type Asking = 'on' | 'off' | 'codes';

/** An authenticator app beside the password. */
export function TwoFactorSection() {
  const { t } = useTranslation('account');
  const person = usePerson();
  const client = useQueryClient();
  const [asking, setAsking] = useState<Asking>();
  const [begun, setBegun] = useState<TwoFactorBegun>();
  const [codes, setCodes] = useState<readonly string[]>();
  const told = () => client.invalidateQueries({ queryKey: ['session'] });
  const prove: Readonly<Record<Asking, (password: string) => Promise<unknown>>> = {
    on: async (password) =>
      setBegun(await personApi.post<TwoFactorBegun>('/api/account/two-factor', { password })),
    off: async (password) => {
      await personApi.delete('/api/account/two-factor', { password });
      setCodes(undefined);
      await told();
    },
    codes: async (password) => {
      const path = '/api/account/two-factor/backup-codes';
      setCodes((await personApi.post<{ backupCodes: string[] }>(path, { password })).backupCodes);
    },
  };
  const words = { on: t('turnOn'), off: t('turnOff'), codes: t('newBackupCodes') } as const;
  const finish = async () => {
    setBegun(undefined);
    await told();
  };
  return (
    <Section title={t('twoFactor')}>
      <p className={styles.hint}>{person.twoFactor ? t('twoFactorOn') : t('twoFactorOff')}</p>
      {begun ? (
        <TwoFactorSetup begun={begun} onDone={finish} onCancel={() => setBegun(undefined)} />
      ) : (
        <Group gap="xs">
          {person.twoFactor ? (
            <>
              <Button onClick={() => setAsking('codes')}>{t('newBackupCodes')}</Button>
              <Button color="error" onClick={() => setAsking('off')}>
                {t('turnOff')}
              </Button>
            </>
          ) : (
            <Button variant="filled" onClick={() => setAsking('on')}>
              {t('turnOn')}
            </Button>
          )}
        </Group>
      )}
      {codes && person.twoFactor && <BackupCodes codes={codes} />}
      {asking && (
        <ProvePassword
          {...(asking === 'off' && { title: t('turnOffTitle'), danger: true })}
          action={words[asking]}
          onProve={prove[asking]}
          onClose={() => setAsking(undefined)}
        />
      )}
    </Section>
  );
}
