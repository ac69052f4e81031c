import { Button, Group, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isCode } from '#client/api-error.ts';
import type { ProofState } from '#contract/account.ts';
import { assertPasskey, proofQuery } from '#web/dashboard/api/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { beginAtProvider, useProviders } from '#web/dashboard/api/session.ts';
import { PasswordField } from '#web/dashboard/components/account-fields.tsx';
import { Dialog } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';

interface Waiting {
  readonly ways: ProofState;
  readonly then: () => void;
  readonly otherwise?: () => void;
}

export interface Proof {
  /** Goes on at once for whoever has just proven who they are, and after a proof for anyone else. */
  whenProven: (then: () => void) => void;
  /** Does it; where the server wants a proof first, as one ran out meanwhile, asks for it and does it again. */
  withProof: <T>(work: () => Promise<T>) => Promise<T>;
  error: Error | null;
  dialog: ReactNode;
}

/** For what the server does only for whoever has just proven who they are. `dialog` is to be drawn. */
export function useProof(): Proof {
  const { t } = useTranslation('account');
  const client = useQueryClient();
  const [waiting, setWaiting] = useState<Waiting>();
  const look = useMutation({
    mutationFn: async (then: () => void) => {
      const ways = await client.fetchQuery(proofQuery);
      if (ways.proven) then();
      else setWaiting({ ways, then });
    },
  });
  const withProof = async <T,>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!isCode(error, 'proof.required')) throw error;
      const ways = await client.fetchQuery(proofQuery);
      await new Promise<void>((then, reject) => {
        setWaiting({ ways, then, otherwise: () => reject(new Error(t('notProven'), { cause: error })) });
      });
      return work();
    }
  };
  const end = (next: (() => void) | undefined) => {
    setWaiting(undefined);
    next?.();
  };
  return {
    whenProven: look.mutate,
    withProof,
    error: look.error,
    dialog: waiting && (
      <ProveDialog
        ways={waiting.ways}
        onDone={() => end(waiting.then)}
        onClose={() => end(waiting.otherwise)}
      />
    ),
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
    <Dialog onClose={onClose} title={t('proveYourself')}>
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
    </Dialog>
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

/** Asks for the password before something that a stranger at an open screen must not do. */
export function ProvePassword({
  title,
  action,
  danger = false,
  onProve,
  onClose,
}: {
  title?: string;
  action: string;
  danger?: boolean;
  /** Does it, with the password; what it throws is shown, and one may try again. */
  onProve: (password: string) => Promise<unknown>;
  onClose: () => void;
}) {
  const { t } = useTranslation('account');
  const { t: shell } = useTranslation('shell');
  const [password, setPassword] = useState('');
  const prove = useMutation({ mutationFn: onProve, onSuccess: onClose });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    prove.mutate(password);
  };
  return (
    <Dialog onClose={onClose} title={title ?? t('proveTitle')}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <p className="muted">{t('proveHint')}</p>
          {prove.error && <ErrorNotice error={prove.error} title={t('proveFailed')} />}
          <PasswordField
            label={t('currentPassword')}
            autoComplete="current-password"
            required
            data-autofocus
            value={password}
            onChange={({ currentTarget }) => setPassword(currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button onClick={onClose}>{shell('cancel')}</Button>
            <Button
              type="submit"
              variant="filled"
              {...(danger && { color: 'error' })}
              loading={prove.isPending}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
