import { Button, Group, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { TwoFactorBegun } from '#contract/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { CopyField } from '#web/dashboard/pieces/fields/copy-field.tsx';
import { showToast } from '#web/dashboard/pieces/layers/toast.ts';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { QrCode } from '#web/dashboard/pieces/qr-code.tsx';
import styles from './account.module.css';
import { BackupCodes } from './backup-codes.tsx';

/** The key for the app, the codes for the day it is lost, and the proof that the app has the key. */
export function TwoFactorSetup({
  begun,
  onDone,
  onCancel,
}: {
  begun: TwoFactorBegun;
  onDone: () => Promise<void>;
  onCancel: () => void;
}) {
  const { t } = useTranslation('account');
  const { t: shell } = useTranslation('shell');
  const [code, setCode] = useState('');
  const verify = useMutation({
    mutationFn: () => personApi.post('/api/account/two-factor/verify', { code }),
    onSuccess: () => {
      showToast({ message: t('twoFactorDone') });
      return onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    verify.mutate();
  };
  return (
    <form className={styles.begin} onSubmit={submit}>
      <QrCode text={begun.totpUri} label={t('scanLabel')} size={184} />
      <div className={styles.fields}>
        <p className={styles.hint}>{t('scan')}</p>
        <CopyField text={new URL(begun.totpUri).searchParams.get('secret') ?? ''} label={t('secretKey')} />
        <BackupCodes codes={begun.backupCodes} />
        {verify.error && <ErrorNotice error={verify.error} title={t('codeFailed')} />}
        <TextInput
          label={t('enterCode')}
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="[0-9]{6}"
          maxLength={6}
          required
          value={code}
          onChange={({ currentTarget }) => setCode(currentTarget.value)}
        />
        <Group gap="xs">
          <Button onClick={onCancel}>{shell('cancel')}</Button>
          <Button type="submit" variant="filled" loading={verify.isPending}>
            {t('confirmCode')}
          </Button>
        </Group>
      </div>
    </form>
  );
}
