import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Passkey } from '#contract/account.ts';
import { addPasskey, passkeysQuery } from '#web/dashboard/api/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { Confirm } from '#web/dashboard/components/confirm.tsx';
import { useOwnFormats } from '#web/dashboard/components/formats.ts';
import { Dialog } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { Section } from '#web/dashboard/components/page.tsx';
import styles from './account.module.css';
import { type Proof, useProof } from './reauthentication.tsx';

/** Ways to sign in without a password. */
export function PasskeySection() {
  const { t } = useTranslation('account');
  const formats = useOwnFormats();
  const { data: passkeys, error, refetch } = useQuery(passkeysQuery);
  const client = useQueryClient();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Passkey>();
  const { whenProven, withProof, error: unproven, dialog } = useProof();
  const remove = async ({ id }: Passkey) => {
    await withProof(() => personApi.delete(`/api/account/passkeys/${encodeURIComponent(id)}`));
    await client.invalidateQueries(passkeysQuery);
  };
  const possible = isSecureContext && 'PublicKeyCredential' in globalThis;
  return (
    <Section title={t('passkeys')}>
      <p className={styles.hint}>{possible ? t('passkeysHint') : t('passkeysNeedHttps')}</p>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {unproven && <ErrorNotice error={unproven} />}
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
              onClick={() => whenProven(() => setRemoving(passkey))}
            >
              {t('remove')}
            </Button>
          </li>
        ))}
      </ul>
      {possible && (
        <Group mt="sm">
          <Button onClick={() => whenProven(() => setAdding(true))}>{t('addPasskey')}</Button>
        </Group>
      )}
      {adding && <AddDialog withProof={withProof} onClose={() => setAdding(false)} />}
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

function AddDialog({ withProof, onClose }: Pick<Proof, 'withProof'> & { onClose: () => void }) {
  const { t } = useTranslation('account');
  const { t: shell } = useTranslation('shell');
  const client = useQueryClient();
  const [name, setName] = useState('');
  const add = useMutation({
    mutationFn: () => withProof(() => addPasskey(name.trim())),
    onSuccess: async () => {
      await client.invalidateQueries(passkeysQuery);
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <Dialog onClose={onClose} title={t('addPasskey')}>
      <form onSubmit={submit}>
        <Stack gap="md">
          {add.error && <ErrorNotice error={add.error} title={t('passkeyFailed')} />}
          <TextInput
            label={t('passkeyName')}
            placeholder={t('passkeyNameExample')}
            required
            maxLength={100}
            data-autofocus
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button onClick={onClose}>{shell('cancel')}</Button>
            <Button type="submit" variant="filled" loading={add.isPending}>
              {t('addPasskey')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
