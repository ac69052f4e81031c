/** Asks the person to confirm their identity before a sensitive change. */
import { Button, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isCode } from '#client/call.ts';
import type { ProofState } from '#contract/people/account.ts';
import { assertPasskey, proofQuery } from '#web/dashboard/api/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { startAtProvider, useProviders } from '#web/dashboard/api/session.ts';
import { Dialog, DialogForm } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { PasswordField } from '#web/dashboard/fields/account-fields.tsx';
import type { Field } from '#web/dashboard/fields/form-values.ts';

interface Waiting {
  readonly methods: ProofState;
  readonly onDone: () => void;
  readonly onCancel?: () => void;
}

export interface Reauthentication {
  /** Runs `then` after the person confirms their identity; at once if they did so within the last minutes. */
  whenConfirmed: (then: () => void) => void;
  /** Runs `work`. If the server requires a confirmation, asks for it and runs `work` again. */
  withConfirmation: <T>(work: () => Promise<T>) => Promise<T>;
  error: Error | null;
  /** The caller must render it. */
  dialog: ReactNode;
}

/** For changes that the server only makes for a person who just confirmed their identity. */
export function useReauthentication(): Reauthentication {
  const { t } = useTranslation('account');
  const client = useQueryClient();
  const [waiting, setWaiting] = useState<Waiting>();
  const look = useMutation({
    mutationFn: async (then: () => void) => {
      const methods = await client.fetchQuery(proofQuery);
      if (methods.proven) then();
      else setWaiting({ methods, onDone: then });
    },
  });
  const withConfirmation = async <T,>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!isCode(error, 'proof.required')) throw error;
      const methods = await client.fetchQuery(proofQuery);
      await new Promise<void>((onDone, reject) => {
        const onCancel = () => reject(new Error(t('notProven'), { cause: error }));
        setWaiting({ methods, onDone, onCancel });
      });
      return work();
    }
  };
  const end = (next: (() => void) | undefined) => {
    setWaiting(undefined);
    next?.();
  };
  return {
    whenConfirmed: look.mutate,
    withConfirmation,
    error: look.error,
    dialog: waiting && (
      <ConfirmIdentity
        methods={waiting.methods}
        onDone={() => end(waiting.onDone)}
        onClose={() => end(waiting.onCancel)}
      />
    ),
  };
}

function ConfirmIdentity({
  methods,
  onDone,
  onClose,
}: {
  methods: ProofState;
  onDone: () => void;
  onClose: () => void;
}) {
  const { t } = useTranslation('account');
  const [password, setPassword] = useState('');
  const confirm = useMutation({
    mutationFn: async (method: 'password' | 'passkey') =>
      personApi.post(
        '/api/account/proof',
        method === 'password' ? { password } : { response: await assertPasskey() },
      ),
    onSuccess: onDone,
  });
  const hasPasskey = methods.passkey && 'PublicKeyCredential' in globalThis;
  return (
    <Dialog onClose={onClose} title={t('proveYourself')}>
      <DialogForm
        action={t('continue')}
        request={confirm}
        errorTitle={t('proveFailed')}
        errorTexts={{ '/password': t('passwordWrong') }}
        {...(methods.password && { onSubmit: () => confirm.mutate('password') })}
        onClose={onClose}
      >
        <p className="muted">{t('proveHint')}</p>
        {methods.password && <CurrentPassword value={password} onChange={setPassword} autofocus />}
        {hasPasskey && (
          <Button loading={confirm.isPending} onClick={() => confirm.mutate('passkey')}>
            {t('proveByPasskey')}
          </Button>
        )}
        {methods.provider && <ProviderButtons />}
        {!(methods.password || hasPasskey || methods.provider) && <p>{t('proveByHand')}</p>}
      </DialogForm>
    </Dialog>
  );
}

/** Leaves the page for the identity provider. After the return the person must start the change again. */
function ProviderButtons() {
  const { t } = useTranslation('account');
  const providers = useProviders();
  const leave = useMutation({ mutationFn: (id: string) => startAtProvider(id, '/account') });
  return (
    <Stack gap="xs">
      {leave.error && <ErrorNotice error={leave.error} title={t('proveFailed')} />}
      {providers.map(({ id, name }) => (
        <Button key={id} loading={leave.isPending} onClick={() => leave.mutate(id)}>
          {t('proveAtProvider', { name })}
        </Button>
      ))}
    </Stack>
  );
}

/** Asks for the password before a change that somebody else at an open screen must not make. */
export function PasswordDialog({
  title,
  action,
  isDangerous = false,
  onConfirm,
  onClose,
}: {
  title?: string;
  action: string;
  isDangerous?: boolean;
  /** Makes the change; its error is shown, and the person may try again. */
  onConfirm: (password: string) => Promise<unknown>;
  onClose: () => void;
}) {
  const { t } = useTranslation('account');
  const [password, setPassword] = useState('');
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  return (
    <Dialog onClose={onClose} title={title ?? t('proveTitle')}>
      <DialogForm
        action={action}
        isDangerous={isDangerous}
        request={confirm}
        errorTitle={t('proveFailed')}
        errorTexts={{ '/password': t('passwordWrong') }}
        onSubmit={() => confirm.mutate(password)}
        onClose={onClose}
      >
        <p className="muted">{t('proveHint')}</p>
        <CurrentPassword value={password} onChange={setPassword} autofocus />
      </DialogForm>
    </Dialog>
  );
}

export function CurrentPassword({
  value,
  onChange,
  autofocus = false,
}: Field<string> & { autofocus?: boolean }) {
  const { t } = useTranslation('account');
  return (
    <PasswordField
      label={t('currentPassword')}
      autoComplete="current-password"
      required
      data-autofocus={autofocus || undefined}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
