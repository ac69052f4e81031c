import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { TwoFactorBegun } from '#contract/people/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { usePerson } from '#web/dashboard/api/session.ts';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { Section } from '#web/dashboard/components/page.tsx';
import { QrCode } from '#web/dashboard/components/qr-code.tsx';
import { showToast } from '#web/dashboard/components/toast.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import styles from './account.module.css';
import { PasswordDialog } from './reauthentication.tsx';

type Step = 'on' | 'off' | 'codes';

/** Two-factor authentication: an authenticator app beside the password. */
export function TwoFactorSection() {
  const { t } = useTranslation('account');
  const person = usePerson();
  const client = useQueryClient();
  const [step, setStep] = useState<Step>();
  const [begun, setBegun] = useState<TwoFactorBegun>();
  const [codes, setCodes] = useState<readonly string[]>();
  const refresh = () => client.invalidateQueries({ queryKey: ['session'] });
  const change: Readonly<Record<Step, (password: string) => Promise<unknown>>> = {
    on: async (password) =>
      setBegun(await personApi.post<TwoFactorBegun>('/api/account/two-factor', { password })),
    off: async (password) => {
      await personApi.delete('/api/account/two-factor', { password });
      setCodes(undefined);
      await refresh();
    },
    codes: async (password) => {
      const path = '/api/account/two-factor/backup-codes';
      setCodes((await personApi.post<{ backupCodes: string[] }>(path, { password })).backupCodes);
    },
  };
  const words = { on: t('turnOn'), off: t('turnOff'), codes: t('newBackupCodes') } as const;
  const finish = async () => {
    setBegun(undefined);
    await refresh();
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
              <Button onClick={() => setStep('codes')}>{t('newBackupCodes')}</Button>
              <Button color="error" onClick={() => setStep('off')}>
                {t('turnOff')}
              </Button>
            </>
          ) : (
            <Button variant="filled" onClick={() => setStep('on')}>
              {t('turnOn')}
            </Button>
          )}
        </Group>
      )}
      {codes && person.twoFactor && <BackupCodes codes={codes} />}
      {step && (
        <PasswordDialog
          {...(step === 'off' && { title: t('turnOffTitle'), isDangerous: true })}
          action={words[step]}
          onConfirm={change[step]}
          onClose={() => setStep(undefined)}
        />
      )}
    </Section>
  );
}

/** The app's key, backup codes, and a first code of the app. */
function TwoFactorSetup({
  begun,
  onDone,
  onCancel,
}: {
  begun: TwoFactorBegun;
  onDone: () => Promise<void>;
  onCancel: () => void;
}) {
  const { t } = useTranslation('account');
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
        <CopyField text={new URL(begun.totpUri).searchParams.get('secret') ?? ''} label={t('field.key')} />
        <BackupCodes codes={begun.backupCodes} />
        {verify.error && (
          <ErrorNotice error={verify.error} title={t('codeFailed')} texts={{ '/code': t('codeWrong') }} />
        )}
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
          <Button onClick={onCancel}>{t('cancel')}</Button>
          <Button type="submit" variant="filled" loading={verify.isPending}>
            {t('confirmCode')}
          </Button>
        </Group>
      </div>
    </form>
  );
}

/** Shown only once. */
function BackupCodes({ codes }: { codes: readonly string[] }) {
  const { t } = useTranslation('account');
  return (
    <div className={styles.fields}>
      <p className={styles.hint}>{t('backupCodesHint')}</p>
      <CopyField text={codes.join('\n')} label={t('backupCodes')} />
    </div>
  );
}
