import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { PasswordField } from '#web/dashboard/pieces/fields/password-field.tsx';
import { Dialog } from '#web/dashboard/pieces/layers/dialog.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';

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
