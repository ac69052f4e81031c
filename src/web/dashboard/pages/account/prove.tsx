import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ProofState } from '../../../../contract/account.ts';
import { proofQuery } from '../../api/account.ts';
import { personApi } from '../../api/call.ts';
import { assertPasskey } from '../../api/passkeys.ts';
import { beginAtProvider, useProviders } from '../../api/session.ts';
import { PasswordField } from '../../pieces/fields/password-field.tsx';
import { ErrorNotice } from '../../pieces/notice.tsx';

interface Waiting {
  readonly ways: ProofState;
  readonly then: () => void;
}

/**
 * For what the server does only for whoever has just proven who they are: `whenProven` goes on at once where that is so,
 * and after a proof where it is not. `dialog` is to be drawn.
 */
export function useProof(): {
  whenProven: (then: () => void) => void;
  error: Error | null;
  dialog: ReactNode;
} {
  const client = useQueryClient();
  const [waiting, setWaiting] = useState<Waiting>();
  const look = useMutation({
    mutationFn: async (then: () => void) => {
      const ways = await client.fetchQuery(proofQuery);
      if (ways.proven) then();
      else setWaiting({ ways, then });
    },
  });
  const close = () => setWaiting(undefined);
  const done = () => {
    close();
    waiting?.then();
  };
  return {
    whenProven: look.mutate,
    error: look.error,
    dialog: waiting && <ProveDialog ways={waiting.ways} onDone={done} onClose={close} />,
  };
}

function ProveDialog({
  ways,
  onDone,
  onClose,
}: {
  ways: ProofState;
  onDone: () => void;
  onClose: () => void;
}) {
  const { t } = useTranslation('account');
  const { t: shell } = useTranslation('shell');
  const [password, setPassword] = useState('');
  const prove = useMutation({
    mutationFn: async (way: 'password' | 'passkey') =>
      personApi.post(
        '/api/account/proof',
        way === 'password' ? { password } : { response: await assertPasskey() },
      ),
    onSuccess: onDone,
  });
  const hasPasskey = ways.passkey && 'PublicKeyCredential' in globalThis;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    prove.mutate('password');
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('proveYourself')}
      closeButtonProps={{ 'aria-label': shell('close') }}
    >
      <form onSubmit={submit}>
        <Stack gap="md">
          <p className="muted">{t('proveHint')}</p>
          {prove.error && <ErrorNotice error={prove.error} title={t('proveFailed')} />}
          {ways.password && (
            <PasswordField
              label={t('currentPassword')}
              autoComplete="current-password"
              required
              data-autofocus
              value={password}
              onChange={({ currentTarget }) => setPassword(currentTarget.value)}
            />
          )}
          {hasPasskey && (
            <Button loading={prove.isPending} onClick={() => prove.mutate('passkey')}>
              {t('proveByPasskey')}
            </Button>
          )}
          {ways.provider && <ProviderButtons />}
          {!(ways.password || hasPasskey || ways.provider) && <p>{t('proveByHand')}</p>}
          <Group justify="flex-end">
            <Button onClick={onClose}>{shell('cancel')}</Button>
            {ways.password && (
              <Button type="submit" variant="filled" loading={prove.isPending}>
                {t('goOn')}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** The way leads away and back: what was begun is begun again. */
function ProviderButtons() {
  const { t } = useTranslation('account');
  const providers = useProviders();
  const leave = useMutation({ mutationFn: (id: string) => beginAtProvider(id, '/account') });
  return (
    <>
      {leave.error && <ErrorNotice error={leave.error} title={t('proveFailed')} />}
      {providers.map(({ id, name }) => (
        <Button key={id} loading={leave.isPending} onClick={() => leave.mutate(id)}>
          {t('proveAtProvider', { name })}
        </Button>
      ))}
    </>
  );
}
