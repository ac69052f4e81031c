import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { limits } from '#contract/limits.ts';
import type { Passkey } from '#contract/people/account.ts';
import { addPasskey, passkeysQuery } from '#web/dashboard/api/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { Confirm, Dialog, DialogForm } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { Section } from '#web/dashboard/components/page.tsx';
import { useBrowserFormats } from '#web/dashboard/formats/formats.ts';
import styles from './account.module.css';
import { type Reauthentication, useReauthentication } from './reauthentication.tsx';

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
