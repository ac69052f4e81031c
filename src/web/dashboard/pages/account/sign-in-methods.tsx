import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { limits } from '#contract/limits.ts';
import type { Passkey, TwoFactorBegun } from '#contract/people/account.ts';
import { addPasskey, passkeysQuery } from '#web/dashboard/api/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { usePerson } from '#web/dashboard/api/session.ts';
import { Confirm, Dialog, DialogForm } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice, showToast } from '#web/dashboard/components/notice.tsx';
import { Section } from '#web/dashboard/components/page.tsx';
import { QrCode } from '#web/dashboard/components/qr-code.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { useBrowserFormats } from '#web/dashboard/formats/use-formats.tsx';
import styles from './account.module.css';
import { PasswordDialog, type Reauthentication, useReauthentication } from './reauthentication.tsx';

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

/** Ways to sign in without a password. */
export function PasskeySection() {
  const { t } = useTranslation('account');
  const formats = useBrowserFormats();
  const { data: passkeys, error, refetch } = useQuery(passkeysQuery);
  const client = useQueryClient();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Passkey>();
  const { whenConfirmed, withConfirmation, error: unconfirmed, dialog } = useReauthentication();
  const remove = async ({ id }: Passkey) => {
    await withConfirmation(() => personApi.delete(`/api/account/passkeys/${encodeURIComponent(id)}`));
    await client.invalidateQueries(passkeysQuery);
  };
  const possible = isSecureContext && 'PublicKeyCredential' in globalThis;
  const isFull = passkeys !== undefined && passkeys.length >= limits.passkeysPerPerson;
  return (
    <Section title={t('passkeys')}>
      <p className={styles.hint}>{possible ? t('passkeysHint') : t('passkeysNeedHttps')}</p>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {unconfirmed && <ErrorNotice error={unconfirmed} />}
      {passkeys?.length === 0 && possible && <p className={styles.hint}>{t('noPasskeys')}</p>}
      <ul className={styles.list}>
        {passkeys?.map((passkey) => (
          <li key={passkey.id} className={styles.item}>
            <bdi>{passkey.name}</bdi>
            <span className="muted">{t('added', { when: formats.date(passkey.createdAt) })}</span>
            <Button
              size="xs"
              variant="subtle"
              color="error"
              aria-label={t('removeOf', { name: passkey.name })}
              onClick={() => whenConfirmed(() => setRemoving(passkey))}
            >
              {t('remove')}
            </Button>
          </li>
        ))}
      </ul>
      {isFull && <p className={styles.hint}>{t('passkeysFull', { most: limits.passkeysPerPerson })}</p>}
      {possible && !isFull && (
        <Group mt="sm">
          <Button onClick={() => whenConfirmed(() => setAdding(true))}>{t('addPasskey')}</Button>
        </Group>
      )}
      {adding && <AddDialog withConfirmation={withConfirmation} onClose={() => setAdding(false)} />}
      {removing && (
        <Confirm
          title={t('removePasskeyTitle', { name: removing.name })}
          action={t('remove')}
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(undefined)}
        >
          {t('removePasskeyText')}
        </Confirm>
      )}
      {dialog}
    </Section>
  );
}

function AddDialog({
  withConfirmation,
  onClose,
}: Pick<Reauthentication, 'withConfirmation'> & { onClose: () => void }) {
  const { t } = useTranslation('account');
  const client = useQueryClient();
  const [name, setName] = useState('');
  const add = useMutation({
    mutationFn: () => withConfirmation(() => addPasskey(name.trim())),
    onSuccess: async () => {
      await client.invalidateQueries(passkeysQuery);
      onClose();
    },
  });
  return (
    <Dialog onClose={onClose} title={t('addPasskey')}>
      <DialogForm
        action={t('addPasskey')}
        request={add}
        errorTitle={t('passkeyFailed')}
        onSubmit={() => add.mutate()}
        onClose={onClose}
      >
        <TextInput
          label={t('passkeyName')}
          placeholder={t('passkeyNameExample')}
          required
          maxLength={100}
          data-autofocus
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
      </DialogForm>
    </Dialog>
  );
}
