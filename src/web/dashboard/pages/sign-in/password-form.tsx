import { Button, Checkbox, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SignedIn, SignIn } from '#contract/session.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { PasswordField } from '#web/dashboard/pieces/fields/password-field.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import styles from './sign-in.module.css';

/** Asks for e-mail and password. */
export function PasswordForm({
  onDone,
  onTwoFactor,
}: {
  onDone: () => Promise<void>;
  onTwoFactor: () => void;
}) {
  const { t } = useTranslation('entry');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [remember, setRemember] = useState(false);
  const signIn = useMutation({
    mutationFn: (body: SignIn) => personApi.post<SignedIn>('/api/session', body),
    onSuccess: ({ twoFactor }) => (twoFactor ? onTwoFactor() : onDone()),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate({ email, password, remember });
  };
  return (
    <form onSubmit={submit} className={styles.form}>
      <Stack gap="md">
        {signIn.error && <ErrorNotice error={signIn.error} title={t('signInFailed')} />}
        <TextInput
          label={t('email')}
          type="email"
          name="email"
          autoComplete="username webauthn"
          required
          data-autofocus
          autoFocus
          value={email}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <PasswordField
          label={t('password')}
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        <Checkbox
          label={t('remember')}
          checked={remember}
          onChange={({ currentTarget }) => setRemember(currentTarget.checked)}
        />
        <Button type="submit" variant="filled" fullWidth loading={signIn.isPending}>
          {t('signIn')}
        </Button>
      </Stack>
    </form>
  );
}
